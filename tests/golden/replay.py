"""`python -m tests.golden.replay PATH…`: replays recordings and says what agrees and what does not."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from tests.golden import topics as topics_package
from tests.golden.comparison import NOT_IMPLEMENTED, Comparison, Topic, judged, record_name
from tests.golden.recordings import GOLDEN, Folder, files_under, load, plain_name

FLOORS = GOLDEN / "floors.json"
REMAINING = GOLDEN / "remaining.json"
"""Topic → units that differ; an empty list where nothing of the topic is simulated."""


@dataclass(slots=True)
class Tally:
    """The outcome of one topic."""

    matched: int = 0
    total: int = 0
    missing: int = 0
    """How many are of what is not simulated at all."""
    differences: list[tuple[str, Comparison]] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)


@cache
def topics() -> tuple[Topic, ...]:
    """Return every declared topic, by name."""
    found = [
        importlib.import_module(f"{topics_package.__name__}.{info.name}").TOPIC
        for info in pkgutil.iter_modules(topics_package.__path__)
        if not info.name.startswith("_")
    ]
    return tuple(sorted(found, key=lambda topic: topic.name))


def topic_of(path: Path) -> Topic | None:
    """Return the topic of a file, by its name, or by what a single document holds; None for tables and others."""
    name = plain_name(path)
    for tail in (f"{path.parent.name}/{name}", name):
        for topic in topics():
            if any(fnmatch(tail, pattern) for pattern in topic.files):
                return topic
    if name.endswith(".json"):
        document = load(path)[0]
        for topic in topics():
            if topic.has_key and isinstance(document, dict) and topic.has_key in document:
                return topic
    return None


def replay_file(path: Path, topic: Topic) -> Iterator[tuple[str, Comparison]]:
    """Compare every record of a file; yields (name of the unit, comparison)."""
    yield from replay_records(topic, Folder(path))


def replay_records(topic: Topic, folder: Folder) -> Iterator[tuple[str, Comparison]]:
    """Compare the records of a folder context in order."""
    for index, record in enumerate(folder.records):
        name = record_name(record, index)
        for comparison in judged(topic, record, folder):
            yield f"{name}/{comparison.unit}" if comparison.unit else name, comparison


def run(paths: list[Path], only: str = "", kept: int = 3) -> dict[str, Tally]:
    """Replay files and folders; return the tallies by topic, with the first `kept` differences of each."""
    tallies: dict[str, Tally] = {}
    for path in paths:
        for file in files_under(path):
            topic = topic_of(file)
            if topic is None or not fnmatch(topic.name, only or "*"):
                continue
            tallies.setdefault(topic.name, Tally())
            for name, comparison in replay_file(file, topic):
                label = f"{topic.name} ({comparison.apart})" if comparison.apart else topic.name
                tally = tallies.setdefault(label, Tally())
                tally.total += 1
                if comparison.is_equal:
                    tally.matched += 1
                    continue
                tally.missing += comparison.got == NOT_IMPLEMENTED
                tally.unmatched.append(name)
                if len(tally.differences) < kept:
                    tally.differences.append((name, comparison))
    return {name: tallies[name] for name in sorted(tallies)}


def below_floor(tallies: dict[str, Tally]) -> list[str]:
    """Return what fell below the committed floors, among the topics that were replayed whole."""
    floors: dict[str, list[int]] = json.loads(FLOORS.read_text())
    return [
        f"{name}: {tally.matched} of {tally.total} is below the floor of {floors[name][0]}"
        for name, tally in tallies.items()
        if name in floors and tally.total >= floors[name][1] and tally.matched < floors[name][0]
    ]


def accept(tallies: dict[str, Tally], *, is_whole: bool) -> None:
    """Make what matched now the floor, and write down what did not; `docs/fidelity.md` lists it.

    After a run of some topics, the others stay as they are.

    Raises:
        ValueError: if only a part of a topic was run.
    """
    rows: dict[str, list[int]] = {} if is_whole else json.loads(FLOORS.read_text())
    remaining: dict[str, list[str]] = {} if is_whole else json.loads(REMAINING.read_text())
    for name, tally in tallies.items():
        if name in rows and tally.total < rows[name][1]:
            raise ValueError(f"{name}: {tally.total} of {rows[name][1]} units were run; name all of its files")
    for name, tally in tallies.items():
        rows[name] = [tally.matched, tally.total]
        remaining.pop(name, None)
        if tally.matched < tally.total:
            remaining[name] = [] if tally.missing == tally.total else sorted(set(tally.unmatched))
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items()))
    FLOORS.write_text(f"{{\n{lines}\n}}\n")
    REMAINING.write_text(json.dumps(dict(sorted(remaining.items())), indent=1) + "\n")


def _is_ours(paths: list[Path]) -> bool:
    return all(path.resolve().is_relative_to(GOLDEN) for path in paths)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.replay", description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[GOLDEN], metavar="PATH")
    parser.add_argument("--topic", default="", help="only topics of this name (a pattern)")
    parser.add_argument(
        "--differences", type=int, default=3, metavar="N", help="show the first N of each topic"
    )
    parser.add_argument(
        "--accept", action="store_true", help="make the outcome the new floors of the topics that were run"
    )
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Replay what the command line names, print the outcome, and return the exit code."""
    options = _arguments(argv)
    tallies = run(options.paths, options.topic, options.differences)
    for name, tally in tallies.items():
        for unit, comparison in tally.differences:
            print(comparison.diff(f"{name}: {unit}"))
    matched = total = 0
    for name, tally in tallies.items():
        note = f"  {NOT_IMPLEMENTED}" if tally.total and tally.missing == tally.total else ""
        print(f"{name:40} {tally.matched}/{tally.total}{note}")
        matched += tally.matched
        total += tally.total
    print(f"{'all':40} {matched}/{total}")
    if options.accept:
        try:
            accept(tallies, is_whole=options.paths == [GOLDEN] and not options.topic)
        except ValueError as error:
            print(f"not accepted: {error}", file=sys.stderr)
            return 2
    failures = below_floor(tallies) if _is_ours(options.paths) else []
    for failure in failures:
        print(failure, file=sys.stderr)
    if options.json:
        rows = [
            {"topic": name, "matched": each.matched, "total": each.total} for name, each in tallies.items()
        ]
        print(json.dumps({"topic": "all", "matched": matched, "total": total, "topics": rows}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
