"""What a kubelet reports of its node: conditions, and the events about them.

Source: k8s.io/kubernetes pkg/kubelet/nodestatus/setters.go, kubelet_node_status.go and runtime.go, 1.37; texts and times in
tests/golden/kubelet/nodes.jsonl.gz. A node is reported every ten seconds where something changed, and every five minutes
at least; the heartbeats in between are computed when read.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.node._host import Host
from env_core.node._records import NodeRecord
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

REPORT_MS: Final = 10_000
FIRST_READY_MS: Final = 70
"""From a network that is ready to the report of a node that never was."""
RUNTIME_LOST_MS: Final = 30_000
"""After so long without its runtime a kubelet says that it is down."""
NETWORK_PROBLEM: Final = "Network plugin returns error: cni plugin not initialized"
RUNTIME_PROBLEM: Final = "containerd is shutting down"
_PRESSURES: Final = (
    ("MemoryPressure", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available",
     "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
     "NodeHasInsufficientMemory", "NodeHasSufficientMemory"),
    ("DiskPressure", "KubeletHasDiskPressure", "kubelet has disk pressure",
     "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
     "NodeHasDiskPressure", "NodeHasNoDiskPressure"),
    ("PIDPressure", "KubeletHasInsufficientPID", "kubelet has insufficient PID available",
     "KubeletHasSufficientPID", "kubelet has sufficient PID available",
     "NodeHasInsufficientPID", "NodeHasSufficientPID"),
)  # fmt: skip


class Row(NamedTuple):
    """One condition as the kubelet sees it, and the reason of the event when it becomes so."""

    kind: str
    status: str
    reason: str
    message: str
    event: str


def rows(node: NodeRecord, now_ms: int) -> list[Row]:
    """Return a node's conditions."""
    pressures = dict(node.pressures)
    found = []
    for kind, reason, message, well, well_message, event_, well_event in _PRESSURES:
        is_low = kind in pressures
        found.append(
            Row(
                kind,
                "True" if is_low else "False",
                reason if is_low else well,
                message if is_low else well_message,
                event_ if is_low else well_event,
            )
        )
    problems = []
    if node.runtime_problem and now_ms - node.runtime_lost_ms >= RUNTIME_LOST_MS:
        problems.append("container runtime is down")
    if node.runtime_problem:
        problems.append(
            f"container runtime not ready: RuntimeReady=false reason:ContainerdNotReady message:{node.runtime_problem}"
        )
    if node.network_problem:
        problems.append(network_error(node))
    if not problems:
        found.append(Row("Ready", "True", "KubeletReady", "kubelet is posting ready status", "NodeReady"))
    else:
        message = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        found.append(Row("Ready", "False", "KubeletNotReady", message, "NodeNotReady"))
    return found


def network_error(node: NodeRecord) -> str:
    """Return why a node's network is not ready, as its kubelet puts it."""
    return (
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
        f"message:{node.network_problem}"
    )


def event(
    host: Host, node: NodeRecord, kind: str, reason: str, message: str, *, has_uid: bool = True
) -> None:
    """Record an event about a node. Those without uid show in lists of events, not in `describe node`."""
    reference: Object = {"apiVersion": "v1", "kind": "Node", "name": node.name}
    stored = host.store.get("nodes", "", node.name)
    if has_uid and stored is not None:
        reference["uid"] = stored["metadata"]["uid"]
    host.component(node.name).recorder.event(reference, kind, reason, message)


def state_event(host: Host, node: NodeRecord, state: str, *, has_uid: bool = True) -> None:
    """Record that a node is in a state now."""
    event(host, node, "Normal", state, f"Node {node.name} status is now: {state}", has_uid=has_uid)


def wake(host: Host, node: NodeRecord, *, from_ms: int | None = None) -> None:
    """Ask that a node be reported at its kubelet's next turn."""
    from_ms = host.now_ms + 1 if from_ms is None else from_ms
    host.wake(from_ms + (node.joined_ms - from_ms) % REPORT_MS, "node", node.name)


def notice(host: Host, stored: Object) -> None:
    """Let a kubelet see that its node was cordoned, or is no more."""
    node = host.node(stored["metadata"]["name"])
    is_cordoned = bool((stored.get("spec") or {}).get("unschedulable"))
    if node is not None and node.is_cordoned != is_cordoned:
        wake(host, node)


def conditions(
    node: NodeRecord, old: Object | None, now_ms: int, ahead_ms: int = 0
) -> tuple[list[Object], list[str]]:
    """Return a node's conditions with their times by its clock, and the states that are new."""
    stamp = rfc3339(now_ms + ahead_ms)
    before = {each["type"]: each for each in ((old or {}).get("status") or {}).get("conditions") or ()}
    built: list[Object] = []
    states = []
    for row in rows(node, now_ms):
        known = before.pop(row.kind, None)
        is_same = known is not None and known["status"] == row.status
        if not is_same:
            states.append(row.event)
        built.append(
            {
                "type": row.kind,
                "status": row.status,
                "lastHeartbeatTime": stamp,
                "lastTransitionTime": known["lastTransitionTime"] if known is not None and is_same else stamp,
                "reason": row.reason,
                "message": row.message,
            }
        )
    return [*built, *before.values()], states


def report(host: Host, node: NodeRecord) -> None:
    """Write a node's status if it says something new, and record what is new in events."""
    stored = host.store.get("nodes", "", node.name)
    if stored is None or node.stopped_ms is not None:
        return
    is_cordoned = bool((stored.get("spec") or {}).get("unschedulable"))
    if is_cordoned != node.is_cordoned:
        host.nodes[node.name] = node = node._replace(is_cordoned=is_cordoned)
        state_event(host, node, "NodeNotSchedulable" if is_cordoned else "NodeSchedulable")
    clocks = host.runtime.clocks
    fresh, states = conditions(node, stored, host.now_ms, clocks.ahead_ms(node.name, host.now_ms))
    if node.runtime_problem and host.now_ms - node.runtime_lost_ms < RUNTIME_LOST_MS:
        wake(host, node, from_ms=node.runtime_lost_ms + RUNTIME_LOST_MS)
    old = (stored.get("status") or {}).get("conditions") or ()
    said = [(each["type"], each["status"], each.get("reason"), each.get("message")) for each in old]
    if said == [(each["type"], each["status"], each["reason"], each["message"]) for each in fresh]:
        return
    for state in states:
        state_event(host, node, state)
    if clocks.was_set(node.name):
        host.nodes[node.name] = node._replace(reported_ms=host.now_ms)
    host.component(node.name).api.update_status(
        "nodes", "", {**stored, "status": {**stored["status"], "conditions": fresh}}
    )
