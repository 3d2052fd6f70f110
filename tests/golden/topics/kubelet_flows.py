"""kubelet/flows: end-to-end flows with our own controllers, scheduler and kubelets, judged part by part.

The parts of a flow are its events, the order of states of each kind of object, and each command's output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record
from tests.golden.times import near
from tests.golden.topics.kubelet_kubectl import printed
from tests.node.flowing import FlowPlay

SLACK_S = 3
"""README: "treat offsets as ±~0.3 s; pod start-up now and then takes 1 s longer": steps that wait for pods add that up."""
_ALIAS = re.compile(r"\$([A-Z]+)\d*")
_POD_IP = re.compile(r"\$POD_IP\d*")
_SHOWN = re.compile(r"\b(?:ppp\d\d|eee\d\d)\b")
_HASH = re.compile(r"\bh{8}\d\d\b|(?<=-)h{5,9}\d\d\b")
_IP = re.compile(r"\b10\.(?:9[0-9]|1\d\d|2\d\d)\.\d+\.\d+\b")
_COUNTED = ("BackOff", "Unhealthy", "Failed", "Pulled", "Created", "Started", "Pulling")


def _plain(text: str) -> str:
    """A recorded text with its aliases reduced to what they stand for."""
    return _ALIAS.sub(r"$\1", _POD_IP.sub("$IP", text))


def _recorded_events(record: Record) -> Counter[tuple[str, ...]]:
    """How many events of each kind there were, whatever their counts."""
    return Counter(
        (
            row["event"]["involved"]["kind"],
            _plain(row["event"]["involved"]["name"]),
            row["event"]["type"],
            row["event"]["reason"],
            _measured(_plain(row["event"]["message"])),
            str(row["event"]["source"]),
        )
        for row in record["timeline"]
        if row["kind"] == "Event" and row["verb"] == "ADDED"
    )


def _measured(text: str) -> str:
    text = re.sub(r"in [\d.]+m?s \([\d.]+m?s including waiting\)", "in $T", text)
    text = re.sub(r"\([0-9a-f-]{36}\)|\(\$UID\)", "($UID)", text)
    return re.sub(r"_flow-[a-z-]+\(", "_$NS(", re.sub(r"to node-\d", "to $NODE", _IP.sub("$IP", text)))


def _state(kind: str, status: Record) -> Any:
    """What of an object's status tells where it is: no times, no addresses, no versions."""
    if kind == "Pod":
        rows = [
            (
                row["name"],
                row["ready"],
                row["restartCount"],
                next(iter(row["state"]), ""),
                (next(iter(row["state"].values()), None) or {}).get("reason"),
            )
            for key in ("initContainerStatuses", "containerStatuses")
            for row in status.get(key) or ()
        ]
        return status.get("phase"), tuple(rows)
    shown = {key: value for key, value in status.items() if isinstance(value, int | str) and "ime" not in key}
    for key in ("observedGeneration", "terminatingReplicas", "terminating"):
        shown.pop(key, None)
    conditions = sorted(
        (each["type"], each["status"], each.get("reason") or "") for each in status.get("conditions") or ()
    )
    return tuple(sorted((key, str(value)) for key, value in shown.items() if value)), tuple(conditions)


def _sequences(rows: Iterable[tuple[str, str, Any]]) -> dict[str, list[list[Any]]]:
    """The sequences of states of each object, consecutive equal ones as one, by kind."""
    found: dict[tuple[str, str], list[Any]] = {}
    for kind, name, state in rows:
        seen = found.setdefault((kind, name), [])
        if not seen or seen[-1] != state:
            seen.append(state)
    by_kind: dict[str, list[list[Any]]] = {}
    for (kind, _name), states in found.items():
        by_kind.setdefault(kind, []).append(states)
    return by_kind


def _ends(sequences: list[list[Any]]) -> list[str]:
    """How many objects there were and where each ended: what chance in the middle does not change."""
    return sorted(_plain(str(states[-1])) for states in sequences)


def _seen(kind: str, sequences: list[list[Any]]) -> list[str]:
    """The states that there were: of pods all of them, of what controls them the conditions.

    How many replicas are ready in between depends on which pod is some milliseconds ahead.
    """
    rows = {_plain(str(state if kind == "Pod" else state[1])) for states in sequences for state in states}
    return sorted(rows)


def _shown(text: str) -> str:
    return re.sub(r" +", " ", _IP.sub("<ip>", _SHOWN.sub("xxxxx", _HASH.sub("hhhhhhhhhh", printed(text)))))


def _agree(wanted: str, got: str) -> bool:
    theirs, ours = sorted(_shown(wanted).split("\n")), sorted(_shown(got).split("\n"))
    return len(theirs) == len(ours) and all(
        near(one.rstrip(), other.rstrip(), SLACK_S) for one, other in zip(theirs, ours, strict=True)
    )


def _judge(record: Record, _folder: Folder) -> Iterator[Comparison]:
    play = FlowPlay(record)
    outputs = [(each, play.run_command(index, _fits)) for index, each in enumerate(record["kubectl"])]
    play.run_to(record["recorded_ms"] - 50)
    theirs = _recorded_events(record)
    ours: Counter[tuple[str, ...]] = Counter()
    for event in play.events():
        about = event["involvedObject"]
        source = (event.get("source") or {}).get("component") or event.get("reportingComponent")
        ours[
            (
                about["kind"],
                play.plain(about["name"]),
                event["type"],
                event["reason"],
                _measured(play.plain(event["message"])),
                str(source),
            )
        ] += 1
    yield Comparison(
        sorted(f"{count} {key}" for key, count in theirs.items()),
        sorted(f"{count} {key}" for key, count in ours.items()),
        unit="events",
    )
    wanted = _sequences(
        (row["kind"], row["name"], _state(row["kind"], row["object"].get("status") or {}))
        for row in record["timeline"]
        if row["kind"] not in ("Event", "EndpointSlice") and row["verb"] != "DELETED"
    )
    got = _sequences((kind, name, _state(kind, status)) for kind, name, status in play.states())
    for kind in sorted(wanted):
        yield Comparison(
            {"ends": _ends(wanted[kind]), "states": _seen(kind, wanted[kind])},
            {"ends": _ends(got.get(kind, [])), "states": _seen(kind, got.get(kind, []))},
            unit=f"states of {kind}",
        )
    for each, result in outputs:
        answer = {key: each[key] for key in ("rc", "stdout", "stderr", "flow")}
        if _fits(each, result) and each["flow"] == record["flow"]:
            yield Comparison(answer, answer, unit=f"{each['at_ms']} {each['argv']}")
        else:
            yield Comparison(
                {
                    "flow": each["flow"],
                    "rc": each["rc"],
                    "stdout": _shown(each["stdout"]),
                    "stderr": _shown(each["stderr"]),
                },
                {
                    "flow": record["flow"],
                    "rc": result[0],
                    "stdout": _shown(result[1]),
                    "stderr": _shown(result[2]),
                },
                unit=f"{each['at_ms']} {each['argv']}",
            )


def _fits(each: Record, result: tuple[int, str, str]) -> bool:
    return result[0] == each["rc"] and _agree(each["stdout"], result[1]) and _agree(each["stderr"], result[2])


# Of the time line its events and states are compared, not every field of every version: the l2 flows are there for those.
TOPIC = Topic(name="kubelet/flows", files=("flows.jsonl",), answers=("kubectl",), judge=_judge)
