"""Nodes that fall silent or report trouble: conditions become Unknown, taints keep pods away or drive them out.

Live kubelets renew their leases only in what the API shows, so nothing runs here while all is well. The last lease
of a kubelet that stops is written, which brings this controller to look whether the next one comes.

Source: k8s.io/kubernetes pkg/controller/nodelifecycle; tests/golden/l2/flows (node-down, node-all-down,
node-notready, node-pressure).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.controllers import _nodetaints
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

NODES = "nodes"
LEASES = "leases.coordination.k8s.io"
LEASE_NAMESPACE = "kube-node-lease"
GRACE_MS = 50_000
"""How long a node may be silent (`--node-monitor-grace-period`)."""

HEARTBEAT_MS = 10_000
"""How often a live kubelet renews its lease; a younger heartbeat is no sign of trouble."""

MONITOR_MS = 5_000
"""How often nodes are looked at (`--node-monitor-period`): nodes that fall silent together are judged together."""

_WATCHED = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
_KNOWN = "known"
_CHECKS = "heartbeat-checks"
_HEALTH = "health"
_CLOCKS = "runtime/clocks"
_DISRUPTION, _RESUME = "disruption", "resume"
_NOT_YET = -1


def _of_lease(lease: Object, _component: Component) -> Iterable[Key]:
    metadata = lease["metadata"]
    return (Key("", metadata["name"]),) if metadata.get("namespace") == LEASE_NAMESPACE else ()


def _reconcile(component: Component, key: Key) -> Requeue | None:
    node = component.cache.get(NODES, "", key.name)
    known = component.table(_KNOWN)
    if node is None:
        uid = known.pop(key.name)
        if uid is not None:
            _node_event(component, key.name, uid, "RemovingNode", f"Removing Node {key.name} from Controller")
            # One node less may mean that all that are left are down, or that they are not.
            return _judge_all(component)
        return None
    if key.name not in known:
        uid = known[key.name] = node["metadata"]["uid"]
        _node_event(component, key.name, uid, "RegisteredNode", f"Registered Node {key.name} in Controller")
    wishes = (_watch_heartbeat(component, node), _judge_all(component))
    return min((wish for wish in wishes if wish is not None), key=lambda wish: wish.after_ms, default=None)


def _node_event(component: Component, name: str, uid: str, reason: str, text: str) -> None:
    reference = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}
    component.recorder.event(reference, "Normal", reason, f"Node {name} event: {text}")


def _judge_all(component: Component) -> Requeue | None:
    """Bring the taints of every node up to date: one node's state decides what another's mean."""
    nodes = component.cache.list(NODES)
    wait_ms = _disruption_ms(component, nodes)
    evicting = _nodetaints.evicting(nodes) if not wait_ms else frozenset()
    for node in nodes:
        _nodetaints.apply(component, node, is_evicting=node["metadata"]["name"] in evicting)
    return Requeue(wait_ms) if wait_ms else None


def _disruption_ms(component: Component, nodes: Sequence[Object]) -> int:
    """Return for how long after a time without any ready node nothing is driven out; 0 for no longer.

    A look at all nodes finds that some are ready again, and the next one begins with what is still down.

    Source: node_lifecycle_controller.go handleDisruption; tests/golden/l2/flows (node-all-down).
    """
    table = component.table(_DISRUPTION)
    if _nodetaints.is_wholly_down(nodes):
        table[_RESUME] = _NOT_YET
        return 0
    resume_ms: int | None = table.get(_RESUME)
    if resume_ms is None:
        return 0
    now_ms = component.now_ms
    if resume_ms == _NOT_YET:
        resume_ms = table[_RESUME] = -(-now_ms // MONITOR_MS) * MONITOR_MS + MONITOR_MS
    if now_ms < resume_ms:
        return resume_ms - now_ms
    table.pop(_RESUME)
    return 0


def _watch_heartbeat(component: Component, node: Object) -> Requeue | None:
    """Note that a node has fallen silent; return when to look again at one that may have."""
    name = node["metadata"]["name"]
    if name in component.shared_table(_CLOCKS):
        return _probe(component, node)
    checks = component.table(_CHECKS)
    ready = conditions.get(node, "Ready")
    if ready is not None and ready["status"] == conditions.UNKNOWN:
        checks.pop(name)
        return None
    now_ms = component.now_ms
    heartbeat_ms = _heartbeat_ms(component, node)
    if now_ms - heartbeat_ms > HEARTBEAT_MS:
        checks.pop(name)
        due_ms = -(-(heartbeat_ms + GRACE_MS) // MONITOR_MS) * MONITOR_MS
        if now_ms < due_ms:
            return Requeue(due_ms - now_ms)
        for each in component.cache.list(NODES):
            is_mine = each["metadata"]["name"] not in component.shared_table(_CLOCKS)
            if is_mine and conditions.status_of(each, "Ready") != conditions.UNKNOWN:
                if now_ms - _heartbeat_ms(component, each) >= GRACE_MS:
                    _mark_silent(component, each)
        return None
    check_ms: int | None = checks.get(name)
    if check_ms is not None and check_ms <= now_ms:
        # The heartbeat was renewed after whatever woke us: the kubelet lives.
        checks.pop(name)
        return None
    if check_ms is None:
        check_ms = checks[name] = heartbeat_ms + HEARTBEAT_MS + 1
    return Requeue(check_ms - now_ms)


class _Health(NamedTuple):
    """What was last seen of a node, and when that changed by the control plane's own clock."""

    heartbeat: str
    renewed: str
    probe_ms: int


