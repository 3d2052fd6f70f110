"""ResourceQuotas: what a namespace's objects use of their limits.

Source: k8s.io/kubernetes pkg/controller/resourcequota; tests/golden/l2/flows (quota, deploy-quota-fail).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core import kinds as kinds_package
from env_core.apiserver.admission._quota_usage import covers, tracked, usage
from env_core.apiserver.component import Component
from env_core.apiserver.kind import Kind
from env_core.controllers._model import Controller, Key, Mapper, Requeue, own_key
from env_core.controllers._pods import is_finished
from env_core.controllers._retry import retrying
from env_core.discovery import discover
from env_core.objects import quantity
from env_core.world import Object

RESOURCE = "resourcequotas"


def _of_any(obj: Object, component: Component) -> Iterable[Key]:
    namespace = obj["metadata"].get("namespace", "")
    if not component.cache.count(RESOURCE, namespace):
        return ()
    return [Key(namespace, quota["metadata"]["name"]) for quota in component.cache.list(RESOURCE, namespace)]


def _reconcile(component: Component, key: Key) -> Requeue | None:
    quota = component.cache.get(RESOURCE, *key)
    if quota is None:
        return None
    hard = quota["spec"].get("hard") or {}
    # What a quota covers is judged by its status, which is only about to be written.
    quota_as_written = {**quota, "status": {"hard": hard}}
    totals = {name: quantity.from_units(0) for name in hard}
    for resource in component.cache.resources():
        names = tracked(resource, hard)
        if not names or not component.cache.count(resource, key.namespace):
            continue
        for obj in component.cache.list(resource, key.namespace):
            if resource == "pods" and is_finished(obj):
                continue
            if covers(quota_as_written, resource, obj):
                used = usage(resource, obj)
                for name in names:
                    if name in used:
                        totals[name] = totals[name] + used[name]
    status = {"hard": hard, "used": {name: str(total) for name, total in totals.items()}}
    if status != (quota.get("status") or {}):
        component.api.update_status(RESOURCE, key.namespace, {**quota, "status": status})
    return None


def _watches() -> tuple[tuple[str, Mapper], ...]:
    resources = sorted(
        kind.resource
        for kind in discover(kinds_package, "KIND", Kind).values()
        if kind.is_namespaced and kind.plural not in ("events", "leases", RESOURCE)
    )
    rows: list[tuple[str, Mapper]] = [(resource, _of_any) for resource in dict.fromkeys(resources)]
    return ((RESOURCE, own_key), *rows)


CONTROLLER = Controller(
    name="resourcequota",
    watches=_watches(),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/resourcequota; tests/golden/l2/flows (quota)",
)
