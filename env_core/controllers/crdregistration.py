"""API services of the groups and versions that custom resources add.

Source: k8s.io/kubernetes pkg/controlplane/controller/crdregistration, k8s.io/kube-aggregator
pkg/controllers/autoregister.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from env_core.apiextensions.definitions import RESOURCE, served_versions
from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._retry import retrying
from env_core.world import Object

API_SERVICES: Final = "apiservices.apiregistration.k8s.io"
_MANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"
_GROUP_PRIORITY: Final = 1_000
_VERSION_PRIORITY: Final = 100


def _keys(definition: Object, _component: Component) -> Iterable[Key]:
    spec = definition["spec"]
    return [Key("", f"{version['name']}.{spec['group']}") for version in spec.get("versions") or ()]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    if component.kinds.by_resource(API_SERVICES) is None:
        return None
    version, _, group = key.name.partition(".")
    is_served = any(
        definition["spec"]["group"] == group
        and any(each["name"] == version for each in served_versions(definition))
        for definition in component.cache.list(RESOURCE)
    )
    found = component.cache.get(API_SERVICES, "", key.name)
    if is_served and found is None:
        component.api.create(API_SERVICES, "", _api_service(group, version))
    elif not is_served and found is not None and _is_managed(found):
        component.api.delete(API_SERVICES, "", key.name)
    return None


def _api_service(group: str, version: str) -> Object:
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}", "labels": {_MANAGED: "true"}},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": _GROUP_PRIORITY,
            "versionPriority": _VERSION_PRIORITY,
        },
    }


def _is_managed(service: Object) -> bool:
    return bool((service["metadata"].get("labels") or {}).get(_MANAGED) == "true")


CONTROLLER = Controller(
    name="crd-registration",
    watches=((RESOURCE, _keys),),
    reconcile=retrying(_reconcile),
    user="system:apiserver",
    source="k8s.io/kubernetes pkg/controlplane/controller/crdregistration",
)
