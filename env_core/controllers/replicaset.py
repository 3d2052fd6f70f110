"""ReplicaSets: a number of pods of one template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from env_core.apiserver.component import Component
from env_core.controllers import _replicas
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import pod_owner
from env_core.controllers._retry import retrying
from env_core.world import Object

RESOURCE = "replicasets.apps"


def _selector_of(replicaset: Object) -> Mapping[str, Any] | None:
    selector: Mapping[str, Any] | None = replicaset["spec"].get("selector")
    return selector


_FLAVOUR = _replicas.Flavour(RESOURCE, _selector_of)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    return _replicas.reconcile(component, key, _FLAVOUR)


CONTROLLER = Controller(
    name="replicaset",
    watches=((RESOURCE, own_key), ("pods", pod_owner(RESOURCE, "ReplicaSet", _selector_of))),
    reconcile=retrying(_reconcile),
    delay_ms=8,
    source="k8s.io/kubernetes pkg/controller/replicaset; tests/golden/l2/flows",
)
