"""ResourceQuotas: what a namespace's objects use of their limits.

Source: k8s.io/kubernetes pkg/controller/resourcequota; tests/golden/l2/flows (quota, deploy-quota-fail).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

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


@lru_cache(maxsize=1024)
def _names(resource: str, hard: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of a quota's names a resource counts for."""
    return tuple(tracked(resource, hard))


@lru_cache(maxsize=256)
def _counts(resource: str) -> frozenset[str]:
    """Return the names that count a resource's objects, whatever is in them."""
    return frozenset(
        {
            f"count/{resource}",
            *({resource} if resource in ("pods", "configmaps", "secrets", "services") else ()),
        }
    )


def _counting(resource: str) -> Mapper:
    def mapper(obj: Object, component: Component) -> Iterable[Key]:
        namespace = obj["metadata"].get("namespace", "")
        if not component.cache.count(RESOURCE, namespace):
            return ()
        return [
            Key(namespace, quota["metadata"]["name"])
            for quota in component.cache.list(RESOURCE, namespace)
            if _names(resource, tuple(quota["spec"].get("hard") or ()))
        ]

    return mapper


def _reconcile(component: Component, key: Key) -> Requeue | None:
    quota = component.cache.get(RESOURCE, *key)
    if quota is None:
        return None
    hard = quota["spec"].get("hard") or {}
    # What a quota covers is judged by its status, which is only about to be written.
    quota_as_written = {**quota, "status": {"hard": hard}}
    totals = {name: quantity.from_units(0) for name in hard}
    for resource in component.cache.resources():
        names = _names(resource, tuple(hard))
        if not names or not component.cache.count(resource, key.namespace):
            continue
        objects = component.cache.list(resource, key.namespace)
        if resource == "pods":
            objects = [obj for obj in objects if not is_finished(obj)]
        if (
            not quota["spec"].get("scopes")
            and not quota["spec"].get("scopeSelector")
            and set(names) <= _counts(resource)
        ):
            for name in names:
                totals[name] = quantity.from_units(len(objects))
            continue
        for obj in objects:
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
    rows: list[tuple[str, Mapper]] = [
        (resource, _counting(resource)) for resource in dict.fromkeys(resources)
    ]
    return ((RESOURCE, own_key), *rows)


CONTROLLER = Controller(
    name="resourcequota",
    watches=_watches(),
    reconcile=retrying(_reconcile),
    # Counting follows a burst of changes, not each one: upstream recounts when something is replenished.
    delay_ms=50,
    source="k8s.io/kubernetes pkg/controller/resourcequota; tests/golden/l2/flows (quota)",
)
