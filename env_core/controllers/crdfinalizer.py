"""A custom resource's definition goes after its instances: they are deleted, and waited for.

Source: k8s.io/apiextensions-apiserver pkg/controller/finalizer; tests/golden/l2/flows (crd-finalizer).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiextensions.definitions import (
    CLEANUP_FINALIZER,
    RESOURCE,
    TERMINATING,
    is_established,
    resource_of,
)
from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.world import Object

POLL_MS = 5_000
"""How often instances that are still there are looked for."""


def _is_going(definition: Object) -> bool:
    metadata = definition["metadata"]
    return "deletionTimestamp" in metadata and CLEANUP_FINALIZER in (metadata.get("finalizers") or ())


def _of_going(definition: Object, _component: Component) -> Iterable[Key]:
    return (Key("", definition["metadata"]["name"]),) if _is_going(definition) else ()


def _reconcile(component: Component, key: Key) -> Requeue | None:
    definition = component.cache.get(RESOURCE, "", key.name)
    if definition is None or not _is_going(definition):
        return None
    current = conditions.get(definition, TERMINATING)
    is_begun = current is not None and current.get("reason") == "InstanceDeletionInProgress"
    if not is_begun:
        definition = _with_condition(
            component,
            definition,
            conditions.TRUE,
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        )
        definition = component.api.update_status(RESOURCE, "", definition)
    if not is_established(definition):
        _let_go(component, definition, "NeverEstablished", "resource was never established")
        return None
    resource = resource_of(definition)
    if not is_begun:
        _delete_all(component, resource)
    if component.cache.count(resource):
        return Requeue(POLL_MS)
    _let_go(component, definition, "InstanceDeletionCompleted", "removed all instances")
    return None


def _delete_all(component: Component, resource: str) -> None:
    spaces = dict.fromkeys(obj["metadata"].get("namespace", "") for obj in component.cache.list(resource))
    for namespace in spaces:
        component.api.call("deletecollection", resource, namespace)


def _with_condition(
    component: Component, definition: Object, status: str, reason: str, message: str
) -> Object:
    return conditions.set_condition(definition, TERMINATING, status, reason, message, now_ms=component.now_ms)


def _let_go(component: Component, definition: Object, reason: str, message: str) -> None:
    definition = _with_condition(component, definition, conditions.FALSE, reason, message)
    metadata = definition["metadata"]
    rest = [entry for entry in metadata["finalizers"] if entry != CLEANUP_FINALIZER]
    component.api.update_status(RESOURCE, "", {**definition, "metadata": {**metadata, "finalizers": rest}})


CONTROLLER = Controller(
    name="crd-finalizer",
    watches=((RESOURCE, _of_going),),
    reconcile=retrying(_reconcile),
    user="system:apiserver",
    source="k8s.io/apiextensions-apiserver pkg/controller/finalizer; tests/golden/l2/flows (crd-finalizer)",
)