def _probe(component: Component, node: Object) -> Requeue:
    """Look at a node whose clock was set: its stamps tell no time, but that they change tells that it lives.

    A lease counts as renewed only when its time is later than the one seen before, the heartbeat of the status whenever it is another.

    Source: node_lifecycle_controller.go tryUpdateNodeHealth.
    """
    name, now_ms = node["metadata"]["name"], component.now_ms
    table = component.table(_HEALTH)
    ready = conditions.get(component.api.get(NODES, "", name), "Ready") or {}
    heartbeat = str(ready.get("lastHeartbeatTime") or "")
    lease = component.api.find(LEASES, LEASE_NAMESPACE, name)
    renewed = str((lease["spec"].get("renewTime") if lease is not None else None) or "")
    health: _Health | None = table.get(name)
    if health is None or health.heartbeat != heartbeat:
        health = _Health(heartbeat, "", now_ms)
    if health.renewed < renewed:
        health = health._replace(renewed=renewed, probe_ms=now_ms)
    table[name] = health
    if now_ms > health.probe_ms + GRACE_MS and ready.get("status") != conditions.UNKNOWN:
        _mark_silent(component, node)
    return Requeue(MONITOR_MS - now_ms % MONITOR_MS)


def _heartbeat_ms(component: Component, node: Object) -> int:
    name = node["metadata"]["name"]
    shown = component.api.get(NODES, "", name)
    beats = [parse_ms(node["metadata"]["creationTimestamp"])]
    ready = conditions.get(shown, "Ready")
    if ready is not None and ready.get("lastHeartbeatTime"):
        beats.append(parse_ms(ready["lastHeartbeatTime"]))
    lease = component.api.find(LEASES, LEASE_NAMESPACE, name)
    renewed = (lease["spec"].get("renewTime") if lease is not None else None) or ""
    if renewed:
        beats.append(parse_ms(renewed))
    return max(beats)


def _mark_silent(component: Component, node: Object) -> None:
    before = conditions.get(node, "Ready")
    stamp = rfc3339(component.now_ms)
    known: list[Object] = list(conditions.conditions_of(node))
    for type_ in _WATCHED:
        current = conditions.find(known, type_)
        if current is None:
            entry = {
                "type": type_,
                "status": "Unknown",
                "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
                "lastTransitionTime": stamp,
                "reason": "NodeStatusNeverUpdated",
                "message": "Kubelet never posted node status.",
            }
            known.append(entry)
        elif current["status"] != conditions.UNKNOWN:
            entry = {
                **current,
                "status": "Unknown",
                "lastTransitionTime": stamp,
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
            known[known.index(current)] = entry
    changed = {**node, "status": {**(node.get("status") or {}), "conditions": known}}
    component.api.update_status(NODES, "", changed)
    if before is not None and before["status"] == conditions.TRUE:
        name = node["metadata"]["name"]
        reference = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        text = f"Node {name} status is now: NodeNotReady"
        component.recorder.event(reference, "Normal", "NodeNotReady", text)
        _mark_pods(component, component.cache.indexed("node", name), stamp)


def _mark_pods(component: Component, pods: Sequence[Object], stamp: str) -> None:
    """Say of each ready pod on a silent node that it is not: nobody can tell any more."""
    for pod in pods:
        ready = conditions.get(pod, "Ready")
        if ready is None or ready["status"] == conditions.FALSE:
            continue
        metadata = pod["metadata"]
        entry = {**ready, "status": "False", "lastTransitionTime": stamp}
        known = [entry if row is ready else row for row in conditions.conditions_of(pod)]
        patch = {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": known}}
        component.api.patch(PODS, metadata["namespace"], metadata["name"], patch, subresource="status")
        component.recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready")


CONTROLLER = Controller(
    name="node-lifecycle",
    identity="node-controller",
    component="node-controller",
    watches=((NODES, own_key), (LEASES, _of_lease)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/nodelifecycle; tests/golden/l2/flows (ids node-)",
)
