"""Keeps volumes that are bound: their finalizer goes once they are not.

Source: k8s.io/kubernetes pkg/controller/volume/pvprotection; tests/golden/l2/flows (pvc-lost).
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying

RESOURCE = "persistentvolumes"
FINALIZER = "kubernetes.io/pv-protection"


def _reconcile(component: Component, key: Key) -> Requeue | None:
    volume = component.cache.get(RESOURCE, *key)
    if volume is None:
        return None
    metadata = volume["metadata"]
    finalizers = metadata.get("finalizers") or []
    is_bound = (volume.get("status") or {}).get("phase") == "Bound"
    if "deletionTimestamp" not in metadata:
        wanted = finalizers if FINALIZER in finalizers else [*finalizers, FINALIZER]
    else:
        wanted = finalizers if is_bound else [each for each in finalizers if each != FINALIZER]
    if wanted != finalizers:
        component.api.update(RESOURCE, "", {**volume, "metadata": {**metadata, "finalizers": wanted}})
    return None


CONTROLLER = Controller(
    name="pv-protection",
    watches=((RESOURCE, own_key),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/volume/pvprotection; tests/golden/l2/flows (pvc-lost)",
)
