"""The annotation by which nodes learn how long they may keep secrets and config maps in their caches.

Source: k8s.io/kubernetes pkg/controller/ttl ttl_controller.go; tests/golden/l2/flows (ids node-).
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying

NODES = "nodes"
ANNOTATION = "node.alpha.kubernetes.io/ttl"
_SECONDS_BY_NODES = ((100, 0), (500, 15), (1000, 30), (2000, 60))
_SECONDS_MAX = 300


def _reconcile(component: Component, key: Key) -> Requeue | None:
    node = component.cache.get(NODES, "", key.name)
    if node is None:
        return None
    metadata = node["metadata"]
    count = component.cache.count(NODES)
    seconds = next((seconds for limit, seconds in _SECONDS_BY_NODES if count <= limit), _SECONDS_MAX)
    if (metadata.get("annotations") or {}).get(ANNOTATION) != str(seconds):
        patch = {"metadata": {"annotations": {ANNOTATION: str(seconds)}}}
        component.api.patch(NODES, "", key.name, patch)
    return None


CONTROLLER = Controller(
    name="ttl",
    watches=((NODES, own_key),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/ttl; tests/golden/l2/flows (ids node-)",
)
