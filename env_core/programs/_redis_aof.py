"""Append-only files of Redis as they lie on disk: the manifest, the commands in them, and what is said of broken ones.

Source: redis 7.0 src/aof.c (aofLoadManifestFromFile, loadSingleAppendOnlyFile, loadAppendOnlyFiles); tests/golden/programs/redis
(redis.aof.*).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from env_core.programs import _redis_rdb


class Replayed(NamedTuple):
    """What loading append-only files brought."""

    told: tuple[str, ...] = ()
    """The messages that are logged, each with its mark; a message may have several lines."""
    has_failed: bool = False
    """Whether the last line tells why the server gives up."""


class _Problem(Exception):
    def __init__(self, *messages: str) -> None:
        super().__init__(*messages)
        self.messages = messages


class _Part(NamedTuple):
    name: str
    number: int
    kind: str


def load(files: Mapping[str, str], manifest: str, *, takes_truncated: bool, now_ms: int) -> Replayed:
    """Load what a manifest names; `files` are those of its directory, by name."""
    told: list[str] = []
    try:
        parts = _parts(manifest)
        for part in parts:
            if part.name not in files:
                raise _Problem(
                    f"# Unable to obtain the AOF file {part.name} length. stat: No such file or directory"
                )
        for part in parts:
            if part.kind == "b":
                told += _base(part.name, files[part.name], now_ms)
            elif files[part.name]:
                told += _commands(part.name, files[part.name], takes_truncated=takes_truncated)
                told.append(f"* DB loaded from incr file {part.name}: 0.001 seconds")
    except _Problem as problem:
        return Replayed((*told, *problem.messages), has_failed=True)
    told.append("* DB loaded from append only file: 0.001 seconds")
    last = [part.name for part in parts if part.kind == "i"]
    told += [f"* Opening AOF incr file {name} on server start" for name in last[-1:]]
    return Replayed(tuple(told))


def _parts(manifest: str) -> list[_Part]:
    found: list[_Part] = []
    lines = manifest.split("\n")[:-1] if manifest.endswith("\n") else manifest.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            continue
        words = line.split()
        pairs = dict(zip(words[::2], words[1::2], strict=False))
        if len(words) < 6 or len(words) % 2 or not pairs.get("seq", "").isdigit() or "file" not in pairs:
            raise _manifest_problem(number, line, "Invalid AOF manifest file format")
        if "/" in pairs["file"]:
            raise _manifest_problem(number, line, "File can't be a path, just a filename")
        if pairs.get("type") not in ("b", "i", "h"):
            raise _manifest_problem(number, line, "Unknown AOF file type")
        found.append(_Part(pairs["file"], int(pairs["seq"]), pairs["type"]))
    if not found:
        raise _manifest_problem(0, "", "Found an empty AOF manifest")
    return [part for part in found if part.kind != "h"]


def _manifest_problem(number: int, line: str, problem: str) -> _Problem:
    """Return the lines of a fatal error; each of its messages ends in a line end of its own."""
    title = "# \n*** FATAL AOF MANIFEST FILE ERROR ***\n"
    return _Problem(
        title, f"# Reading the manifest file, at line {number}\n", f"# >>> '{line}'\n", f"# {problem}\n"
    )


def _base(name: str, text: str, now_ms: int) -> list[str]:
    if not text:
        return []
    loaded = _redis_rdb.load(text, name, now_ms)
    if loaded.failed:
        raise _Problem(*loaded.told, *loaded.failed)
    return [
        "* Reading RDB base file on AOF loading...", *loaded.told,
        f"* Done loading RDB, keys loaded: {loaded.keys}, keys expired: 0.",
        f"* DB loaded from base file {name}: 0.001 seconds",
    ]  # fmt: skip


def _commands(name: str, text: str, *, takes_truncated: bool) -> list[str]:
    """Read the commands of a file; return what is logged of one that breaks off."""
    at = 0
    while at < len(text):
        try:
            after = _after_command(name, text, at)
        except EOFError:
            if takes_truncated:
                return [
                    f"# !!! Warning: short read while loading the AOF file {name}!!!",
                    f"# !!! Truncating the AOF {name} at offset {at} !!!",
                    f"# AOF {name} loaded anyway because aof-load-truncated is enabled",
                ]
            raise _Problem(
                f"# Unexpected end of file reading the append only file {name}. You can: 1) Make a backup of your AOF file,"
                " then use ./redis-check-aof --fix <filename.manifest>. 2) Alternatively you can set the 'aof-load-truncated'"
                " configuration option to yes and restart the server."
            ) from None
        at = after
    return []


def _after_command(name: str, text: str, at: int) -> int:
    """Return where a command ends.

    Raises:
        EOFError: the file ends first.
    """
    if text[at] != "*":
        raise _bad_format(name)
    line, at = _line(text, at)
    if not line[1:].isdigit() or int(line[1:]) < 1:
        raise _bad_format(name)
    for _ in range(int(line[1:])):
        head, at = _line(text, at)
        if not head.startswith("$") or not head[1:].isdigit():
            raise _bad_format(name)
        at += int(head[1:]) + 2
        if at > len(text):
            raise EOFError
    return at


def _line(text: str, at: int) -> tuple[str, int]:
    end = text.find("\n", at)
    if end == -1:
        raise EOFError
    return text[at:end].rstrip("\r"), end + 1


def _bad_format(name: str) -> _Problem:
    return _Problem(
        f"# Bad file format reading the append only file {name}: make a backup of your AOF file, then use"
        " ./redis-check-aof --fix <filename.manifest>"
    )
