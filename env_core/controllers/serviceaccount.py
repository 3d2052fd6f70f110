"""The ServiceAccount `default` of every namespace.

Source: k8s.io/kubernetes pkg/controller/serviceaccount serviceaccounts_controller.go;
tests/golden/l2/facts/default_objects.
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import is_namespace_terminating, retrying
from env_core.world import Object

RESOURCE = "serviceaccounts"
DEFAULT = "default"


def _of_namespace(namespace: Object, component: Component) -> Iterable[Key]:
    name = namespace["metadata"]["name"]
    return () if component.cache.get(RESOURCE, name, DEFAULT) is not None else (Key("", name),)


def _of_account(account: Object, component: Component) -> Iterable[Key]:
    metadata = account["metadata"]
    if (
        metadata["name"] != DEFAULT
        or component.cache.get(RESOURCE, metadata["namespace"], DEFAULT) is not None
    ):
        return ()
    return (Key("", metadata["namespace"]),)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    namespace = component.cache.get("namespaces", "", key.name)
    if namespace is None or "deletionTimestamp" in namespace["metadata"]:
        return None
    if component.cache.get(RESOURCE, key.name, DEFAULT) is not None:
        return None
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": DEFAULT, "namespace": key.name},
    }
    try:
        component.api.create(RESOURCE, key.name, account)
    except StatusError as error:
        if error.reason != "AlreadyExists" and not is_namespace_terminating(error):
            raise
    return None


CONTROLLER = Controller(
    name="service-account",
    watches=(("namespaces", _of_namespace), (RESOURCE, _of_account)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/serviceaccount; tests/golden/l2/facts/default_objects",
)
