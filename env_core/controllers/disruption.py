"""PodDisruptionBudgets: how many of their pods may go now.

Source: k8s.io/kubernetes pkg/controller/disruption; tests/golden/l2/flows (ids pdb-).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS, controller_of, selects
from env_core.controllers._retry import retrying
from env_core.controllers._selector_text import go_text
from env_core.objects import conditions
from env_core.objects.int_or_percent import IntOrPercentError, scaled_value
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

RESOURCE = "poddisruptionbudgets.policy"
DELETION_TIMEOUT_MS = 120_000
_SCALED = {
    ("apps/v1", "ReplicaSet"): "replicasets.apps",
    ("apps/v1", "StatefulSet"): "statefulsets.apps",
    ("v1", "ReplicationController"): "replicationcontrollers",
}


class _ScaleProblem(Exception):
    """The pods' controllers do not tell how many pods there should be."""


class _Expected(NamedTuple):
    """How many pods there should be, how many of them healthy, and which nobody manages."""

    total: int
    healthy: int
    unmanaged: tuple[str, ...]


def _of_pod(pod: Object, component: Component) -> Iterable[Key]:
    metadata = pod["metadata"]
    namespace = metadata["namespace"]
    if not component.cache.count(RESOURCE, namespace):
        return ()
    labels = metadata.get("labels") or {}
    return [
        Key(namespace, budget["metadata"]["name"])
        for budget in component.cache.list(RESOURCE, namespace)
        if selects(budget["spec"].get("selector"), labels)
    ]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    budget = component.cache.get(RESOURCE, *key)
    if budget is None:
        return None
    selector = budget["spec"].get("selector")
    pods = [
        pod
        for pod in component.cache.list(PODS, key.namespace)
        if selects(selector, pod["metadata"].get("labels") or {})
    ]
    if not pods:
        component.recorder.event(budget, "Normal", "NoPods", "No matching pods found")
    try:
        expected = _expected(component, budget, pods)
    except (_ScaleProblem, IntOrPercentError) as problem:
        text = f"Failed to calculate the number of expected pods: {problem}"
        component.recorder.event(budget, "Warning", "CalculateExpectedPodCountFailed", text)
        _fail_safe(component, budget, str(problem))
        return None
    if expected.unmanaged:
        component.recorder.event(budget, "Warning", "UnmanagedPods", _unmanaged_text(selector))
    disrupted, requeue = _disrupted(component, budget, pods)
    healthy = sum(1 for pod in pods if _is_healthy(pod, disrupted))
    _write(component, budget, expected, healthy, disrupted)
    return requeue


def _unmanaged_text(selector: Object | None) -> str:
    return (
        f"Pods selected by this PodDisruptionBudget (selector: {go_text(selector or {})}) were found to be unmanaged. "
        "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "
        'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
    )


def _expected(component: Component, budget: Object, pods: Sequence[Object]) -> _Expected:
    spec = budget["spec"]
    if spec.get("maxUnavailable") is not None:
        count, unmanaged = _expected_scale(component, pods)
        unavailable = scaled_value(spec["maxUnavailable"], count, round_up=True)
        return _Expected(count, max(count - unavailable, 0), unmanaged)
    least = spec.get("minAvailable")
    if least is None:
        return _Expected(0, 0, ())
    if isinstance(least, int):
        return _Expected(len(pods), least, ())
    count, unmanaged = _expected_scale(component, pods)
    return _Expected(count, scaled_value(least, count, round_up=True), unmanaged)


def _expected_scale(component: Component, pods: Sequence[Object]) -> tuple[int, tuple[str, ...]]:
    """Return the sum of the sizes of the pods' controllers, and the pods that have none."""
    sizes: dict[str, int] = {}
    unmanaged = []
    for pod in pods:
        metadata = pod["metadata"]
        owner = controller_of(metadata)
        if owner is None:
            unmanaged.append(metadata["name"])
            continue
        if owner["uid"] in sizes:
            continue
        found = _scale_of(component, metadata["namespace"], owner)
        if found is None:
            raise _ScaleProblem(f'found no controllers for pod "{metadata["name"]}"')
        uid, size = found
        sizes[uid] = size
    return sum(sizes.values()), tuple(unmanaged)


