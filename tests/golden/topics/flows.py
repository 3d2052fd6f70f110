"""l2/flows: the steps of recorded flows: what commands print, the state they lead to, and the events."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.golden.comparison import Comparison, Topic
from tests.golden.flow_world import OUTPUTS, UNKNOWN_PROGRAM, Flow, fixed
from tests.golden.recordings import Folder, Record

PHASES_MS = (0, 500, 1_000, 1_500)
RESTARTED = "kubectl.kubernetes.io/restartedAt"


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
    # README: "2 s PV resync"; when in these 2 s it fell is not recorded: the phase that agrees best is taken.
    phases = PHASES_MS if any("persistentvolumeclaims" in _states(step) for step in record["steps"]) else (0,)
    runs = [list(_compared(record, loose_steps, phase_ms)) for phase_ms in phases]
    yield from max(runs, key=lambda run: sum(comparison.is_equal for comparison in run))


def _states(step: Record) -> Record:
    state = step["state"]
    return state if isinstance(state, dict) else {}


def _compared(record: Record, loose_steps: Record, phase_ms: int) -> Iterator[Comparison]:
    try:
        replay = Flow(record)
        replay.resync_phase_ms = phase_ms
        results = replay.run()
    except Exception as error:  # none of the flow's steps can be told to agree
        for step in record["steps"]:
            wanted = {"what": _what(step), "state": [], "events": []}
            yield Comparison(wanted, f"raised {type(error).__name__}: {error}", f"step {step['n']}")
        return
    is_restarted = False
    for number, differences, events, problem in results:
        step = next(each for each in record["steps"] if each["n"] == number)
        is_restarted = is_restarted or RESTARTED in json.dumps(step["state"])
        loose = loose_steps.get(str(number), ())
        wanted: Record = {"what": _what(step), "state": [], "events": []}
        got: Record = {"what": _what(step), "state": differences, "events": events}
        # README: times "are shifted by a whole number of minutes", pod-template-hashes are raw: of templates that
        # hold a time, the hash cannot be computed again.
        apart = "hashes of shifted times" if is_restarted else ""
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
            where = "hashes of shifted times" if is_restarted else "managed fields"
            yield Comparison(theirs, ours, f"step {number} managed fields", where)


TOPIC = Topic(name="l2/flows", files=("flows/*.json",), answers=("steps",), judge=_judge, has_key="steps")
