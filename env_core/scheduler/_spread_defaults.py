"""Which pods count as one's own kind when the cluster spreads pods that have no rules of their own."""

from __future__ import annotations

from env_core.apiserver.store import Store
from env_core.objects import selectors
from env_core.objects.selectors import LabelSelector
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object

_OWNERS = {
    "ReplicationController": "replicationcontrollers",
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
}


def default_selector(pod: PodInfo, store: Store) -> LabelSelector | None:
    """Return the selector of the services and the controller of a pod together, None when there are none.

    Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/helper spread.go.
    """
    wanted: dict[str, str] = {}
    for service in store.list("services", pod.namespace):
        chosen = (service.get("spec") or {}).get("selector")
        if chosen and all(pod.labels.get(key) == value for key, value in chosen.items()):
            wanted.update(chosen)
    expressions: list[Object] = []
    owner = _controller(pod, store)
    if owner is not None:
        given = (owner.get("spec") or {}).get("selector") or {}
        if owner.get("kind") == "ReplicationController":
            wanted.update(given)
        else:
            wanted.update(given.get("matchLabels") or {})
            expressions = given.get("matchExpressions") or []
    if not wanted and not expressions:
        return None
    return selectors.from_object({"matchLabels": wanted, "matchExpressions": expressions})


def _controller(pod: PodInfo, store: Store) -> Object | None:
    for reference in pod.pod["metadata"].get("ownerReferences") or ():
        if reference.get("controller") and reference.get("kind") in _OWNERS:
            return store.get(_OWNERS[reference["kind"]], pod.namespace, reference["name"])
    return None
