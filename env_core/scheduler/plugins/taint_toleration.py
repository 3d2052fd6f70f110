"""TaintToleration: keep pods off tainted nodes, and rather off nodes with soft taints."""

from __future__ import annotations

from typing import Any

from env_core.objects.node_matching import tolerates, untolerated
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Change, Cycle, Plugin, Rejection, up_to_maximum
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object

_REJECTED = Rejection(("node(s) had untolerated taint(s)",), is_final=True)
_BLOCKING = ("NoSchedule", "NoExecute")


def _prepare(cycle: Cycle) -> Any:
    if not any(node.taints for node in cycle.nodes):
        return SKIP
    return cycle.pod.spec.get("tolerations") or ()


def _filter(_cycle: Cycle, tolerations: Any, node: NodeInfo) -> Rejection | None:
    return _REJECTED if node.taints and untolerated(node.taints, tolerations) is not None else None


def _prepare_score(cycle: Cycle, nodes: list[NodeInfo]) -> Any:
    if not any(node.soft_taints for node in nodes):
        return SKIP
    return tuple(
        toleration
        for toleration in cycle.pod.spec.get("tolerations") or ()
        if toleration.get("effect") in (None, "", "PreferNoSchedule")
    )


def _score(_cycle: Cycle, tolerations: Any, node: NodeInfo) -> int:
    return sum(1 for taint in node.soft_taints if not any(tolerates(entry, taint) for entry in tolerations))


def _normalize(_cycle: Cycle, _state: Any, _nodes: list[NodeInfo], scores: list[int]) -> list[int]:
    return up_to_maximum(scores, is_reversed=True)


def _is_open(node: Object, tolerations: Any) -> bool:
    taints = (node.get("spec") or {}).get("taints") or ()
    return untolerated((taint for taint in taints if taint.get("effect") in _BLOCKING), tolerations) is None


def _helps(pod: PodInfo, change: Change) -> bool:
    tolerations = pod.spec.get("tolerations") or ()
    was_closed = change.old is None or not _is_open(change.old, tolerations)
    return was_closed and _is_open(change.new, tolerations)


PLUGIN = Plugin(
    name="TaintToleration",
    order=30,
    prepare=_prepare,
    filter=_filter,
    prepare_score=_prepare_score,
    score=_score,
    normalize=_normalize,
    weight=3,
    helps=_helps,
    source="tests/golden/l0/scheduling.jsonl.gz, ids taint*; tests/golden/l0/taints_affinity.jsonl.gz",
)
