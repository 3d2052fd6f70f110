"""NodeResourcesFit: a node must have room for what the pod requests; the emptier the better."""

from __future__ import annotations

from typing import Any

from env_core.objects import quantity
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SCORE_MAX, Change, Cycle, Plugin, Rejection
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object


def _filter(cycle: Cycle, _state: Any, node: NodeInfo) -> Rejection | None:
    pod = cycle.pod
    if (
        len(node.pods) < node.pods_max
        and pod.cpu <= node.cpu_max - node.cpu
        and pod.memory <= node.memory_max - node.memory
        and pod.storage <= node.storage_max - node.storage
        and not pod.scalars
    ):
        return None
    return _missing(pod, node)


def _missing(pod: PodInfo, node: NodeInfo) -> Rejection | None:
    reasons: list[str] = []
    is_final = False
    if len(node.pods) + 1 > node.pods_max:
        reasons.append("Too many pods")
    rows = [
        ("cpu", pod.cpu, node.cpu, node.cpu_max),
        ("memory", pod.memory, node.memory, node.memory_max),
        ("ephemeral-storage", pod.storage, node.storage, node.storage_max),
    ]
    rows += [
        (name, amount, node.scalars.get(name, 0), node.scalars_max.get(name, 0))
        for name, amount in pod.scalars
    ]
    for name, wanted, used, most in rows:
        if wanted > 0 and wanted > most - used:
            reasons.append(f"Insufficient {name}")
            is_final = is_final or wanted > most
    return Rejection(tuple(reasons), is_final) if reasons else None


def _score(cycle: Cycle, _state: Any, node: NodeInfo) -> int:
    pod = cycle.pod
    total = count = 0
    for most, used in (
        (node.cpu_max, node.nonzero_cpu + pod.nonzero_cpu),
        (node.memory_max, node.nonzero_memory + pod.nonzero_memory),
    ):
        if most:
            total += (most - used) * SCORE_MAX // most if used <= most else 0
            count += 1
    return total // count if count else 0


def _helps(pod: PodInfo, change: Change) -> bool:
    if change.resource == "pods":
        return change.kind == "DELETED" or _requests_less(change)
    return _could_hold(change.new, pod) and (
        change.old is None or _allocatable(change.old) != _allocatable(change.new)
    )


def _requests_less(change: Change) -> bool:
    return change.old is not None and change.old["spec"] != change.new["spec"]


def _allocatable(node: Object) -> Object:
    found: Object = (node.get("status") or {}).get("allocatable") or {}
    return found


def _could_hold(node: Object, pod: PodInfo) -> bool:
    offered = _allocatable(node)
    if quantity.to_bytes(offered.get("pods", "0")) < 1:
        return False
    if pod.cpu > quantity.to_milli(offered.get("cpu", "0")):
        return False
    rows = (("memory", pod.memory), ("ephemeral-storage", pod.storage), *pod.scalars)
    return all(not amount or amount <= quantity.to_bytes(offered.get(name, "0")) for name, amount in rows)


PLUGIN = Plugin(
    name="NodeResourcesFit",
    order=60,
    filter=_filter,
    score=_score,
    watches=("nodes", "pods"),
    helps=_helps,
    source="tests/golden/l0/scheduling.jsonl.gz, ids cpu-*, memory-*, mixed-insufficient, gpu, too-many-pods, least-*",
)
