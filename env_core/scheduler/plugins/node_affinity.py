"""NodeAffinity: nodeSelector and required node affinity filter, preferred affinity scores."""

from __future__ import annotations

from typing import Any, NamedTuple

from env_core.objects.node_matching import required_affinity, term_matches, wants_node
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Change, Cycle, Impossible, Plugin, Rejection, up_to_maximum
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object

_REJECTED = Rejection(("node(s) didn't match Pod's node affinity/selector",), is_final=True)
_NOT_NAMED = Rejection(("node(s) didn't satisfy plugin(s) [NodeAffinity]",), is_final=True)


class _Wanted(NamedTuple):
    spec: Object
    names: frozenset[str] | None


def _prepare(cycle: Cycle) -> Any:
    spec = cycle.pod.spec
    required = required_affinity(spec)
    if required is None and not spec.get("nodeSelector"):
        return SKIP
    names = _names(required) if required is not None else None
    if names is not None and not names:
        raise Impossible("pod affinity terms conflict")
    return _Wanted(spec, names)


def _names(required: Object) -> frozenset[str] | None:
    """Return the only nodes that the terms can mean, None if some term names no node."""
    found: set[str] = set()
    for term in required.get("nodeSelectorTerms") or ():
        named: set[str] | None = None
        for field in term.get("matchFields") or ():
            if field.get("key") == "metadata.name" and field.get("operator") == "In":
                values = set(field.get("values") or ())
                named = values if named is None else named & values
        if named is None:
            return None
        found |= named
    return frozenset(found)


def _filter(_cycle: Cycle, wanted: Any, node: NodeInfo) -> Rejection | None:
    spec, names = wanted
    if names is not None and node.name not in names:
        return _NOT_NAMED
    return None if wants_node(spec, node.name, node.labels) else _REJECTED


def _prepare_score(cycle: Cycle, _nodes: list[NodeInfo]) -> Any:
    affinity = (cycle.pod.spec.get("affinity") or {}).get("nodeAffinity") or {}
    return affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or SKIP


def _score(_cycle: Cycle, preferred: Any, node: NodeInfo) -> int:
    return sum(
        entry.get("weight") or 0
        for entry in preferred
        if term_matches(entry.get("preference") or {}, node.name, node.labels)
    )


def _normalize(_cycle: Cycle, _state: Any, _nodes: list[NodeInfo], scores: list[int]) -> list[int]:
    return up_to_maximum(scores)


def _matches(pod: PodInfo, node: Object) -> bool:
    metadata = node["metadata"]
    return wants_node(pod.spec, metadata["name"], metadata.get("labels") or {})


def _helps(pod: PodInfo, change: Change) -> bool:
    if not _matches(pod, change.new):
        return False
    return change.old is None or not _matches(pod, change.old)


PLUGIN = Plugin(
    name="NodeAffinity",
    order=40,
    prepare=_prepare,
    filter=_filter,
    prepare_score=_prepare_score,
    score=_score,
    normalize=_normalize,
    weight=2,
    helps=_helps,
    source="tests/golden/l0/scheduling.jsonl.gz, ids selector-*, affinity-*; tests/golden/l0/taints_affinity.jsonl.gz",
)