def _scale_of(component: Component, namespace: str, owner: Object) -> tuple[str, int] | None:
    """Return uid and size of what scales the pods of `owner`: itself, or the Deployment above it."""
    resource = _SCALED.get((owner["apiVersion"], owner["kind"]))
    if resource is None:
        return None
    found = component.cache.get(resource, namespace, owner["name"])
    if found is None or found["metadata"]["uid"] != owner["uid"]:
        return None
    parent = controller_of(found["metadata"])
    if owner["kind"] == "ReplicaSet" and parent is not None and parent["kind"] == "Deployment":
        deployment = component.cache.get("deployments.apps", namespace, parent["name"])
        if deployment is None or deployment["metadata"]["uid"] != parent["uid"]:
            return None
        found = deployment
    return found["metadata"]["uid"], found["spec"].get("replicas", 1)


def _disrupted(
    component: Component, budget: Object, pods: Sequence[Object]
) -> tuple[dict[str, str], Requeue | None]:
    """Return the evicted pods that are still to be seen deleted, and when to give up waiting for the first."""
    known = (budget.get("status") or {}).get("disruptedPods") or {}
    if not known:
        return {}, None
    now_ms = component.now_ms
    waiting: dict[str, str] = {}
    waits = []
    for pod in pods:
        metadata = pod["metadata"]
        since = known.get(metadata["name"])
        if since is None or "deletionTimestamp" in metadata:
            continue
        due_ms = parse_ms(since) + DELETION_TIMEOUT_MS
        if due_ms < now_ms:
            name = budget["metadata"]["name"]
            text = f"Pod was expected by PDB {metadata['namespace']}/{name} to be deleted but it wasn't"
            component.recorder.event(pod, "Warning", "NotDeleted", text)
        else:
            waiting[metadata["name"]] = since
            waits.append(due_ms + 1 - now_ms)
    return waiting, Requeue(min(waits)) if waits else None


def _is_healthy(pod: Object, disrupted: Mapping[str, str]) -> bool:
    metadata = pod["metadata"]
    if "deletionTimestamp" in metadata or metadata["name"] in disrupted:
        return False
    return conditions.is_pod_ready(pod)


def _write(
    component: Component, budget: Object, expected: _Expected, healthy: int, disrupted: Mapping[str, str]
) -> None:
    allowed = max(healthy - expected.healthy, 0) if expected.total > 0 else 0
    old = budget.get("status") or {}
    generation = budget["metadata"].get("generation", 0)
    status: Object = {
        "observedGeneration": generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": expected.healthy,
        "expectedPods": expected.total,
    }
    if disrupted:
        status["disruptedPods"] = dict(disrupted)
    state = ("True", "SufficientPods", "") if allowed > 0 else ("False", "InsufficientPods", "")
    status["conditions"] = conditions.set_meta_condition(
        old.get("conditions"), "DisruptionAllowed", state, generation, component.now_ms
    )
    if status != old:
        component.api.update_status(RESOURCE, budget["metadata"]["namespace"], {**budget, "status": status})


def _fail_safe(component: Component, budget: Object, message: str) -> None:
    """Allow no disruption while the budget cannot be worked out."""
    old = budget.get("status") or {}
    generation = budget["metadata"].get("generation", 0)
    known = conditions.set_meta_condition(
        old.get("conditions"),
        "DisruptionAllowed",
        ("False", "SyncFailed", message),
        generation,
        component.now_ms,
    )
    zeros = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    status = {**zeros, **old, "disruptionsAllowed": 0, "conditions": known}
    if status != old:
        component.api.update_status(RESOURCE, budget["metadata"]["namespace"], {**budget, "status": status})


CONTROLLER = Controller(
    name="disruption",
    component="controllermanager",
    watches=((RESOURCE, own_key), (PODS, _of_pod)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/disruption; tests/golden/l2/flows (ids pdb-)",
)
