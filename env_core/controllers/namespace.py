"""Namespaces: a deleted one is emptied, pods first, and goes when nothing is left in it.

Source: k8s.io/kubernetes pkg/controller/namespace; tests/golden/l2/flows (ns-delete, ns-stuck).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from env_core.apiserver.component import Component
from env_core.apiserver.request import Options
from env_core.controllers._model import Controller, Key, Requeue
from env_core.controllers._pods import PODS, is_finished
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

RESOURCE = "namespaces"
FINALIZER = "kubernetes"
SETTLE_MS = 5_200
"""How long after a change of a dying namespace it is looked at, so that other API servers have seen it too."""

FINALIZER_WAIT_S = 15
_BACKGROUND = Options(propagation_policy="Background")


def _of_dying(namespace: Object, _component: Component) -> Iterable[Key]:
    metadata = namespace["metadata"]
    return (Key("", metadata["name"]),) if "deletionTimestamp" in metadata else ()


def _reconcile(component: Component, key: Key) -> Requeue | None:
    namespace = component.cache.get(RESOURCE, "", key.name)
    if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
        return None
    spec = namespace.get("spec") or {}
    finalizers = spec.get("finalizers") or []
    if FINALIZER not in finalizers:
        return None
    wait_s = _grace_left_s(component, namespace)
    _empty(component, key.name, PODS)
    left: dict[str, list[Object]] = {}
    _count(component, key.name, PODS, left)
    if not left:
        for resource in _resources_in(component, key.name):
            _empty(component, key.name, resource)
            _count(component, key.name, resource, left)
    if left and not wait_s:
        wait_s = FINALIZER_WAIT_S
    namespace = _with_conditions(component, namespace, left)
    if left:
        return Requeue((wait_s // 2 + 1) * 1000)
    rest = [entry for entry in finalizers if entry != FINALIZER]
    finalized = {**namespace, "spec": {**spec, "finalizers": rest}}
    component.api.update(RESOURCE, "", finalized, subresource="finalize")
    return None


def _resources_in(component: Component, namespace: str) -> list[str]:
    cache = component.cache
    return [
        resource
        for resource in cache.resources()
        # What no API serves any more is not discovered either.
        if namespace and cache.count(resource, namespace) and component.kinds.by_resource(resource)
    ]


def _empty(component: Component, namespace: str, resource: str) -> None:
    if component.cache.count(resource, namespace):
        component.api.call("deletecollection", resource, namespace, options=_BACKGROUND)


def _count(component: Component, namespace: str, resource: str, left: dict[str, list[Object]]) -> None:
    remaining = component.cache.list(resource, namespace)
    if remaining:
        left[resource] = remaining


def _grace_left_s(component: Component, namespace: Object) -> int:
    """Return the longest grace period of pods that may still be stopping, 0 once it must be over."""
    grace = max(
        (
            pod["spec"].get("terminationGracePeriodSeconds") or 0
            for pod in component.cache.list(PODS, namespace["metadata"]["name"])
            if not is_finished(pod)
        ),
        default=0,
    )
    since_ms = component.now_ms - parse_ms(namespace["metadata"]["deletionTimestamp"])
    return 0 if since_ms >= grace * 1000 else grace


def _with_conditions(component: Component, namespace: Object, left: Mapping[str, list[Object]]) -> Object:
    changed = namespace
    for type_, status, reason, message in _texts(left):
        current = conditions.get(changed, type_)
        if current is not None and (current["status"], current["reason"], current["message"]) == (
            status,
            reason,
            message,
        ):
            continue
        changed = conditions.set_condition(changed, type_, status, reason, message, now_ms=component.now_ms)
    if changed is namespace:
        return namespace
    return component.api.update_status(RESOURCE, "", changed)


def _texts(left: Mapping[str, list[Object]]) -> list[tuple[str, str, str, str]]:
    rows = [
        (
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    ]
    if left:
        counts = [
            f"{_dotted(resource)} has {len(objects)} resource instances" for resource, objects in left.items()
        ]
        text = f"Some resources are remaining: {', '.join(sorted(counts))}"
        rows.append(("NamespaceContentRemaining", "True", "SomeResourcesRemain", text))
    else:
        rows.append(
            ("NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed")
        )
    finalizers: dict[str, int] = {}
    for objects in left.values():
        for obj in objects:
            for finalizer in obj["metadata"].get("finalizers") or ():
                finalizers[finalizer] = finalizers.get(finalizer, 0) + 1
    if finalizers:
        counts = [f"{finalizer} in {count} resource instances" for finalizer, count in finalizers.items()]
        text = f"Some content in the namespace has finalizers remaining: {', '.join(sorted(counts))}"
        rows.append(("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", text))
    else:
        rows.append(
            (
                "NamespaceFinalizersRemaining",
                "False",
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            )
        )
    return rows


def _dotted(resource: str) -> str:
    plural, _, group = resource.partition(".")
    return f"{plural}.{group}"


CONTROLLER = Controller(
    name="namespace",
    watches=((RESOURCE, _of_dying),),
    reconcile=retrying(_reconcile),
    delay_ms=SETTLE_MS,
    source="k8s.io/kubernetes pkg/controller/namespace; tests/golden/l2/flows (ns-delete, ns-stuck)",
)
