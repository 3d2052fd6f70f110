"""kubelet/timelines: recorded pods of the real kubelet: the order of states, the events, the times of starts."""

from __future__ import annotations

from typing import Any

from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import random_suffix
from tests.golden.recordings import Folder, Record
from tests.node import replaying
from tests.node.playing import Play

SEEDS = (7, 8, 9, 10, 11, 12)
"""Chance decides how long back-offs are stretched; one of these draws must look like the recording."""
END_MS = 1_500
"""README: "offsets as ±~0.3 s … and the late recordings … up to ~1.5 s": what falls nearer to the end may be missing."""
_MEASURED = (
    "lastTransitionTime", "lastProbeTime", "startedAt", "finishedAt", "startTime", "podIP", "podIPs", "hostIP", "hostIPs",
    "containerID", "imageID", "user",
)  # fmt: skip
"""README: "`$ID<n>` container/sandbox ids, `sha256:$DIGEST<n>`, `$POD_IP`, `$HOST_IP`, `$T+N`"; the user of a container is what the "scripted CRI runtime" said."""


def _plain(value: Any, name: str, uid: str) -> Any:
    """A status with its measured and drawn parts reduced to whether they are there."""
    if isinstance(value, dict):
        return {
            key: bool(item) if key in _MEASURED else _plain(item, name, uid)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list):
        return [_plain(item, name, uid) for item in value]
    return random_suffix(replaying.text(value, name, uid)) if isinstance(value, str) else value


def _shown(status: Record, watched: str) -> Record:
    """A status as it is compared, with how the watch announced it unless it was an ordinary change."""
    conditions = sorted(status.get("conditions") or (), key=lambda each: each["type"])
    shown = {**status, "conditions": conditions}
    return shown if watched in ("ADDED", "MODIFIED") else {**shown, "watched": watched}


def _lasting(states: list[tuple[int, Any]]) -> list[tuple[Any, int, int]]:
    """Return (state, when, how long), consecutive equal ones as one."""
    kept: list[tuple[Any, int, int]] = []
    for index, (at_ms, state) in enumerate(states):
        lasted = states[index + 1][0] - at_ms if index + 1 < len(states) else 10**9
        if kept and kept[-1][0] == state:
            kept[-1] = (state, kept[-1][1], kept[-1][2] + lasted)
        else:
            kept.append((state, at_ms, lasted))
    return kept


def _first(wanted: Any, got: Any, path: str = "") -> str:
    """Return where two values part."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for key in sorted({*wanted, *got}):
            if wanted.get(key) != got.get(key):
                return _first(wanted.get(key), got.get(key), f"{path}.{key}")
    if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for index, (one, other) in enumerate(zip(wanted, got, strict=True)):
            if one != other:
                return _first(one, other, f"{path}[{index}]")
    return f"{path}: recorded {wanted!r}, ours {got!r}"


def state_difference(recorded_ms: int, theirs: list[tuple[int, Any]], ours: list[tuple[int, Any]]) -> str:
    """Every recorded state must be there in order; ours may have some between that last a moment only."""
    end_ms = recorded_ms - END_MS
    kept, index = _lasting(ours), 0
    for position, (state, at_ms, _) in enumerate(_lasting(theirs)):
        start = index
        while index < len(kept) and kept[index][0] != state:
            if kept[index][2] > replaying.TRANSIENT_MS:
                return f"state {position}{_first(state, kept[index][0])}"
            index += 1
        if index == len(kept):
            if at_ms > end_ms:
                return ""
            near = kept[start][0] if start < len(kept) else None
            return f"state {position}{_first(state, near)}"
        index += 1
    late = [at_ms for _, at_ms, _ in kept[index:] if at_ms < end_ms]
    return f"{len(late)} more states than recorded" if late else ""


def _kubelets_events(rows: list[tuple[int, Record]], name: str, uid: str) -> set[tuple[Any, ...]]:
    """Who says what: the parts of events in which the count and the times have no say."""
    return {
        (
            event["type"],
            event["reason"],
            replaying.text(event["message"], name, uid),
            tuple(sorted((event.get("source") or {}).items())),
            event.get("reportingComponent") or "",
            event.get("reportingInstance") or "",
        )
        for _, event in rows
        if (event.get("source") or {}).get("component") == "kubelet"
    }


def _speakers(rows: set[tuple[Any, ...]]) -> list[Any]:
    return sorted({row[3:] for row in rows})


def _differences(record: Record, seed: int, cases: dict[str, Record]) -> Record:
    name = record["manifest"]["metadata"]["name"]
    end_ms = record["recorded_ms"] - 5
    wanted = replaying.recorded(record)
    try:
        play = Play(record, cases, seed)
        play.run_to(end_ms)
    except Exception as error:  # a crash is a difference like others
        return {"error": f"{type(error).__name__}: {error}"}
    got = replaying.seen(play)
    pods = replaying.pod_changes(play)
    uid = pods[0][1].object["metadata"]["uid"] if pods else ""
    theirs = [
        (each["t"], _plain(_shown(each["status"], each["type"]), name, ""))
        for each in record["status"]
        if each["t"] < end_ms
    ]
    ours = [
        (at_ms, _plain(_shown(change.object.get("status") or {}, change.type), name, uid))
        for at_ms, change in pods
    ]
    rows = replaying.pod_events(play)
    recorded_rows = [(each["t"], each) for each in record["events"] if each["t"] < end_ms]
    spoken = (
        _speakers(_kubelets_events(recorded_rows, name, "")),
        _speakers(_kubelets_events(rows, name, uid)),
    )
    found = {
        "states": state_difference(record["recorded_ms"], theirs, ours),
        "events": replaying.event_difference(record, wanted, got),
        "sources": "" if spoken[0] == spoken[1] else f"recorded {spoken[0]}, ours {spoken[1]}",
        "starts": replaying.start_difference(record, wanted, got),
    }
    return {aspect: text for aspect, text in found.items() if text}


def cases_of(folder: Folder) -> dict[str, Record]:
    """Return every recorded pod by the name of its case."""

    def found() -> dict[str, Record]:
        rows = [*folder.companion("kubelet/timelines.jsonl"), *folder.with_main("kubelet/timelines.jsonl")]
        return {each["name"]: each for each in rows if "manifest" in each}

    return folder.once("cases", found)


def _judge(record: Record, folder: Folder) -> Comparison:
    cases = cases_of(folder)
    first: Record = {}
    for seed in SEEDS:
        found = _differences(record, seed, cases)
        if not found:
            first = {}
            break
        first = first or found
        if "error" in found:
            break
    # README: "`standalone`: true when `depends_on` is empty"; the others need their neighbours played too.
    return Comparison({}, first, apart="" if record["standalone"] else "dependent")


TOPIC = Topic(
    name="kubelet/timelines", files=("timelines.jsonl",), answers=("status", "events"), judge=_judge
)
