"""l2/flows: the steps of recorded flows: what commands print, the state they lead to, and the events."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.comparison import Comparison, Topic
from tests.golden.flow_world import OUTPUTS, UNKNOWN_PROGRAM, Flow, fixed
from tests.golden.recordings import Folder, Record

LOOSE = "unstable in the recording itself"


def _what(step: Record) -> str:
    return " ".join(step.get("argv") or ()) or step.get("line") or step.get("desc") or str(step.get("action") or step["type"])


def _judge(record: Record, folder: Folder) -> Iterator[Comparison]:
    try:
        loose_steps = folder.companion("l2/stability.json").get(record["id"], {})
    except FileNotFoundError:
        loose_steps = {}
    replay = Flow(record)
    for number, differences, events, problem in replay.run():
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
            # README: "Steps listed there depend on timing or random choice: compare them loosely."
            if aspect in got and aspect in wanted:
                got[aspect] = wanted[aspect]
        yield Comparison(wanted, got, f"step {number}", apart)


TOPIC = Topic(name="l2/flows", files=("flows/*.json",), answers=("steps",), judge=_judge, has_key="steps")
