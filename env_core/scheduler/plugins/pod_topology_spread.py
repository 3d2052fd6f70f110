"""PodTopologySpread: spread a pod's kind over hosts and zones, by its own rules or the cluster's defaults."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from env_core.objects import selectors
from env_core.objects.node_matching import untolerated, wants_node
from env_core.objects.selectors import LabelSelector
from env_core.scheduler._nodeinfo import HOSTNAME, NodeInfo
from env_core.scheduler._plugin import SCORE_MAX, SKIP, Change, Cycle, Plugin, Rejection
from env_core.scheduler._podinfo import PodInfo
from env_core.scheduler._spread_defaults import default_selector
from env_core.world import Object

_SKEWED = Rejection(("node(s) didn't match pod topology spread constraints",), is_final=False)
_NO_LABEL = Rejection(
    ("node(s) didn't match pod topology spread constraints (missing required label)",), is_final=True
)
_ZONE = "topology.kubernetes.io/zone"
_DEFAULTS = ((HOSTNAME, 3), (_ZONE, 5))


class _Constraint(NamedTuple):
    key: str
    skew_max: int
    selector: LabelSelector
    domains_min: int
    is_affinity_honored: bool
    are_taints_honored: bool
    self_matches: int


class _Spread(NamedTuple):
    constraints: list[_Constraint]
    counts: list[dict[str, int]]


def _constraints(pod: PodInfo, action: str) -> list[_Constraint]:
    return [
        _constraint(pod, entry)
        for entry in pod.spec.get("topologySpreadConstraints") or ()
        if entry.get("whenUnsatisfiable") == action
    ]


def _constraint(pod: PodInfo, entry: Object) -> _Constraint:
    given = entry.get("labelSelector")
    keys = entry.get("matchLabelKeys")
    if keys and given is not None:
        added = [
            {"key": key, "operator": "In", "values": [pod.labels[key]]} for key in keys if key in pod.labels
        ]
        given = {**given, "matchExpressions": [*(given.get("matchExpressions") or ()), *added]}
    selector = selectors.from_object(given)
    return _Constraint(
        key=entry.get("topologyKey") or "",
        skew_max=entry.get("maxSkew") or 1,
        selector=selector,
        domains_min=entry.get("minDomains") or 1,
        is_affinity_honored=entry.get("nodeAffinityPolicy", "Honor") == "Honor",
        are_taints_honored=entry.get("nodeTaintsPolicy", "Ignore") == "Honor",
        self_matches=1 if selector.matches(pod.labels) else 0,
    )


def _counts(pod: PodInfo, constraint: _Constraint, node: NodeInfo) -> bool:
    """Say whether the node takes part: its domain counts and its pods are counted."""
    if constraint.is_affinity_honored and not wants_node(pod.spec, node.name, node.labels):
        return False
    if constraint.are_taints_honored:
        return untolerated(node.taints, pod.spec.get("tolerations") or ()) is None
    return True


def _matching(pod: PodInfo, selector: LabelSelector, node: NodeInfo) -> int:
    return node.matching(pod.namespace, selector)


def _prepare(cycle: Cycle) -> Any:
    constraints = _constraints(cycle.pod, "DoNotSchedule")
    if not constraints:
        return SKIP
    counts: list[dict[str, int]] = [{} for _ in constraints]
    for node in cycle.nodes:
        if not all(constraint.key in node.labels for constraint in constraints):
            continue
        for constraint, count in zip(constraints, counts, strict=True):
            if _counts(cycle.pod, constraint, node):
                value = node.labels[constraint.key]
                count[value] = count.get(value, 0) + _matching(cycle.pod, constraint.selector, node)
    return _Spread(constraints, counts)


def _filter(cycle: Cycle, spread: Any, node: NodeInfo) -> Rejection | None:
    constraints, counts = spread
    own = next((other for other in cycle.nodes if other.name == node.name), node)
    for constraint, count in zip(constraints, counts, strict=True):
        value = node.labels.get(constraint.key)
        if value is None:
            return _NO_LABEL
        least = min(count.values(), default=0)
        here = count.get(value, 0)
        if own is not node:
            # Preemption tries the node without some of its pods.
            selector = constraint.selector
            gone = _matching(cycle.pod, selector, own) - _matching(cycle.pod, selector, node)
            here -= gone
            if value in count:
                least = min([here, *(amount for key, amount in count.items() if key != value)])
        if len(count) < constraint.domains_min:
            least = 0
        if here + constraint.self_matches - least > constraint.skew_max:
            return _SKEWED
    return None


class _Soft(NamedTuple):
    constraints: list[_Constraint]
    counts: list[dict[str, int]]
    weights: list[float]
    ignored: frozenset[str]


def _prepare_score(cycle: Cycle, nodes: list[NodeInfo]) -> Any:
    pod = cycle.pod
    is_own = bool(pod.spec.get("topologySpreadConstraints"))
    constraints = _constraints(pod, "ScheduleAnyway") if is_own else _default_constraints(cycle)
    if not constraints:
        return SKIP
    ignored = frozenset(
        node.name
        for node in nodes
        if is_own and not all(constraint.key in node.labels for constraint in constraints)
    )
    counts: list[dict[str, int]] = []
    weights: list[float] = []
    for constraint in constraints:
        if constraint.key == HOSTNAME:
            counts.append({})
            weights.append(math.log(len(nodes) - len(ignored) + 2))
            continue
        count = {node.labels.get(constraint.key, ""): 0 for node in nodes if node.name not in ignored}
        for node in cycle.nodes:
            value = node.labels.get(constraint.key, "")
            has_all = not is_own or all(entry.key in node.labels for entry in constraints)
            if value in count and has_all and _counts(pod, constraint, node):
                count[value] += _matching(pod, constraint.selector, node)
        counts.append(count)
        weights.append(math.log(len(count) + 2))
    return _Soft(constraints, counts, weights, ignored)


def _default_constraints(cycle: Cycle) -> list[_Constraint]:
    selector = default_selector(cycle.pod, cycle.store)
    if selector is None:
        return []
    return [
        _Constraint(key, skew_max, selector, 1, True, False, 1)
        for key, skew_max in _DEFAULTS
        if any(key in node.labels for node in cycle.nodes)
    ]


def _score(cycle: Cycle, soft: Any, node: NodeInfo) -> int:
    if node.name in soft.ignored:
        return 0
    total = 0.0
    for constraint, count, weight in zip(soft.constraints, soft.counts, soft.weights, strict=True):
        value = node.labels.get(constraint.key)
        if value is None:
            continue
        if constraint.key == HOSTNAME:
            amount = _matching(cycle.pod, constraint.selector, node)
        else:
            amount = count[value]
        total += amount * weight + (constraint.skew_max - 1)
    return math.floor(total + 0.5)


def _normalize(_cycle: Cycle, soft: Any, nodes: list[NodeInfo], scores: list[int]) -> list[int]:
    counted = [score for node, score in zip(nodes, scores, strict=True) if node.name not in soft.ignored]
    least, most = min(counted, default=0), max(counted, default=0)
    return [
        0
        if node.name in soft.ignored
        else SCORE_MAX
        if most == 0
        else SCORE_MAX * (most + least - score) // most
        for node, score in zip(nodes, scores, strict=True)
    ]


def _helps(pod: PodInfo, change: Change) -> bool:
    if change.resource == "nodes":
        return _node_helps(pod, change)
    metadata = change.new["metadata"]
    if metadata.get("namespace") != pod.namespace:
        return False
    labels = [metadata.get("labels") or {}]
    if change.old is not None:
        labels.append(change.old["metadata"].get("labels") or {})
    return any(
        constraint.selector.matches(entry)
        for constraint in _constraints(pod, "DoNotSchedule")
        for entry in labels
    )


def _node_helps(pod: PodInfo, change: Change) -> bool:
    labels = change.new["metadata"].get("labels") or {}
    if not all(constraint.key in labels for constraint in _constraints(pod, "DoNotSchedule")):
        return False
    if change.kind != "MODIFIED" or change.old is None:
        return True
    before = change.old
    return bool(
        (before["metadata"].get("labels") or {}) != labels
        or (before.get("spec") or {}).get("taints") != (change.new.get("spec") or {}).get("taints")
    )


PLUGIN = Plugin(
    name="PodTopologySpread",
    order=110,
    prepare=_prepare,
    filter=_filter,
    prepare_score=_prepare_score,
    score=_score,
    normalize=_normalize,
    weight=2,
    watches=("nodes", "pods"),
    helps=_helps,
    source=(
        "tests/golden/l0/scheduling.jsonl.gz, ids spread*; "
        "k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread"
    ),
)
