"""Custom resources are served once their names have been accepted.

Source: k8s.io/apiextensions-apiserver pkg/controller/establish; tests/golden/l2/flows (crd-finalizer).
"""

from __future__ import annotations

from env_core.apiextensions.definitions import ESTABLISHED, NAMES_ACCEPTED, RESOURCE
from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects import conditions


def _reconcile(component: Component, key: Key) -> Requeue | None:
    definition = component.cache.get(RESOURCE, "", key.name)
    if definition is None or not conditions.is_true(definition, NAMES_ACCEPTED):
        return None
    if conditions.is_true(definition, ESTABLISHED):
        return None
    established = conditions.set_condition(
        definition,
        ESTABLISHED,
        conditions.TRUE,
        "InitialNamesAccepted",
        "the initial names have been accepted",
        now_ms=component.now_ms,
    )
    component.api.update_status(RESOURCE, "", established)
    return None


CONTROLLER = Controller(
    name="crd-establishing",
    watches=((RESOURCE, own_key),),
    reconcile=retrying(_reconcile),
    user="system:apiserver",
    source="k8s.io/apiextensions-apiserver pkg/controller/establish; tests/golden/l2/flows (crd-finalizer)",
)
