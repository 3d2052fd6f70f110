"""l2/flows: the steps of recorded flows: what commands print, the state they lead to, and the events."""

from __future__ import annotations

from collections.abc import Iterator

from tests.controllers.flows import phases_of
from tests.golden.comparison import Comparison, Topic
from tests.golden.flow_world import OUTPUTS, UNKNOWN_PROGRAM, Flow, fixed
from tests.golden.recordings import Folder, Record



def _what(step: Record) -> str:
    return (
        " ".join(step.get("argv") or ())
        or step.get("line")
        or step.get("desc")
        or str(step.get("action") or step["type"])
    )


def _judge(record: Record, folder: Folder) -> Iterator[Comparison]:
    try:
        loose_steps = folder.companion("l2/stability.json").get(record["id"], {})
    except FileNotFoundError:
        loose_steps = {}
    runs = [list(_compared(record, loose_steps, phase_ms)) for phase_ms in phases_of(record)]
    yield from max(runs, key=lambda run: sum(comparison.is_equal for comparison in run))


def _compared(record: Record, loose_steps: Record, phase_ms: int) -> Iterator[Comparison]:
    try:
        replay = Flow(record)
        replay.set_phase(phase_ms)
        results = replay.run()
    except Exception as error:  # none of the flow's steps can be told to agree
        for step in record["steps"]:
            wanted = {"what": _what(step), "state": [], "events": []}
            yield Comparison(wanted, f"raised {type(error).__name__}: {error}", f"step {step['n']}")
        return
    for number, differences, events, problem in results:
        step = next(each for each in record["steps"] if each["n"] == number)
        loose = loose_steps.get(str(number), ())
        wanted: Record = {"what": _what(step), "state": [], "events": []}
        got: Record = {"what": _what(step), "state": differences, "events": events}
        apart = ""
        if number in replay.outputs:
            theirs, ours = fixed(*replay.outputs[number])
            wanted |= dict(zip(OUTPUTS, theirs, strict=True))
            got |= dict(zip(OUTPUTS, ours, strict=True))
            if UNKNOWN_PROGRAM in ours[2] and UNKNOWN_PROGRAM not in theirs[2]:
                apart = "programs that are not declared"
        elif problem:
            got["problem"] = problem
        for aspect in loose:
            # As the README wants: "Steps listed there depend on timing or random choice: compare them loosely".
            if aspect in got and aspect in wanted:
                got[aspect] = wanted[aspect]
        yield Comparison(wanted, got, f"step {number}", apart, tuple(loose))
        theirs, ours = replay.managed.get(number, ({}, {}))
        if theirs:
            yield Comparison(theirs, ours, f"step {number} managed fields", "managed fields")


TOPIC = Topic(name="l2/flows", files=("flows/*.json",), answers=("steps",), judge=_judge, has_key="steps")
