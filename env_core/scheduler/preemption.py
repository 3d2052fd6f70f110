"""Preemption: which pods of lower priority would have to go so that a pod fits, and on which node.

Source: tests/golden/l0/scheduling.jsonl.gz (ids preempt*, spread, cpu-full); tests/golden/l2/flows/sched-preempt.json.gz;
k8s.io/kubernetes pkg/scheduler/framework/preemption.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from env_core.apiserver.store import Store
from env_core.objects import selectors
from env_core.scheduler._framework import Filters, Verdict, judge, reasons_text
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import Cycle, Rejection
from env_core.scheduler._podinfo import PodInfo, started_ms

BUDGETS = "poddisruptionbudgets.policy"
_UNHELPFUL = Rejection(("Preemption is not helpful for scheduling",), is_final=True)
_NO_VICTIMS = Rejection(("No preemption victims found for incoming pod",), is_final=True)
_NEVER = "not eligible due to preemptionPolicy=Never."
_TERMINATING = "not eligible due to a terminating pod on the nominated node."
_PRIORITY_OFFSET = 1 << 31


class Plan(NamedTuple):
    """Where the pod could go once the victims have left; the most important victim comes first."""

    node: str
    victims: tuple[PodInfo, ...]
    violations: int


class Outcome(NamedTuple):
    """The text for the pod's condition, and the plan if there is one."""

    text: str
    plan: Plan | None
    keeps_nomination: bool = False


def first(plans: Sequence[Plan]) -> Plan:
    """Return the first of several plans of equal cost (upstream begins at a node that is drawn)."""
    return plans[0]


def preempt(
    cycle: Cycle,
    filters: Filters,
    verdict: Verdict,
    overlays: dict[str, NodeInfo],
    choose: Callable[[Sequence[Plan]], Plan] = first,
) -> Outcome:
    """Find the node where evicting the least lets the pod in; `choose` takes one of those that cost the same."""
    why = _ineligible(cycle, verdict)
    if why:
        return Outcome(f"preemption: {why}", None, keeps_nomination=True)
    plans: list[Plan] = []
    rejections: list[Rejection] = []
    budgets = _budgets(cycle.store)
    for node in cycle.nodes:
        rejection = verdict.rejections[node.name]
        if rejection.is_final:
            rejections.append(_UNHELPFUL)
            continue
        found = _victims(cycle, filters, overlays.get(node.name, node), budgets)
        if isinstance(found, Plan):
            plans.append(found)
        else:
            rejections.append(found)
    if not plans:
        return Outcome(f"preemption: {reasons_text(len(cycle.nodes), rejections)}", None)
    least = min(map(_cost, plans))
    chosen = choose([plan for plan in plans if _cost(plan) == least])
    text = (
        f"found a potential placement for pod on node {chosen.node}, preempting {len(chosen.victims)} victims"
    )
    return Outcome(f"preemption: {text}", chosen)


def _ineligible(cycle: Cycle, verdict: Verdict) -> str:
    pod = cycle.pod
    if pod.spec.get("preemptionPolicy") == "Never":
        return _NEVER
    nominated = (pod.pod.get("status") or {}).get("nominatedNodeName")
    if not nominated:
        return ""
    rejection = verdict.rejections.get(nominated)
    if rejection is not None and rejection.is_final:
        return ""
    for node in cycle.nodes:
        if node.name == nominated:
            if any(other.is_terminating and other.priority < pod.priority for other in node.pods):
                return _TERMINATING
    return ""


def _budgets(store: Store) -> list[tuple[str, selectors.LabelSelector, int]]:
    found = []
    for budget in store.list(BUDGETS):
        selector = (budget.get("spec") or {}).get("selector")
        if selector is not None:
            allowed = (budget.get("status") or {}).get("disruptionsAllowed") or 0
            found.append((budget["metadata"]["namespace"], selectors.from_object(selector), allowed))
    return found


def _importance(pod: PodInfo) -> tuple[int, int]:
    return (-pod.priority, pod.start_ms or (1 << 62))


def _as_it_is(store: Store, pod: PodInfo) -> PodInfo:
    """Return a pod with the start that its status tells by now: the sums over nodes do not follow statuses."""
    found = store.get("pods", pod.namespace, pod.name)
    if found is None or found["metadata"].get("uid") != pod.uid:
        return pod
    return replace(pod, start_ms=started_ms(found))


def _victims(
    cycle: Cycle,
    filters: Filters,
    node: NodeInfo,
    budgets: list[tuple[str, selectors.LabelSelector, int]],
) -> Plan | Rejection:
    pod = cycle.pod
    lower = sorted(
        (_as_it_is(cycle.store, other) for other in node.pods if other.priority < pod.priority),
        key=_importance,
    )
    if not lower:
        return _NO_VICTIMS
    gone = {other.uid for other in lower}
    failed = judge(cycle, filters, node.without(gone))
    if failed is not None:
        return failed[1]
    violating, others = _split(lower, budgets)
    victims: list[PodInfo] = []
    violations = 0
    for group in (violating, others):
        for other in group:
            spared = gone - {other.uid}
            if judge(cycle, filters, node.without(spared)) is None:
                gone = spared
            else:
                victims.append(other)
                violations += group is violating
    return Plan(node.name, tuple(sorted(victims, key=_importance)), violations)


def _split(
    pods: list[PodInfo], budgets: list[tuple[str, selectors.LabelSelector, int]]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """Return the pods whose eviction would break a disruption budget, and the others."""
    left = [allowed for _, _, allowed in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        is_violation = False
        for index, (namespace, selector, _) in enumerate(budgets):
            if namespace == pod.namespace and pod.labels and selector.matches(pod.labels):
                left[index] -= 1
                is_violation = is_violation or left[index] < 0
        (violating if is_violation else others).append(pod)
    return violating, others


def _cost(plan: Plan) -> tuple[int, int, int, int, int]:
    victims = plan.victims
    highest = victims[0].priority if victims else -_PRIORITY_OFFSET
    started = [pod.start_ms for pod in victims if pod.priority == highest]
    return (
        plan.violations,
        highest,
        sum(pod.priority + _PRIORITY_OFFSET for pod in victims),
        len(victims),
        -min(started, default=0),
    )
