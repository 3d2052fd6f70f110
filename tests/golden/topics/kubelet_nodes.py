"""kubelet/nodes: what a watch saw of the recorded nodes: conditions, taints, cordons, and events about them."""

from __future__ import annotations

from typing import Any

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.topics.timelines import cases_of, state_difference
from tests.node.laboratory import NodePlay

END_MS = 1_500
AFTER_MS = 25_000
"""Kubelets look and report every ten seconds, at times of their own: what the recording just saw may come later."""
MONITOR_MS = 5_000
SEEDS = (7, 8, 9)
_EXPLAINED = ("type", "status", "reason", "message")


def _state(node: Record) -> Record:
    """What is compared of a node: its conditions and taints without times, whether it is cordoned."""
    conditions = [{key: each.get(key) for key in _EXPLAINED} for each in node.get("conditions") or ()]
    taints = [
        {key: value for key, value in each.items() if key != "timeAdded"} for each in node.get("taints") or ()
    ]
    return {
        "conditions": sorted(conditions, key=lambda each: each["type"]),
        "taints": sorted(taints, key=lambda each: (each["key"], each["effect"])),
        "unschedulable": bool(node.get("unschedulable")),
    }


def _part(rows: list[tuple[int, Any]], *, is_driving_out: bool) -> list[tuple[int, Any]]:
    """Either the NoExecute taints of the states, or all the rest.

    Two loops of the controller write them: which of two changes within a monitoring period comes first is chance.
    """
    if is_driving_out:
        return [
            (at_ms, [each for each in state["taints"] if each["effect"] == "NoExecute"])
            for at_ms, state in rows
        ]
    return [
        (at_ms, {**state, "taints": [each for each in state["taints"] if each["effect"] != "NoExecute"]})
        for at_ms, state in rows
    ]


def _recorded_states(record: Record) -> list[tuple[int, Any]]:
    """The states of a node: README: "`status` (changes of conditions, taints, labels, capacity …)"."""
    known: Record = {}
    rows: list[tuple[int, Any]] = []
    for each in record["status"]:
        if each["type"] == "DELETED":
            known = {}
            continue
        known = {**known, **each}
        rows.append((each["t"], _state(known)))
    return rows


def _taint_difference(end_ms: int, theirs: list[tuple[int, Any]], ours: list[tuple[int, Any]]) -> str:
    """Compare the NoExecute taints; the controller looks every five seconds, and may not see what is over by then."""
    wanted, got = _part(theirs, is_driving_out=True), _part(ours, is_driving_out=True)
    found = state_difference(end_ms, wanted, got)
    if not found:
        return ""
    later = [*got[1:], (end_ms + AFTER_MS, None)]
    lasting = [
        row
        for row, following in zip(got, later, strict=True)
        if following[0] - row[0] >= MONITOR_MS or not row[1]
    ]
    return state_difference(end_ms, wanted, lasting)


def _flat(node: Record) -> Record:
    return {**(node.get("spec") or {}), "conditions": (node.get("status") or {}).get("conditions")}


def _our_states(play: NodePlay, first: Any) -> list[tuple[int, Any]]:
    """Our states; what was there when the watch began counts if the recording begins with it."""
    rows = []
    if play.before is not None and _state(_flat(play.before)) == first:
        rows.append((0, first))
    for at_ms, change in play.world.changes:
        if change.ref.resource == "nodes" and change.ref.name == play.node and change.type != "DELETED":
            rows.append((at_ms - play.start_ms, _state(_flat(change.object))))
    return rows


def _key(event: Record) -> tuple[Any, ...]:
    source = event.get("source") or {}
    return (
        event["type"],
        event["reason"],
        event["message"],
        source.get("component"),
        bool(event["involvedObject"].get("uid")),
        source.get("host"),
        event.get("reportingComponent"),
        event["involvedObject"]["kind"],
        event["involvedObject"]["name"],
        event["involvedObject"]["apiVersion"],
    )


def _chain(rows: list[Record]) -> dict[tuple[Any, ...], list[tuple[str, int]]]:
    """How the versions of each event follow one another: (verb, how much the count went up)."""
    found: dict[tuple[Any, ...], list[tuple[str, int]]] = {}
    before: dict[tuple[Any, ...], int] = {}
    for each in rows:
        key = _key(each)
        step = (
            each["count"] if each["verb"] == "ADDED" else each["count"] - before.get(key, each["count"] - 1)
        )
        before[key] = each["count"]
        seen = found.setdefault(key, [])
        if (each["verb"], step) not in seen:
            seen.append((each["verb"], step))
    return found


def _chain_difference(theirs: list[Record], ours: list[Record]) -> str:
    """Counts go up by one, and an event that is new begins at one: in the recording as with us."""
    wanted, got = _chain(theirs), _chain(ours)
    steps = {step for key in got for step in got[key]} | {("ADDED", 1), ("MODIFIED", 1)}
    return "".join(f"{key}: {step}\n" for key in wanted for step in wanted[key] if step not in steps)


def _recorded_events(record: Record) -> dict[tuple[Any, ...], int]:
    return {_key(each): each["t"] for each in reversed(record["events"])}


def _our_rows(play: NodePlay) -> list[Record]:
    return [
        {**change.object, "verb": change.type}
        for _, change in play.world.changes
        if change.ref.resource == "events"
        and change.type != "DELETED"
        and change.object["involvedObject"]["kind"] == "Node"
        and change.object["involvedObject"]["name"] == play.node
    ]


def _our_events(play: NodePlay) -> dict[tuple[Any, ...], int]:
    found: dict[tuple[Any, ...], int] = {}
    for at_ms, change in play.world.changes:
        if change.ref.resource != "events" or change.type == "DELETED":
            continue
        about = change.object["involvedObject"]
        if about["kind"] == "Node" and about["name"] == play.node:
            found.setdefault(_key(change.object), at_ms - play.start_ms)
    return found


def _event_difference(
    theirs: dict[tuple[Any, ...], int], ours: dict[tuple[Any, ...], int], end_ms: int
) -> str:
    late = {
        key
        for key in {*theirs, *ours}
        if min(theirs.get(key, end_ms), ours.get(key, end_ms)) > end_ms - END_MS
    }
    missing = sorted(str(key) for key in set(theirs) - set(ours) - late)
    more = sorted(str(key) for key in set(ours) - set(theirs) - late)
    return "".join([*(f"missing {each}\n" for each in missing), *(f"unexpected {each}\n" for each in more)])


def _judge(record: Record, folder: Folder) -> Comparison:
    cases = cases_of(folder)
    end_ms = max([each["t"] for each in (*record["status"], *record["events"])]) + END_MS + 1_000
    first: Record = {}
    for seed in SEEDS:
        play = NodePlay(record, cases, seed)
        play.run_to(end_ms + AFTER_MS)
        theirs = _recorded_states(record)
        ours = _our_states(play, theirs[0][1] if theirs else None)
        found = {
            "states": state_difference(
                end_ms, _part(theirs, is_driving_out=False), _part(ours, is_driving_out=False)
            ),
            "taints": _taint_difference(end_ms, theirs, ours),
            "counts": _chain_difference(record["events"], _our_rows(play)),
            "events": _event_difference(_recorded_events(record), _our_events(play), end_ms),
        }
        found = {key: text for key, text in found.items() if text}
        if not found:
            return Comparison({}, {})
        first = first or found
    return Comparison({}, first)


# Of the statuses conditions, taints and cordons are compared: what the node registers with was the recorder's to choose.
TOPIC = Topic(name="kubelet/nodes", files=("nodes.jsonl",), answers=("events",), judge=_judge)
