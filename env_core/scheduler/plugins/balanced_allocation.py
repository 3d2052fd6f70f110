"""NodeResourcesBalancedAllocation: prefer nodes whose CPU and memory would fill up alike."""

from __future__ import annotations

from typing import Any

from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SCORE_MAX, SKIP, Cycle, Plugin


def _prepare_score(cycle: Cycle, _nodes: list[NodeInfo]) -> Any:
    pod = cycle.pod
    return None if pod.cpu or pod.memory else SKIP


def _score(cycle: Cycle, _state: Any, node: NodeInfo) -> int:
    pod = cycle.pod
    if not node.cpu_max or not node.memory_max:
        return SCORE_MAX
    cpu = min((node.cpu + pod.cpu) / node.cpu_max, 1.0)
    memory = min((node.memory + pod.memory) / node.memory_max, 1.0)
    return int((1 - abs(cpu - memory) / 2) * SCORE_MAX)


PLUGIN = Plugin(
    name="NodeResourcesBalancedAllocation",
    order=130,
    prepare_score=_prepare_score,
    score=_score,
    source="tests/golden/l0/scheduling.jsonl.gz, id balanced",
)
