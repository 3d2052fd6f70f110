"""Replays recorded pods against the kubelets and compares what clients could see of them."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.node.lab import Lab
from tests.node.playing import Play

GOLDEN = Path(__file__).parents[1] / "golden" / "kubelet"
TRANSIENT_MS = 1_100
JITTER_MS = 17_000
"""A failed sync is repeated after 10 to 16 seconds: how far two runs may be apart at the end."""

_took = re.compile(r"in [\dms.]+ \([\dms.]+ including waiting\)").sub
_digest = re.compile(r"sha256:(?:[0-9a-f]{64}|\$DIGEST\d+)").sub
_hex = re.compile(r"\$ID\d+|\b[0-9a-f]{64}\b").sub
_address = re.compile(r"\$POD_IP\d*|10\.244\.\d+\.\d+").sub
_attempt = re.compile(r"attempt at \d+ ms").sub
_port = re.compile(r"(read tcp )\S+->").sub


@cache
def records() -> list[Any]:
    """Return every recorded pod."""
    return [
        json.loads(line)
        for line in gzip.decompress((GOLDEN / "timelines.jsonl.gz").read_bytes()).splitlines()
    ]


class Seen(NamedTuple):
    """What a watch saw: pod states with their times, and the last version of each event."""

    states: list[tuple[int, Any]]
    events: dict[tuple[str, ...], tuple[int, int]]
    """By (type, reason, message, container): (time of the first version, highest count)."""
    starts: dict[str, list[tuple[int, int]]]
    """By container: (restart count, start time within the recording)."""


def text(message: str, pod_name: str, uid: str = "") -> str:
    """Return a message without what differs from run to run."""
    if uid:
        message = message.replace(uid, "$UID")
    message = message.replace(pod_name, "$POD")
    message = _took("in $T ($T including waiting)", message)
    message = _digest("sha256:$D", message)
    message = _hex("$ID", message)
    message = _attempt("attempt at $N ms", message)
    message = _port(r"\1$SOURCE->", message)
    return _address("$POD_IP", message)


def _state_key(state: Any, name: str, uid: str) -> Any:
    kind = next(iter(state), "")
    if not kind:
        return None
    body = state[kind]
    return kind, body.get("reason"), text(body.get("message", ""), name, uid), body.get("exitCode")


def _row_key(row: Any, name: str, uid: str) -> Any:
    return (
        row["name"],
        _state_key(row["state"], name, uid),
        _state_key(row.get("lastState") or {}, name, uid),
        row["ready"],
        row.get("started"),
        row["restartCount"],
        row["image"],
        json.dumps(row.get("resources"), sort_keys=True),
        json.dumps(row.get("allocatedResources"), sort_keys=True),
        bool(row.get("containerID")),
        bool(row.get("imageID")),
        len(row.get("volumeMounts") or ()),
        bool(row.get("user")),
    )


def status_key(status: Any, name: str, uid: str = "") -> Any:
    """Return what must agree of a status."""
    rows = [
        _row_key(row, name, uid)
        for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
        for row in status.get(key) or ()
    ]
    conditions = sorted(
        (
            each["type"],
            each["status"],
            each.get("reason") or "",
            text(each.get("message") or "", name, uid),
            each.get("observedGeneration") or 0,
        )
        for each in status.get("conditions") or ()
    )
    return (
        status.get("phase"),
        status.get("reason"),
        text(status.get("message") or "", name, uid),
        status.get("observedGeneration"),
        status.get("qosClass"),
        json.dumps(status.get("resources"), sort_keys=True),
        json.dumps(status.get("allocatedResources"), sort_keys=True),
        bool(status.get("podIP")),
        bool(status.get("startTime")),
        tuple(rows),
        tuple(conditions),
    )


def recorded(record: Any) -> Seen:
    """Return what was seen of the real pod, up to the forced delete at the end of its recording."""
    end_ms = record["recorded_ms"] - 5
    name = record["manifest"]["metadata"]["name"]
    states = [
        (each["t"], status_key(each["status"], name)) for each in record["status"] if each["t"] < end_ms
    ]
    events: dict[tuple[str, ...], tuple[int, int]] = {}
    for each in record["events"]:
        source = (each.get("source") or {}).get("component")
        if each["t"] < end_ms and source == "kubelet":
            key = (each["type"], each["reason"], text(each["message"], name), each.get("fieldPath") or "")
            first, count = events.get(key, (each["t"], 0))
            events[key] = (first, max(count, each.get("count") or 1))
    starts = {
        container: [(run["attempt"], run["start"]) for run in runs if run.get("start") is not None]
        for container, runs in (record.get("runs") or {}).items()
    }
    return Seen(states, events, starts)


def replay(record: Any, seed: int = 7, cases: Any = None) -> tuple[Lab, Seen]:
    """Play a recorded pod (and those of `cases` on which it depends) and return what a watch sees."""
    play = Play(record, cases or {}, seed)
    play.run_to(record["recorded_ms"] - 5)
    return play.world, seen(play)


def pod_changes(play: Play) -> list[tuple[int, Any]]:
    """Return (offset, change) of the pod that was played."""
    return [
        (at_ms - play.start_ms, change)
        for at_ms, change in play.world.changes
        if change.ref.resource == "pods" and change.ref.name == play.name
    ]


def pod_events(play: Play) -> list[tuple[int, Any]]:
    """Return (offset, event) of each version of the events about the pod that was played."""
    return [
        (at_ms - play.start_ms, change.object)
        for at_ms, change in play.world.changes
        if change.ref.resource == "events"
        and change.type != "DELETED"
        and change.object["involvedObject"]["kind"] == "Pod"
        and change.object["involvedObject"]["name"] == play.name
    ]


def seen(play: Play) -> Seen:
    """Return what a watch has seen of the pod that was played."""
    changes = pod_changes(play)
    name = play.name
    uid = changes[0][1].object["metadata"]["uid"] if changes else ""
    states: list[tuple[int, Any]] = [
        (since, status_key(change.object.get("status") or {}, name, uid)) for since, change in changes
    ]
    events: dict[tuple[str, ...], tuple[int, int]] = {}
    starts: dict[str, list[tuple[int, int]]] = {}
    begun: dict[str, int] = {}
    for since, event in pod_events(play):
        if (event.get("source") or {}).get("component") != "kubelet":
            continue
        key = (
            event["type"],
            event["reason"],
            text(event["message"], name, uid),
            event["involvedObject"].get("fieldPath") or "",
        )
        first, count = events.get(key, (since, 0))
        events[key] = (first, max(count, event.get("count") or 1))
        if event["reason"] == "Started" and key[3]:
            container = key[3].partition("{")[2].rstrip("}")
            rows = starts.setdefault(container, [])
            # A kubelet that starts anew counts its events from one again.
            if event["count"] == 1 and rows:
                begun[container] = rows[-1][0] + 1
            rows.append((begun.get(container, 0) + event["count"] - 1, since))
    return Seen(states, events, starts)


def state_difference(want: Seen, got: Seen) -> str:
    """Return how two sequences of states differ, "" when they agree as far as both go.

    Every recorded state must be there, in order. Ours may have short ones between them: the real status
    manager merges what changes within some milliseconds, and its once-a-second looks fall elsewhere.
    """
    theirs = _lasting(want.states, 0)
    ours = _lasting(got.states, 0)
    index = 0
    for position, (expected, _) in enumerate(theirs):
        start = index
        while index < len(ours) and ours[index][0] != expected:
            if ours[index][1] > TRANSIENT_MS:
                return f"state {position}: {_first_difference(expected, ours[index][0])}"
            index += 1
        if index == len(ours):
            left = len(theirs) - position
            if left > max(3, len(theirs) // 4):
                first = ours[start][0] if start < len(ours) else "nothing"
                return f"state {position} of {len(theirs)}: {_first_difference(expected, first)}"
            return ""
        index += 1
    left = len(ours) - index
    return f"{left} more states than {len(theirs)}" if left > max(3, len(theirs) // 4) else ""


def _lasting(states: list[tuple[int, Any]], transient_ms: int) -> list[tuple[Any, int]]:
    kept: list[tuple[Any, int]] = []
    for index, (at_ms, state) in enumerate(states):
        lasted = states[index + 1][0] - at_ms if index + 1 < len(states) else 10**9
        if lasted < transient_ms:
            continue
        if kept and kept[-1][0] == state:
            kept[-1] = (state, kept[-1][1] + lasted)
        else:
            kept.append((state, lasted))
    return kept


def _first_difference(expected: Any, actual: Any) -> str:
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        for one, other in zip(expected, actual, strict=True):
            if one != other:
                return _first_difference(one, other)
    return f"expected {expected!r}, got {actual!r}"


def event_difference(record: Any, want: Seen, got: Seen) -> str:
    """Return how two sets of events differ, "" when they agree but for what chance moves."""
    end_ms = record["recorded_ms"]
    for key in sorted({*want.events, *got.events}):
        expected, actual = want.events.get(key), got.events.get(key)
        if expected is None or actual is None:
            found = expected or actual
            assert found is not None
            if found[0] > end_ms - JITTER_MS and found[1] == 1 and end_ms > JITTER_MS + 5_000:
                continue
            return f"{'unexpected' if expected is None else 'missing'} event {key} at {found}"
        if abs(expected[1] - actual[1]) > max(1, expected[1] * 15 // 100):
            return f"event {key} counts {actual[1]} instead of {expected[1]}"
    return ""


def start_difference(record: Any, want: Seen, got: Seen) -> str:
    """Return how start times differ by more than the runtime's look, the ticks and the jitter of back-offs explain."""
    for container, theirs in want.starts.items():
        ours = dict(got.starts.get(container, ()))
        for (attempt, at_ms), (_, before_ms) in zip(theirs[1:], theirs, strict=False):
            if attempt not in ours or attempt - 1 not in ours:
                continue
            gap, own = at_ms - before_ms, ours[attempt] - ours[attempt - 1]
            # Back-offs are stretched by up to a half, in steps of a second.
            slack = 1_500 + (gap // 2 if gap > 9_000 else 0)
            if abs(gap - own) > slack:
                return f"{container} start {attempt} after {own} ms instead of {gap}"
    return ""


def report(failures: dict[str, dict[str, str]], totals: Counter[str], matched: Counter[str]) -> str:
    """Return the figures by tag and the first differences."""
    lines = [f"{tag}: {matched[tag]}/{totals[tag]}" for tag in sorted(totals)]
    for name, why in list(failures.items())[:20]:
        lines.extend(f"{name}: {aspect}: {found}" for aspect, found in why.items())
    return "\n".join(lines)
