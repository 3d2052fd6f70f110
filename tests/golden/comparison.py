"""What a topic declares, and what one comparison of a recorded answer with ours is."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.golden.recordings import Folder, Record

NOT_IMPLEMENTED = "not implemented"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recorded answer and ours.

    `loose` are the parts that the recording's README wants compared loosely. `unit` names the part of the record (a step, a command) where it has several. `apart` is not empty for what the
    recording's README sets apart: it is counted under "<topic> (<apart>)".
    """

    wanted: Any
    got: Any
    unit: str = ""
    apart: str = ""
    loose: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether the two agree."""
        return bool(self.wanted == self.got)

    def diff(self, name: str, lines_max: int = 60) -> str:
        """Return the difference as a unified diff of at most `lines_max` lines."""
        wanted, got = self.wanted, self.got
        if isinstance(got, str) and not isinstance(wanted, str):
            return f"{name}: {got}"
        if isinstance(wanted, dict) and isinstance(got, dict):
            parts = [key for key in {**wanted, **got} if wanted.get(key, _NOTHING) != got.get(key, _NOTHING)]
            wanted = {key: wanted[key] for key in parts if key in wanted}
            got = {key: got[key] for key in parts if key in got}
        lines = list(
            difflib.unified_diff(
                _lines(wanted), _lines(got), f"{name} (recorded)", f"{name} (ours)", lineterm="", n=1
            )
        )
        if len(lines) > lines_max:
            lines[lines_max:] = [f"… {len(lines) - lines_max} more lines"]
        return "\n".join(lines)


_NOTHING = object()


def _lines(value: Any, *, is_outer: bool = True) -> list[str]:
    """Spread a value over lines so that a diff shows its parts: texts as they are, the rest as JSON."""
    if isinstance(value, str):
        lines = value.split("\n")
        return lines[:-1] if not lines[-1] else [*lines[:-1], lines[-1] + "⏎"]
    if is_outer and isinstance(value, dict) and any(isinstance(item, str) for item in value.values()):
        return [line for key, item in value.items() for line in (f"[{key}]", *_lines(item, is_outer=False))]
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, default=str).splitlines()


Judgement = Comparison | Iterable[Comparison]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One kind of recording.

    `files` are patterns of the last parts of a path, without ".gz" ("describe.jsonl", "flows/*.json"). `answers` names
    the fields of a record that hold what was recorded; the others are what went in. `judge` compares one record;
    without it, nothing of the topic is simulated yet. `has_key` is for single-document files: the key that tells them.
    """

    name: str
    files: tuple[str, ...]
    answers: tuple[str, ...] = ()
    judge: Callable[[Record, Folder], Judgement] | None = None
    has_key: str = ""
    units: Callable[[Record], Iterable[str]] | None = None


def answers_of(topic: Topic, record: Record) -> Record:
    """Return the recorded part of a record."""
    return {field: record[field] for field in topic.answers if field in record}


def judged(topic: Topic, record: Record, folder: Folder) -> Iterator[Comparison]:
    """Compare one record; an exception of ours is a difference like others."""
    if topic.judge is None:
        units = topic.units(record) if topic.units is not None else ("",)
        for unit in units:
            yield Comparison(answers_of(topic, record), NOT_IMPLEMENTED, unit)
        return
    try:
        judgement = topic.judge(record, folder)
        yield from (judgement,) if isinstance(judgement, Comparison) else judgement
    except Exception as error:
        yield Comparison(answers_of(topic, record), f"raised {type(error).__name__}: {error}")


def record_name(record: Record, index: int) -> str:
    """Return what a record is called in reports."""
    return str(record.get("id") or record.get("name") or record.get("flow") or index)
