"""InterPodAffinity: rules about which pods a pod wants near and which it wants away, both ways round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from env_core.apiserver.store import Store
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SCORE_MAX, SKIP, Change, Cycle, Plugin, Rejection
from env_core.scheduler._podinfo import PodInfo, Term, pod_info

_AFFINITY = Rejection(("node(s) didn't match pod affinity rules",), is_final=True)
_ANTI_AFFINITY = Rejection(("node(s) didn't match pod anti-affinity rules",), is_final=False)
_EXISTING = Rejection(("node(s) didn't satisfy existing pods anti-affinity rules",), is_final=False)
_HARD_WEIGHT = 1

Pair = tuple[str, str]


def term_matches(term: Term, pod: PodInfo, store: Store) -> bool:
    """Say whether a pod is one that a term is about."""
    if pod.namespace not in term.namespaces:
        if term.namespace_selector is None:
            return False
        namespace = store.get("namespaces", "", pod.namespace)
        if namespace is None:
            return False
        if not term.namespace_selector.matches(namespace["metadata"].get("labels") or {}):
            return False
    return term.selector.matches(pod.labels)


class _Counts(NamedTuple):
    near: dict[Pair, int]
    far: dict[Pair, int]
    existing: dict[Pair, int]


def _count(counts: dict[Pair, int], node: NodeInfo, key: str, amount: int = 1) -> None:
    value = node.labels.get(key)
    if value is not None:
        counts[(key, value)] = counts.get((key, value), 0) + amount


def _counted(pod: PodInfo, nodes: Iterable[NodeInfo], store: Store) -> _Counts:
    counts = _Counts({}, {}, {})
    has_rules = bool(pod.affinity or pod.anti_affinity)
    for node in nodes:
        for other in node.with_rules:
            for term in other.anti_affinity:
                if term_matches(term, pod, store):
                    _count(counts.existing, node, term.topology_key)
        if has_rules:
            for other in node.pods:
                if pod.affinity and all(term_matches(term, other, store) for term in pod.affinity):
                    for term in pod.affinity:
                        _count(counts.near, node, term.topology_key)
                for term in pod.anti_affinity:
                    if term_matches(term, other, store):
                        _count(counts.far, node, term.topology_key)
    return counts


def _prepare(cycle: Cycle) -> Any:
    pod = cycle.pod
    if not pod.affinity and not pod.anti_affinity:
        if not any(other.anti_affinity for node in cycle.nodes for other in node.with_rules):
            return SKIP
    return _counted(pod, cycle.nodes, cycle.store)


def _filter(cycle: Cycle, counts: Any, node: NodeInfo) -> Rejection | None:
    own = next((other for other in cycle.nodes if other.name == node.name), node)
    if own is not node:
        # Preemption tries the node without some of its pods: count again.
        nodes = [node if other is own else other for other in cycle.nodes]
        counts = _counted(cycle.pod, nodes, cycle.store)
    pod, labels = cycle.pod, node.labels
    if pod.affinity and not _is_near(cycle, counts, node):
        return _AFFINITY
    for term in pod.anti_affinity:
        value = labels.get(term.topology_key)
        if value is not None and counts.far.get((term.topology_key, value), 0) > 0:
            return _ANTI_AFFINITY
    for (key, value), amount in counts.existing.items():
        if amount > 0 and labels.get(key) == value:
            return _EXISTING
    return None


def _is_near(cycle: Cycle, counts: _Counts, node: NodeInfo) -> bool:
    pod, labels = cycle.pod, node.labels
    if not all(term.topology_key in labels for term in pod.affinity):
        return False
    if all(counts.near.get((term.topology_key, labels[term.topology_key]), 0) > 0 for term in pod.affinity):
        return True
    # The first pod of a group that wants to be together may start anywhere.
    return not counts.near and all(term_matches(term, pod, cycle.store) for term in pod.affinity)


def _prepare_score(cycle: Cycle, _nodes: list[NodeInfo]) -> Any:
    pod, store = cycle.pod, cycle.store
    has_rules = bool(pod.preferred_affinity or pod.preferred_anti_affinity)
    totals: dict[Pair, int] = {}
    for node in cycle.nodes:
        for other in node.pods if has_rules else node.with_rules:
            if has_rules:
                for term in pod.preferred_affinity:
                    if term_matches(term, other, store):
                        _count(totals, node, term.topology_key, term.weight)
                for term in pod.preferred_anti_affinity:
                    if term_matches(term, other, store):
                        _count(totals, node, term.topology_key, -term.weight)
            if not other.has_affinity:
                continue
            for term in other.affinity:
                if term_matches(term, pod, store):
                    _count(totals, node, term.topology_key, _HARD_WEIGHT)
            for term in other.preferred_affinity:
                if term_matches(term, pod, store):
                    _count(totals, node, term.topology_key, term.weight)
            for term in other.preferred_anti_affinity:
                if term_matches(term, pod, store):
                    _count(totals, node, term.topology_key, -term.weight)
    return totals or SKIP


def _score(_cycle: Cycle, totals: Any, node: NodeInfo) -> int:
    return sum(amount for (key, value), amount in totals.items() if node.labels.get(key) == value)


def _normalize(_cycle: Cycle, _state: Any, _nodes: list[NodeInfo], scores: list[int]) -> list[int]:
    most, least = max(0, *scores), min(0, *scores)
    if most == least:
        return [0] * len(scores)
    return [int(SCORE_MAX * ((score - least) / (most - least))) for score in scores]


def _helps(pod: PodInfo, change: Change) -> bool:
    if change.resource == "nodes":
        return _node_helps(pod, change)
    if change.kind == "DELETED" or change.old is not None:
        return True
    other = pod_info(change.new)
    return any(
        other.namespace in term.namespaces and term.selector.matches(other.labels) for term in pod.affinity
    )


def _node_helps(pod: PodInfo, change: Change) -> bool:
    labels = change.new["metadata"].get("labels") or {}
    if change.old is not None and change.old["metadata"].get("labels") == change.new["metadata"].get(
        "labels"
    ):
        return False
    terms = (*pod.affinity, *pod.anti_affinity)
    return not terms or any(term.topology_key in labels for term in terms)


PLUGIN = Plugin(
    name="InterPodAffinity",
    order=120,
    prepare=_prepare,
    filter=_filter,
    prepare_score=_prepare_score,
    score=_score,
    normalize=_normalize,
    weight=2,
    watches=("nodes", "pods"),
    helps=_helps,
    source=(
        "tests/golden/l0/scheduling.jsonl.gz, ids podaffinity*, antiaffinity*; "
        "k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity"
    ),
)
