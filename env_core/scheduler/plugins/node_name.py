"""NodeName: a pod that asks for one node by name goes there or nowhere."""

from __future__ import annotations

from typing import Any

from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Cycle, Plugin, Rejection

_REJECTED = Rejection(("node(s) didn't match the requested node name",), is_final=True)


def _prepare(cycle: Cycle) -> Any:
    return cycle.pod.spec.get("nodeName") or SKIP


def _filter(_cycle: Cycle, wanted: Any, node: NodeInfo) -> Rejection | None:
    return None if node.name == wanted else _REJECTED


PLUGIN = Plugin(
    name="NodeName",
    order=20,
    prepare=_prepare,
    filter=_filter,
    source="k8s.io/kubernetes pkg/scheduler/framework/plugins/nodename",
)
