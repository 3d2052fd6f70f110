"""`python -m tests.golden.mutations`: changes recorded answers here and there and asks whether the harness notices."""

from __future__ import annotations

import argparse
import copy
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.comparison import Topic
from tests.golden.recordings import GOLDEN, Folder, Record, changed, files_under, leaves, load
from tests.golden.replay import replay_records, topic_of

SEED = 20260115
DRAWN = frozenset(
    {
        "uid", "resourceVersion", "managedFields", "creationTimestamp", "lastTransitionTime", "lastUpdateTime",
        "lastScheduleTime", "startTime", "startedAt", "finishedAt", "firstTimestamp", "lastTimestamp", "eventTime",
        "clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "containerID", "imageID", "podIP", "podIPs",
        "hostIP", "hostIPs", "t", "at_ms", "end_ms", "token", "caBundle", "phase", "where",
    }
)  # fmt: skip
"""Keys whose values the READMEs let differ: what servers draw, measured times, and what the recorder notes beside an answer."""

_WORD = re.compile(r"[A-Za-z]{4,}")
WHOLE = ("l2/facts/errors", "l2/facts/errors_extra", "l2/defaults")
"""Topics whose records only make sense one after the other."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of one recorded answer."""

    topic: str
    record: str
    where: str
    was_noticed: bool


def _changed_value(value: Any, chance: random.Random) -> Any:
    """Return a scalar with one thing changed; None when there is nothing that must be compared."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        words = list(_WORD.finditer(value))
        if not words:
            return None
        word = chance.choice(words)
        at = chance.randrange(word.start(), word.end())
        return value[:at] + ("q" if value[at] != "q" else "z") + value[at + 1 :]
    return None


def _places(topic: Topic, record: Record) -> list[tuple[str | int, ...]]:
    return [
        (field, *path)
        for field in topic.answers
        if field in record
        for path, value in leaves(record[field])
        if not DRAWN.intersection(map(str, path)) and field not in DRAWN and value is not None
    ]


def _containers(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield the ways to what a list or an object holds: rows and fields that can be taken away."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inner:
        if step not in DRAWN and item not in (None, "", [], {}):
            yield (*path, step)
            yield from _containers(item, (*path, step))


def _without(record: Record, path: tuple[str | int, ...]) -> Record:
    copied = copy.deepcopy(record)
    inner: Any = copied
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return copied


def _without_line(text: str, chance: random.Random) -> str | None:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return None
    del lines[chance.randrange(len(lines))]
    return "".join(lines)


def mutate(topic: Topic, record: Record, chance: random.Random) -> tuple[Record, str] | None:
    """Return a record with one answer changed, and where: a character, count or flag, a row, a field, or a line."""
    how = chance.choice(("value", "value", "row", "line"))
    if how == "row":
        ways = [
            way for field in topic.answers if field in record for way in _containers(record[field], (field,))
        ]
        if ways:
            way = chance.choice(ways)
            return _without(record, way), "without " + ".".join(map(str, way))
    places = _places(topic, record)
    for _ in range(20):
        if not places:
            return None
        path = chance.choice(places)
        value: Any = record
        for step in path:
            value = value[step]
        other = _without_line(value, chance) if how == "line" and isinstance(value, str) else None
        other = _changed_value(value, chance) if other is None else other
        if other is not None and other != value:
            return changed(record, path, other), ".".join(map(str, path))
    return None


def _equal_units(topic: Topic, path: Path, records: list[Record]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for name, comparison in replay_records(topic, Folder(path, records)):
        found[name] = found.get(name, True) and comparison.is_equal and not comparison.loose
    return found


def _lines(path: Path, topic: Topic, count: int, chance: random.Random) -> Iterator[Mutation]:
    """Change some records of a file of lines."""
    records = load(path)
    before = _equal_units(topic, path, records) if topic.name in WHOLE else None
    chosen: dict[int, tuple[Record, str]] = {}
    order = list(range(len(records)))
    chance.shuffle(order)
    for index in order:
        if len(chosen) >= count:
            break
        name = _name(records[index], index)
        is_equal = before.get(name, False) if before is not None else _agrees(topic, path, records[index])
        made = mutate(topic, records[index], chance) if is_equal else None
        if made is not None:
            chosen[index] = made
    if before is not None:
        mixed = [chosen[index][0] if index in chosen else record for index, record in enumerate(records)]
        after = _equal_units(topic, path, mixed)
        for index, (record, where) in sorted(chosen.items()):
            name = _name(record, index)
            yield Mutation(topic.name, name, where, not after.get(name, False))
        return
    for index, (record, where) in sorted(chosen.items()):
        yield Mutation(topic.name, _name(record, index), where, not _agrees(topic, path, record))


def _name(record: Record, index: int) -> str:
    return str(record.get("id") or record.get("name") or record.get("flow") or index)


def _agrees(topic: Topic, path: Path, record: Record) -> bool:
    found = _equal_units(topic, path, [record])
    return bool(found) and all(found.values())


def _parts(path: Path, topic: Topic, part: str, count: int, chance: random.Random) -> Iterator[Mutation]:
    """Change some parts (commands, steps) of a recording that is one document."""
    record = load(path)[0]
    before = _equal_units(topic, path, [record])
    rows = [dict(row) for row in record[part]]
    chosen: dict[str, str] = {}
    order = list(range(len(rows)))
    chance.shuffle(order)
    for index in order:
        unit = _unit(record, rows[index], part)
        texts = [key for key in ("stdout", "stderr") if _WORD.search(rows[index].get(key) or "")]
        if len(chosen) >= count or not before.get(unit) or not texts:
            continue
        key = chance.choice(texts)
        text = rows[index][key]
        cut = _without_line(text, chance) if chance.random() < 0.3 else None
        rows[index] = {**rows[index], key: cut if cut is not None else _changed_value(text, chance)}
        chosen[unit] = key
    after = _equal_units(topic, path, [{**record, part: rows}])
    for unit, where in chosen.items():
        yield Mutation(topic.name, unit, where, not after.get(unit, False))


def _unit(record: Record, row: Record, part: str) -> str:
    return (
        f"{record['id']}/step {row['n']}"
        if part == "steps"
        else f"{record['id']}/{row['id'].rpartition('/')[2]}"
    )


def mutations(
    per_file: int, *, documents: int = 3, lines_only: tuple[str, ...] = (), seed: int = SEED
) -> list[Mutation]:
    """Change `per_file` answers in each file of lines, and as many in each of the first documents of flows and states."""
    chance = random.Random(seed)
    found: list[Mutation] = []
    seen: dict[str, int] = {}
    for path in files_under(GOLDEN):
        topic = topic_of(path)
        if topic is None or topic.judge is None or topic.name in lines_only:
            continue
        part = topic.has_key
        if part:
            seen[topic.name] = seen.get(topic.name, 0) + 1
            if seen[topic.name] <= documents:
                found += _parts(path, topic, part, per_file, chance)
        elif topic.answers:
            found += _lines(path, topic, per_file, chance)
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the changes that nobody noticed; the exit code is 1 below 99 %."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.mutations", description=__doc__)
    parser.add_argument("--per-file", type=int, default=10, metavar="N")
    parser.add_argument("--documents", type=int, default=12, metavar="N")
    options = parser.parse_args(argv)
    found = mutations(options.per_file, documents=options.documents)
    for each in found:
        if not each.was_noticed:
            print(f"not noticed: {each.topic}: {each.record}: {each.where}")
    noticed = sum(each.was_noticed for each in found)
    print(f"{noticed}/{len(found)} changes noticed")
    return 0 if noticed >= 0.99 * len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
