"""Taint eviction: pods leave nodes whose NoExecute taints they do not tolerate, or not for longer.

Source: k8s.io/kubernetes pkg/controller/tainteviction; tests/golden/l2/flows (node-down, node-taint-noexecute).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS
from env_core.controllers._retry import retrying
from env_core.controllers._tolerations import toleration_ms, used_tolerations
from env_core.objects import conditions
from env_core.world import Object

NODES = "nodes"
_PENDING = "pending"


class _Pending(NamedTuple):
    """A pod that leaves at `due_ms` unless its node's taints go."""

    uid: str
    node: str
    since_ms: int
    due_ms: int


def _noexecute(node: Object | None) -> list[Object]:
    taints = (node["spec"].get("taints") or ()) if node is not None else ()
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]


def _of_pod(pod: Object, component: Component) -> Iterable[Key]:
    node_name = pod["spec"].get("nodeName")
    if not node_name:
        return ()
    node = component.cache.get(NODES, "", node_name)
    if node is None or not node["spec"].get("taints"):
        return ()
    return (Key("", node_name),) if _noexecute(node) else ()


def _reconcile(component: Component, key: Key) -> Requeue | None:
    taints = _noexecute(component.cache.get(NODES, "", key.name))
    pending = component.table(_PENDING)
    if not taints:
        _cancel_all(component, key.name)
        return None
    now_ms = component.now_ms
    waits = []
    for pod in component.cache.indexed("node", key.name):
        metadata = pod["metadata"]
        place = (metadata["namespace"], metadata["name"])
        known: _Pending | None = pending.get(place)
        if known is not None and known.uid != metadata["uid"]:
            known = None
        if "deletionTimestamp" in metadata:
            pending.pop(place)
            continue
        used = used_tolerations(pod, taints)
        limit_ms = toleration_ms(used) if used is not None else 0
        if limit_ms is None:
            _cancel(component, place, pod)
            continue
        since_ms = known.since_ms if known is not None else now_ms
        due_ms = since_ms + limit_ms
        if due_ms <= now_ms:
            pending.pop(place)
            _evict(component, pod)
        else:
            if known is None or known.due_ms != due_ms:
                pending[place] = _Pending(metadata["uid"], key.name, since_ms, due_ms)
            waits.append(due_ms - now_ms)
    return Requeue(min(waits)) if waits else None


def _cancel_all(component: Component, node: str) -> None:
    for place, known in component.table(_PENDING).items():
        if known.node == node:
            pod = component.cache.get(PODS, *place)
            _cancel(
                component, place, pod if pod is not None and pod["metadata"]["uid"] == known.uid else None
            )


def _cancel(component: Component, place: tuple[str, str], pod: Object | None) -> None:
    if component.table(_PENDING).pop(place) is not None and pod is not None:
        text = f"Cancelling deletion of Pod {place[0]}/{place[1]}"
        component.recorder.event(_reference(pod), "Normal", "TaintManagerEviction", text)


def _reference(pod: Object) -> Object:
    """A pod by its name alone: `describe pod` does not find these events (tests/golden/kubelet, nn-hostnet)."""
    metadata = pod["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
    }


def _evict(component: Component, pod: Object) -> None:
    metadata = pod["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    text = f"Marking for deletion Pod {namespace}/{name}"
    component.recorder.event(_reference(pod), "Normal", "TaintManagerEviction", text)
    marked = conditions.set_condition(
        pod,
        "DisruptionTarget",
        "True",
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
        now_ms=component.now_ms,
        lastProbeTime=None,
        observedGeneration=metadata.get("generation", 1),
    )
    try:
        if marked is not pod:
            # Upstream patches, so that a version that is no longer the newest does no harm.
            unversioned = {key: value for key, value in metadata.items() if key != "resourceVersion"}
            component.api.update_status(PODS, namespace, {**marked, "metadata": unversioned})
        component.api.delete(PODS, namespace, name, Options(precondition_uid=metadata["uid"]))
    except StatusError as error:
        if error.code != 404:
            raise


CONTROLLER = Controller(
    name="taint-eviction",
    identity="node-controller",
    watches=((NODES, own_key), (PODS, _of_pod)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/tainteviction; tests/golden/l2/flows (node-down)",
)
