"""l2/kubectl: commands over recorded states, run on a real store and API server that hold the state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.golden.comparison import Comparison, Topic
from tests.golden.frozen_worlds import FrozenWorld
from tests.golden.normalise import (
    facts,
    interface_of,
    printed,
    printed_drawn,
    shows_other_namespaces,
    shows_what_came_later,
)
from tests.golden.recordings import Folder, Record

RESULT = ("rc", "stdout", "stderr")
SPAN_MS, STEP_MS = 4_000, 40
_FRACTION = re.compile(r":\d\d\.(\d{3})\d*Z")


def _moments(cases: list[Record], index: int, start_ms: int) -> list[int]:
    """When a command's requests may have been sent.

    README: "Cases have no duration: the request fell between its `t_ms` and the next case's"; starts are whole seconds.
    """
    begin = cases[index].get("t_ms", 0)
    end = cases[index + 1].get("t_ms", begin) if index + 1 < len(cases) else begin + 500
    last = min(end, begin + SPAN_MS) + 1000
    steps = range(begin + STEP_MS, last + 1, STEP_MS)
    return [start_ms + moment for moment in (begin, *steps)]


def _turns(texts: str, moments: list[int]) -> list[int]:
    """Return the moments at which a precise time in a state becomes a second older: few of them may lie in between."""
    parts = sorted({int(text) for text in _FRACTION.findall(texts)})
    first, last = moments[0] // 1000, moments[-1] // 1000
    return [second * 1000 + part + 1 for second in range(first, last + 1) for part in parts]


def _wanted(case: Record) -> tuple[int, str, str]:
    return case["rc"], printed(case["stdout"]), printed(case["stderr"])


def _best(
    state: FrozenWorld, case: Record, moments: list[int]
) -> tuple[tuple[int, str, str], tuple[int, str, str]]:
    """Return the recorded result and ours at the moment that agrees, or at the first."""
    argv = [state.aliases.raw(word) for word in case["argv"]]
    stdin = state.aliases.raw(case.get("stdin") or "")
    wanted = _wanted(case)
    first = state.run(argv, stdin, moments[0])
    if first == wanted or facts(argv, first) == facts(argv, wanted):
        return wanted, wanted
    drawn = "--dry-run=server" in argv or argv[:1] == ["debug"] or state.shows_unknown(wanted)
    if drawn and printed_drawn(first) == printed_drawn(wanted):
        return printed_drawn(wanted), printed_drawn(first)
    last = state.run(argv, stdin, moments[-1])
    if last == first:  # Time does not show: no other moment helps.
        return wanted, first
    nearest = first
    for moment in (*moments[1:], *_turns(json.dumps(state.state.get("events") or []), moments)):
        result = state.run(argv, stdin, moment)
        if result == wanted:
            return wanted, result
        if drawn and printed_drawn(result) == printed_drawn(wanted):
            return printed_drawn(wanted), printed_drawn(result)
        if _distance(wanted, result) < _distance(wanted, nearest):
            nearest = result
    return wanted, nearest


def _distance(wanted: tuple[int, str, str], got: tuple[int, str, str]) -> int:
    """Return how many lines of two results differ."""
    return sum(
        len(set(theirs.splitlines()) ^ set(ours.splitlines()))
        for theirs, ours in zip(wanted[1:], got[1:], strict=True)
    )


def _judge_interface(record: Record, folder: Folder) -> Iterator[Comparison]:
    """Help and explain texts, of which only the interface is compared: usage, flags, fields and their types."""
    state = FrozenWorld({**record, "start": "2026-01-01T00:00:00Z"})
    for index, case in enumerate(record["cases"]):
        unit = case.get("id", " ".join(case["argv"]) or str(index))
        rc, stdout, stderr = state.run(list(case["argv"]), "", state.start_ms)
        wanted = {"rc": case["rc"], **interface_of(case["stdout"] + case["stderr"])}
        yield Comparison(wanted, {"rc": rc, **interface_of(stdout + stderr)}, unit, "help and explain")
    del folder


def _judge(record: Record, folder: Folder) -> Iterator[Comparison]:
    if "state" not in record:
        yield from _judge_interface(record, folder)
        return
    state = FrozenWorld(record)
    cases = record["cases"]
    for index, case in enumerate(cases):
        apart = ""
        if shows_other_namespaces(case, record["state"], record["namespace"]):
            apart = "other namespaces"
        elif shows_what_came_later(case, record):
            apart = "after the snapshot"
        unit = case["id"].rpartition("/")[2]
        try:
            wanted, got = _best(state, case, _moments(cases, index, state.start_ms))
        except Exception as error:
            yield Comparison(
                dict(zip(RESULT, _wanted(case))), f"raised {type(error).__name__}: {error}", unit, apart
            )
            continue
        argv = {"argv": " ".join(case["argv"])}
        yield Comparison(argv | dict(zip(RESULT, wanted)), argv | dict(zip(RESULT, got)), unit, apart)


TOPIC = Topic(
    name="l2/kubectl", files=("kubectl/*.json",), answers=("cases",), judge=_judge, has_key="cases",
)  # fmt: skip
