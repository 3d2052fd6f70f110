"""The taints that the control plane puts on nodes: by condition, and to drive pods out.

Source: k8s.io/kubernetes pkg/controller/nodelifecycle node_lifecycle_controller.go (doNoScheduleTaintingPass,
processTaintBaseEviction, ComputeZoneState); tests/golden/l2/flows (ids node-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.component import Component
from env_core.objects import conditions
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
PARTIAL_SHARE = 0.55
SMALL_CLUSTER_NODES = 50
_BY_CONDITION = (
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
)
_SCHEDULING_KEYS = frozenset((UNSCHEDULABLE, *(key for _, _, key in _BY_CONDITION)))


def is_wholly_down(nodes: Sequence[Object]) -> bool:
    """Say whether there are nodes and none of them is ready."""
    return bool(nodes) and not any(conditions.is_true(node, "Ready") for node in nodes)


def evicting(nodes: Sequence[Object]) -> frozenset[str]:
    """Return the names of the unready nodes whose pods are to be driven out.

    None when all zones are wholly down (then the control plane suspects itself), and none in a zone most of which
    is down if it is small.
    """
    zones: dict[tuple[str, str], list[Object]] = {}
    for node in nodes:
        labels = node["metadata"].get("labels") or {}
        zones.setdefault((labels.get(REGION, ""), labels.get(ZONE, "")), []).append(node)
    unready = {
        zone: [node for node in members if not conditions.is_true(node, "Ready")]
        for zone, members in zones.items()
    }
    if is_wholly_down(nodes):
        return frozenset()
    names: list[str] = []
    for zone, members in zones.items():
        count = len(unready[zone])
        is_partly_down = count < len(members) and count > 2 and count / len(members) >= PARTIAL_SHARE
        if not (is_partly_down and len(members) <= SMALL_CLUSTER_NODES):
            names.extend(node["metadata"]["name"] for node in unready[zone])
    return frozenset(names)


def apply(component: Component, node: Object, *, is_evicting: bool) -> None:
    """Write the node's taints if they are not what its conditions ask for."""
    spec = node["spec"]
    current: list[Object] = spec.get("taints") or []
    wanted = _scheduling_keys(node)
    ready = conditions.get(node, "Ready")
    status = ready["status"] if ready is not None else conditions.UNKNOWN
    driver = ""
    if status != conditions.TRUE and ready is not None:
        driver = NOT_READY if status == conditions.FALSE else UNREACHABLE
    kept = [taint for taint in current if _stays(taint, wanted, driver, is_evicting=is_evicting)]
    stamp = rfc3339(component.now_ms)
    have = {(taint["key"], taint["effect"]) for taint in kept}
    missing = [key for key in wanted if (key, "NoSchedule") not in have]
    kept += [{"key": key, "effect": "NoSchedule", "timeAdded": stamp} for key in missing]
    if driver and is_evicting and (driver, "NoExecute") not in have:
        kept.append({"key": driver, "effect": "NoExecute", "timeAdded": stamp})
    if kept == current:
        return
    changed = {key: value for key, value in spec.items() if key != "taints"}
    if kept:
        changed["taints"] = kept
    component.api.update("nodes", "", {**node, "spec": changed})


def _scheduling_keys(node: Object) -> list[str]:
    known = {entry["type"]: entry["status"] for entry in conditions.conditions_of(node)}
    keys = [key for type_, status, key in _BY_CONDITION if known.get(type_) == status]
    if node["spec"].get("unschedulable"):
        keys.append(UNSCHEDULABLE)
    return keys


def _stays(taint: Object, wanted: Sequence[str], driver: str, *, is_evicting: bool) -> bool:
    key, effect = taint["key"], taint["effect"]
    if effect == "NoSchedule" and key in _SCHEDULING_KEYS:
        return key in wanted
    if effect == "NoExecute" and key in (NOT_READY, UNREACHABLE):
        return is_evicting and key == driver
    return True
