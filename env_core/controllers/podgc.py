"""Pod garbage collection: pods of nodes that no longer exist, or that are declared out of service.

Source: k8s.io/kubernetes pkg/controller/podgc gc_controller.go; tests/golden/l2/flows (node-delete).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._pods import PODS, is_finished
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.world import Object

NODES = "nodes"
PASS_MS = 20_000
"""Time between passes over all pods."""

QUARANTINE_MS = 40_000
"""How long a node must have been missing."""

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_MISSING = "missing"


def _of_node(node: Object, component: Component) -> Iterable[Key]:
    name = node["metadata"]["name"]
    if component.cache.get(NODES, "", name) is None or _is_out_of_service(node):
        return (Key("", name),)
    return ()


def _of_pod(pod: Object, component: Component) -> Iterable[Key]:
    name = pod["spec"].get("nodeName")
    if not name:
        return ()
    node = component.cache.get(NODES, "", name)
    if node is None or ("deletionTimestamp" in pod["metadata"] and _is_out_of_service(node)):
        return (Key("", name),)
    return ()


def _is_out_of_service(node: Object) -> bool:
    return any(taint.get("key") == OUT_OF_SERVICE for taint in node["spec"].get("taints") or ())


def _reconcile(component: Component, key: Key) -> Requeue | None:
    now_ms = component.now_ms
    missing = component.table(_MISSING)
    pods = component.cache.indexed("node", key.name)
    node = component.cache.get(NODES, "", key.name)
    if not pods or (node is not None and not _is_out_of_service(node)):
        missing.pop(key.name)
        return None
    to_pass_ms = -now_ms % PASS_MS
    if to_pass_ms:
        return Requeue(to_pass_ms)
    if node is not None:
        if not conditions.is_true(node, "Ready"):
            for pod in pods:
                if "deletionTimestamp" in pod["metadata"]:
                    _remove(component, pod, is_orphaned=False)
        return None
    since_ms: int | None = missing.get(key.name)
    if since_ms is None:
        since_ms = missing[key.name] = now_ms
    if now_ms - since_ms < QUARANTINE_MS:
        return Requeue(PASS_MS)
    for pod in pods:
        _remove(component, pod, is_orphaned=True)
    return None


def _remove(component: Component, pod: Object, *, is_orphaned: bool) -> None:
    metadata = pod["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    try:
        if not is_finished(pod):
            status: Object = {"phase": "Failed"}
            if is_orphaned:
                marked = conditions.set_condition(
                    pod,
                    "DisruptionTarget",
                    "True",
                    "DeletionByPodGC",
                    "PodGC: node no longer exists",
                    now_ms=component.now_ms,
                    lastProbeTime=None,
                    observedGeneration=metadata.get("generation", 1),
                )
                status["conditions"] = marked["status"]["conditions"]
            component.api.patch(PODS, namespace, name, {"status": status}, subresource="status")
        component.api.delete(PODS, namespace, name, Options(grace_period_seconds=0))
    except StatusError as error:
        if error.code != 404:
            raise


CONTROLLER = Controller(
    name="pod-garbage-collector",
    identity="pod-garbage-collector",
    component="pod-garbage-collector",
    watches=((NODES, _of_node), (PODS, _of_pod)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/podgc; tests/golden/l2/flows (node-delete)",
)
