"""What the scheduler writes: bindings, reserved volumes, evictions, and why a pod has no node."""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.objects import conditions
from env_core.objects.volume_claims import BOUND_BY_CONTROLLER, CLAIMS, SELECTED_NODE, VOLUMES, is_bound
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import Cycle
from env_core.scheduler._podinfo import PodInfo
from env_core.scheduler._volumes import Match, claim_names, matches_on
from env_core.scheduler.preemption import Plan
from env_core.world import Object

VOLUMES_TIMEOUT_MS = 600_000
"""How long a placed pod waits for its claims. Source: VolumeBindingArgs, bindTimeoutSeconds."""
POLL_MS = 1_000
"""How often it is looked whether they are bound; tests/golden/l2/flows (pvc-wffc)."""

_SCHEDULED = "PodScheduled"


def nominate(component: Component, pod: Object, node: str) -> None:
    """Say on the pod where it is expected to go, as what comes before its binding takes time.

    Source: k8s.io/enhancements KEP-5278 (NominatedNodeNameForExpectation); tests/golden/l2/flows (pvc-wffc).
    """
    metadata = pod["metadata"]
    current = component.cache.get("pods", metadata["namespace"], metadata["name"])
    if current is not None and current["metadata"].get("uid") == metadata.get("uid"):
        status = {**(current.get("status") or {}), "nominatedNodeName": node}
        _update_status(component, {**current, "status": status})


def bind(component: Component, pod: Object, node: str) -> None:
    """Bind a pod and say so.

    Raises:
        StatusError: if the API refuses.
    """
    metadata = pod["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": namespace, "uid": metadata.get("uid", "")},
        "target": {"kind": "Node", "name": node},
    }
    component.api.create("pods", namespace, body, subresource="binding", name=name)
    text = f"Successfully assigned {namespace}/{name} to {node}"
    component.recorder.event_v1(pod, "Normal", "Scheduled", "Binding", text)


def report(component: Component, pod: Object, text: str, reason: str, nominated: str) -> None:
    """Record that a pod could not be placed: an event, its PodScheduled condition, its nominated node."""
    component.recorder.event_v1(pod, "Warning", "FailedScheduling", "Scheduling", text)
    metadata = pod["metadata"]
    current = component.cache.get("pods", metadata["namespace"], metadata["name"])
    if current is None or current["metadata"].get("uid") != metadata.get("uid"):
        return
    changed = _with_condition(component, current, _SCHEDULED, "False", reason, text)
    status = changed.get("status") or {}
    if (status.get("nominatedNodeName") or "") != nominated:
        rest = {key: value for key, value in status.items() if key != "nominatedNodeName"}
        changed = {**changed, "status": {**rest, "nominatedNodeName": nominated} if nominated else rest}
    if changed is not current:
        _update_status(component, changed)


def _with_condition(
    component: Component, pod: Object, kind: str, status: str, reason: str, text: str
) -> Object:
    generation = pod["metadata"].get("generation")
    extra = {"observedGeneration": generation} if generation else {}
    return conditions.set_condition(
        pod, kind, status, reason, text, now_ms=component.now_ms, lastProbeTime=None, **extra
    )


def _update_status(component: Component, pod: Object) -> None:
    try:
        component.api.update_status("pods", pod["metadata"]["namespace"], pod)
    except StatusError as error:
        if error.code not in (404, 409):
            raise


def evict(component: Component, preemptor: Object, plan: Plan) -> None:
    """Delete a plan's victims, each marked with why, and tell about it."""
    scheduler = preemptor["spec"].get("schedulerName") or component.name
    text = f"{scheduler}: preempting to accommodate a higher priority pod"
    note = f"Preempted by pod {preemptor['metadata'].get('uid', '')} on node {plan.node}"
    for victim in plan.victims:
        pod = component.cache.get("pods", victim.namespace, victim.name)
        if pod is None or "deletionTimestamp" in pod["metadata"]:
            continue
        marked = _with_condition(component, pod, "DisruptionTarget", "True", "PreemptionByScheduler", text)
        _update_status(component, marked)
        try:
            component.api.delete("pods", victim.namespace, victim.name)
        except StatusError as error:
            if error.code not in (404, 409):
                raise
            continue
        component.recorder.event_v1(pod, "Normal", "Preempted", "Preempting", note, related=preemptor)


def are_claims_bound(component: Component, pod: PodInfo) -> bool:
    """Whether every claim of the pod has its volume for good."""
    for name, _ in claim_names(pod):
        claim = component.cache.get(CLAIMS, pod.namespace, name)
        if claim is None or not is_bound(claim):
            return False
    return True


def reserve_volumes(component: Component, cycle: Cycle, node: NodeInfo) -> bool:
    """Reserve volumes on the node for claims that wait for one, or ask for them; return whether none had to wait."""
    pod = cycle.pod
    waiting = []
    for name, _ in claim_names(pod):
        claim = component.cache.get(CLAIMS, pod.namespace, name)
        if claim is not None and not is_bound(claim):
            waiting.append(claim)
    if not waiting:
        return True
    for match in matches_on(node, waiting, component.cache) or ():
        _reserve(component, match, node)
    return False


def _reserve(component: Component, match: Match, node: NodeInfo) -> None:
    claim, volume = match
    metadata = claim["metadata"]
    try:
        if volume is not None:
            reference = {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata.get("uid", ""),
                "resourceVersion": metadata.get("resourceVersion", ""),
            }
            marked = _annotated(volume, BOUND_BY_CONTROLLER, "yes")
            component.api.update(VOLUMES, "", {**marked, "spec": {**marked["spec"], "claimRef": reference}})
        elif (metadata.get("annotations") or {}).get(SELECTED_NODE) != node.name:
            component.api.update(CLAIMS, metadata["namespace"], _annotated(claim, SELECTED_NODE, node.name))
    except StatusError as error:
        if error.code not in (404, 409):
            raise


def _annotated(obj: Object, key: str, value: str) -> Object:
    metadata = obj["metadata"]
    return {
        **obj,
        "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), key: value}},
    }
