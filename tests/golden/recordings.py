"""Recorded files: which there are under a path, their records, and the companions that a record needs."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

GOLDEN = Path(__file__).resolve().parent
Record = dict[str, Any]
Made = TypeVar("Made")

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")


def plain_name(path: Path) -> str:
    """Return a file's name without ".gz"."""
    return path.name.removesuffix(".gz")


def files_under(path: Path) -> list[Path]:
    """Return the recorded files of a folder, or the file itself; sorted; a plain file wins over its .gz."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(path)
    found: dict[str, Path] = {}
    for each in sorted(path.rglob("*")):
        if each.is_file() and each.name.endswith(SUFFIXES):
            found.setdefault(str(each).removesuffix(".gz"), each)
    return [found[key] for key in sorted(found)]


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes, decompressed if need be."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


@lru_cache(maxsize=16)
def load(path: Path) -> list[Record]:
    """Return the records of a file: its lines, or the one document of a .json file. Do not change them."""
    text = read_bytes(path).decode()
    if plain_name(path).endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return [json.loads(text)]


def find(folder: Path, name: str) -> Path | None:
    """Return the file `name` (plain or .gz) of a folder."""
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


class Folder:
    """What the records of one file may look up: the file's neighbours, and things that they share.

    Companions (tables, shared objects, setup requests) are looked for beside the file, then above it, then among
    this project's own copies, so that a few records in a file of their own can be replayed.
    """

    def __init__(self, path: Path, records: list[Record] | None = None) -> None:
        self.path = path
        self.records = load(path) if records is None else records
        self._made: dict[str, Any] = {}

    def companion(self, name: str) -> Any:
        """Return the document of a .json file, or the list of records of a .jsonl file.

        Args:
            name: as in this project's copies, for example "l0/output_data.json".

        Raises:
            FileNotFoundError: if it is nowhere.
        """
        file_name = name.rpartition("/")[2]
        places = (
            self.path.parent,
            self.path.parent.parent,
            self.path.parent / "facts",
            (GOLDEN / name).parent,
        )
        for place in places:
            found = find(place, file_name)
            if found is not None:
                records = load(found)
                return records if file_name.endswith(".jsonl") else records[0]
        raise FileNotFoundError(name)

    def with_main(self, name: str) -> list[Record]:
        """Return this project's records of a topic ("l0/selectors.jsonl") and the file's own after them.

        A few records of a topic hold what the others refer to; they always are in the main file.
        """
        main = find((GOLDEN / name).parent, name.rpartition("/")[2])
        return [*(load(main) if main is not None else ()), *self.records]

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """Return what `make` made when `key` was first asked for: state that goes from record to record."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


def changed(record: Record, path: tuple[str | int, ...], value: Any) -> Record:
    """Return a record with one part replaced; `path` are the keys and positions on the way to it."""
    copied = copy.deepcopy(record)
    inner: Any = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copied


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the scalars of a JSON value with the way to each."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value
