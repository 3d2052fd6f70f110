"""ReplicationControllers: the older form of ReplicaSets, with a plain map for a selector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from env_core.apiserver.component import Component
from env_core.controllers import _replicas
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import owner_mapper
from env_core.controllers._retry import retrying
from env_core.world import Object

RESOURCE = "replicationcontrollers"


def _selector_of(controller: Object) -> Mapping[str, Any] | None:
    labels = controller["spec"].get("selector")
    return {"matchLabels": labels} if labels else None


_FLAVOUR = _replicas.Flavour(RESOURCE, _selector_of)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    return _replicas.reconcile(component, key, _FLAVOUR)


CONTROLLER = Controller(
    name="replication",
    component="replication-controller",
    identity="replication-controller",
    watches=((RESOURCE, own_key), ("pods", owner_mapper(RESOURCE, "ReplicationController", _selector_of))),
    reconcile=retrying(_reconcile),
    delay_ms=8,
    source="k8s.io/kubernetes pkg/controller/replication; tests/golden/l2/flows (rc-basic)",
)
