"""NodePorts: two pods cannot have the same host port of one node."""

from __future__ import annotations

from typing import Any

from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Change, Cycle, Plugin, Rejection
from env_core.scheduler._podinfo import PodInfo, Port, pod_info

_REJECTED = Rejection(("node(s) didn't have free ports for the requested pod ports",), is_final=False)
_ANY = ("0.0.0.0", "::")


def _prepare(cycle: Cycle) -> Any:
    return cycle.pod.ports or SKIP


def _conflict(first: Port, second: Port) -> bool:
    if first.port != second.port or first.protocol != second.protocol:
        return False
    return first.ip == second.ip or first.ip in _ANY or second.ip in _ANY


def _filter(_cycle: Cycle, wanted: Any, node: NodeInfo) -> Rejection | None:
    used = node.ports
    return _REJECTED if used and any(_conflict(port, taken) for port in wanted for taken in used) else None


def _helps(pod: PodInfo, change: Change) -> bool:
    if change.resource == "nodes":
        return change.kind == "ADDED"
    if change.kind != "DELETED":
        return False
    freed = pod_info(change.new).ports
    return any(_conflict(port, taken) for port in pod.ports for taken in freed)


PLUGIN = Plugin(
    name="NodePorts",
    order=50,
    prepare=_prepare,
    filter=_filter,
    watches=("nodes", "pods"),
    helps=_helps,
    source="tests/golden/l0/scheduling.jsonl.gz, id hostport; tests/golden/l2/flows/sched-hostport.json.gz",
)
