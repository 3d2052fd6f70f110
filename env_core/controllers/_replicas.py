"""Keeping a number of equal pods: the loop that ReplicaSets and ReplicationControllers share.

Source: k8s.io/kubernetes pkg/controller/replicaset replica_set.go, replica_set_utils.go;
tests/golden/l2/flows (ids rs-, deploy-, rc-).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Key, Requeue
from env_core.controllers._pods import (
    PODS,
    claimed,
    controller_of,
    create_pod,
    delete_pod,
    in_batches,
    is_active,
    is_terminating,
    pod_of,
    until_available,
)
from env_core.controllers._victims import victims_first
from env_core.objects import conditions
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

BURST_MAX = 500
FAILURE = "ReplicaFailure"


@dataclass(frozen=True, slots=True)
class Flavour:
    """What differs between the two kinds."""

    resource: str
    selector_of: Callable[[Object], Mapping[str, Any] | None]


def reconcile(component: Component, key: Key, flavour: Flavour) -> Requeue | None:
    """Bring the pods of one owner to their number and its status up to date.

    Raises:
        StatusError: the first refusal, after the status tells of it.
    """
    owner = component.cache.get(flavour.resource, key.namespace, key.name)
    if owner is None:
        return None
    spec = owner["spec"]
    pods = claimed(component, owner, flavour.selector_of(owner))
    active = [pod for pod in pods if is_active(pod)]
    missing = spec.get("replicas", 1) - len(active)
    failure = None
    if missing and "deletionTimestamp" not in owner["metadata"]:
        failure = (
            _create(component, owner, missing) if missing > 0 else _delete(component, owner, active, -missing)
        )
    now_ms = component.now_ms
    terminating = sum(1 for pod in pods if is_terminating(pod))
    status = _status(owner, active, terminating, missing, failure, now_ms)
    if status != owner.get("status"):
        component.api.update_status(flavour.resource, key.namespace, {**owner, "status": status})
    if failure is not None:
        raise failure
    return until_available(active, spec.get("minReadySeconds", 0), now_ms)


def _create(component: Component, owner: Object, count: int) -> StatusError | None:
    pod = pod_of(owner["spec"]["template"], owner, generateName=f"{owner['metadata']['name']}-")

    def create(_number: int) -> None:
        create_pod(component, owner, pod)

    return in_batches(min(count, BURST_MAX), create)


def _delete(component: Component, owner: Object, active: list[Object], count: int) -> StatusError | None:
    count = min(count, BURST_MAX)
    doomed = active
    if count < len(active):
        counts = _active_by_node(component, owner)
        neighbours = [counts.get(pod["spec"].get("nodeName") or "", 0) for pod in active]
        doomed = victims_first(active, neighbours, component.now_ms)[:count]
    failure = None
    for pod in doomed:
        try:
            delete_pod(component, owner, pod)
        except StatusError as error:
            failure = failure or error
    return failure


def _active_by_node(component: Component, owner: Object) -> dict[str, int]:
    """Count the active pods of all owners that share this one's own owner, by node ("" for none)."""
    cache = component.cache
    related = [owner]
    parent = controller_of(owner["metadata"])
    if parent is not None:
        related = [other for other in cache.owned(parent["uid"]) if other["kind"] == owner["kind"]]
    counts: dict[str, int] = {}
    for other in related:
        for pod in cache.owned(other["metadata"]["uid"], PODS):
            if is_active(pod):
                node = pod["spec"].get("nodeName") or ""
                counts[node] = counts.get(node, 0) + 1
    return counts


def _status(
    owner: Object,
    active: Sequence[Object],
    terminating: int,
    missing: int,
    failure: StatusError | None,
    now_ms: int,
) -> Object:
    spec, old = owner["spec"], owner.get("status") or {}
    wanted = ((spec["template"].get("metadata") or {}).get("labels") or {}).items()
    min_ready = spec.get("minReadySeconds", 0)
    labelled = ready = available = 0
    for pod in active:
        labels = pod["metadata"].get("labels") or {}
        labelled += all(labels.get(name) == value for name, value in wanted)
        if conditions.is_pod_ready(pod):
            ready += 1
            available += not min_ready or conditions.is_pod_available(pod, min_ready, now_ms)
    status: Object = {"replicas": len(active)}
    if labelled:
        status["fullyLabeledReplicas"] = labelled
    if ready:
        status["readyReplicas"] = ready
    if available:
        status["availableReplicas"] = available
    if owner["kind"] == "ReplicaSet":
        status["terminatingReplicas"] = terminating
    status["observedGeneration"] = owner["metadata"]["generation"]
    known = _conditions(old.get("conditions") or [], missing, failure, now_ms)
    if known:
        status["conditions"] = known
    return status


def _conditions(known: list[Object], missing: int, failure: StatusError | None, now_ms: int) -> list[Object]:
    current = conditions.find(known, FAILURE)
    if failure is None:
        return known if current is None else [entry for entry in known if entry is not current]
    if current is not None:
        return known
    # The first failure's text stays: a later one does not replace it.
    entry = {
        "type": FAILURE,
        "status": "True",
        "lastTransitionTime": rfc3339(now_ms),
        "reason": "FailedCreate" if missing > 0 else "FailedDelete",
        "message": failure.message,
    }
    return [*known, entry]
