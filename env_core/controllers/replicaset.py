"""ReplicaSets: a number of pods of one template."""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.controllers import _replicas
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import labels_selected, owner_mapper
from env_core.controllers._retry import retrying

RESOURCE = "replicasets.apps"


_FLAVOUR = _replicas.Flavour(RESOURCE, labels_selected)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    return _replicas.reconcile(component, key, _FLAVOUR)


CONTROLLER = Controller(
    name="replicaset",
    watches=((RESOURCE, own_key), ("pods", owner_mapper(RESOURCE, "ReplicaSet", labels_selected))),
    reconcile=retrying(_reconcile),
    delay_ms=8,
    source="k8s.io/kubernetes pkg/controller/replicaset; tests/golden/l2/flows",
)
