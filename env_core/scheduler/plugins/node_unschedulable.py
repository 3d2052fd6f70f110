"""NodeUnschedulable: cordoned nodes take only pods that tolerate it."""

from __future__ import annotations

from typing import Any

from env_core.objects.node_matching import tolerates
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Change, Cycle, Plugin, Rejection
from env_core.scheduler._podinfo import PodInfo

_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_REJECTED = Rejection(("node(s) were unschedulable",), is_final=True)


def _prepare(cycle: Cycle) -> Any:
    if not any(node.is_unschedulable for node in cycle.nodes):
        return SKIP
    tolerations = cycle.pod.spec.get("tolerations") or ()
    return SKIP if any(tolerates(toleration, _TAINT) for toleration in tolerations) else None


def _filter(_cycle: Cycle, _state: Any, node: NodeInfo) -> Rejection | None:
    return _REJECTED if node.is_unschedulable else None


def _helps(_pod: PodInfo, change: Change) -> bool:
    was = change.old is None or bool((change.old.get("spec") or {}).get("unschedulable"))
    return was and not (change.new.get("spec") or {}).get("unschedulable")


PLUGIN = Plugin(
    name="NodeUnschedulable",
    order=10,
    prepare=_prepare,
    filter=_filter,
    helps=_helps,
    source="tests/golden/l0/scheduling.jsonl.gz, ids unschedulable*",
)
