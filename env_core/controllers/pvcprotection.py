"""Keeps claims that pods use: their finalizer goes once no scheduled pod is left, and a condition says who uses them.

Source: k8s.io/kubernetes pkg/controller/volume/pvcprotection; tests/golden/l2/flows (sts-pvc, pvc-wffc, pvc-lost,
pvc-delete-policy, sched-volume-affinity).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS, is_finished
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.world import Object

RESOURCE = "persistentvolumeclaims"
FINALIZER = "kubernetes.io/pvc-protection"
UNUSED = "Unused"


def _of_pod(pod: Object, _component: Component) -> Iterable[Key]:
    return [Key(pod["metadata"]["namespace"], name) for name in claims_of(pod)]


def claims_of(pod: Object) -> list[str]:
    """Return the names of the claims that a pod's volumes stand for."""
    found: list[str] = []
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            found.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            found.append(f"{pod['metadata']['name']}-{volume['name']}")
    return found


def _reconcile(component: Component, key: Key) -> Requeue | None:
    claim = component.cache.get(RESOURCE, *key)
    if claim is None:
        return None
    metadata = claim["metadata"]
    finalizers = metadata.get("finalizers") or []
    is_going = "deletionTimestamp" in metadata
    is_bound = (claim.get("status") or {}).get("phase") == "Bound"
    if not is_bound and is_going == (FINALIZER not in finalizers):
        return None
    users = [pod for pod in component.cache.list(PODS, key.namespace) if key.name in claims_of(pod)]
    if is_bound:
        # The recorded condition comes with the binding and stays as it was when the volume is lost.
        claim = _marked(component, claim, is_used=not all(is_finished(pod) for pod in users))
        metadata = claim["metadata"]
    if is_going and FINALIZER in finalizers and not any(pod["spec"].get("nodeName") for pod in users):
        # Finished pods count: the kubelet may still have the volume mounted for them.
        kept = [each for each in finalizers if each != FINALIZER]
        component.api.update(RESOURCE, key.namespace, {**claim, "metadata": {**metadata, "finalizers": kept}})
    elif not is_going and FINALIZER not in finalizers:
        held = [*finalizers, FINALIZER]
        component.api.update(RESOURCE, key.namespace, {**claim, "metadata": {**metadata, "finalizers": held}})
    return None


def _marked(component: Component, claim: Object, *, is_used: bool) -> Object:
    """Return the claim with the condition that says whether a pod refers to it, written if it was not."""
    changed = conditions.set_condition(
        claim,
        UNUSED,
        conditions.FALSE if is_used else conditions.TRUE,
        "PodUsingPVC" if is_used else "NoPodsUsingPVC",
        "A pod is currently referencing this PVC"
        if is_used
        else "No pods are currently referencing this PVC",
        now_ms=component.now_ms,
        lastProbeTime=None,
    )
    return (
        claim
        if changed is claim
        else component.api.update_status(RESOURCE, claim["metadata"]["namespace"], changed)
    )


CONTROLLER = Controller(
    name="pvc-protection",
    watches=((RESOURCE, own_key), (PODS, _of_pod)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/volume/pvcprotection; tests/golden/l2/flows (sts-pvc, pvc-lost)",
)
