"""Which pods a Service sends traffic to, and when that last changed: what Endpoints and EndpointSlices share.

Source: k8s.io/kubernetes pkg/controller/util/endpoint, k8s.io/endpointslice; tests/golden/l2/flows (ids svc-).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from env_core.apiserver.component import Component
from env_core.controllers._model import Key
from env_core.controllers._pods import PODS, is_finished
from env_core.objects import conditions
from env_core.world import Object

SERVICES = "services"
TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS = "service.kubernetes.io/headless"
_SELECTORS = "controllers/service-selectors"
_TRIGGERS = "triggers"
_SETTLED = "settled"
_NONE: Mapping[str, str] = {}

Pair = tuple[str, str]


class _Selectors(NamedTuple):
    """The selectors of one namespace's services, filed under one of their pairs; made anew when a service changes."""

    revision: int
    rows: Mapping[Pair, tuple[tuple[Key, tuple[Pair, ...]], ...]]


def _selectors(component: Component, namespace: str) -> _Selectors:
    table = component.shared_table(_SELECTORS)
    revision = component.cache.last_write(SERVICES)
    known: _Selectors | None = table.get(namespace)
    if known is not None and known.revision == revision:
        return known
    rows: dict[Pair, tuple[tuple[Key, tuple[Pair, ...]], ...]] = {}
    for service in component.cache.list(SERVICES, namespace):
        selector = service["spec"].get("selector")
        if selector:
            first, *rest = selector.items()
            entry = (Key(namespace, service["metadata"]["name"]), tuple(rest))
            rows[first] = (*rows.get(first, ()), entry)
    known = table[namespace] = _Selectors(revision, rows)
    return known


def services_of(pod: Object, component: Component) -> Iterable[Key]:
    """Map a pod to the services that select it; one without an address is of no interest to them."""
    status = pod.get("status")
    if not status or not status.get("podIP"):
        return ()
    metadata = pod["metadata"]
    labels = metadata.get("labels")
    if not labels:
        return ()
    rows = _selectors(component, metadata["namespace"]).rows
    if not rows:
        return ()
    found = []
    for pair in labels.items():
        for key, rest in rows.get(pair, ()):
            if all(labels.get(name) == value for name, value in rest):
                found.append(key)
    return found


def is_selecting(service: Object) -> bool:
    """Say whether the service has pods at all: a selector, and a type that routes to it."""
    spec = service["spec"]
    return spec.get("selector") is not None and spec.get("type") != "ExternalName"


def selected_pods(component: Component, service: Object) -> list[Object]:
    """Return the pods that the service's selector matches, sorted by name."""
    wanted = tuple((service["spec"].get("selector") or {}).items())
    pods = component.cache.list(PODS, service["metadata"]["namespace"])
    if len(wanted) == 1:
        ((name, value),) = wanted
        return [pod for pod in pods if (pod["metadata"].get("labels") or _NONE).get(name) == value]
    found = []
    for pod in pods:
        labels = pod["metadata"].get("labels")
        if labels and all(labels.get(name) == value for name, value in wanted):
            found.append(pod)
    return found


def stamp_of(service: Object, pods: Sequence[Object], written: Sequence[Object]) -> tuple[str, ...]:
    """Return the versions of all that decides about a service's addresses, and of what says them."""
    return (
        service["metadata"]["resourceVersion"],
        *[pod["metadata"]["resourceVersion"] for pod in pods],
        "",
        *[obj["metadata"]["resourceVersion"] for obj in written],
    )


def is_settled(component: Component, key: Key, stamp: tuple[str, ...]) -> bool:
    """Say whether nothing has changed since `settle`."""
    return bool(component.table(_SETTLED).get(key) == stamp)


def settle(component: Component, key: Key, stamp: tuple[str, ...]) -> None:
    """Note that a service's addresses are as they should be."""
    component.table(_SETTLED)[key] = stamp


def is_endpoint(pod: Object, *, has_terminating: bool) -> bool:
    """Say whether a pod is among a service's addresses, ready or not."""
    if is_finished(pod) or not (pod.get("status") or {}).get("podIP"):
        return False
    return has_terminating or "deletionTimestamp" not in pod["metadata"]


def is_headless(service: Object) -> bool:
    """Say whether the service has no cluster address on purpose."""
    return bool(service["spec"].get("clusterIP") == "None")


def publishes_unready(service: Object) -> bool:
    """Say whether the service wants pods that are not ready as well."""
    return bool(service["spec"].get("publishNotReadyAddresses"))


def port_number(pod: Object, port: Object) -> int | None:
    """Return the number behind a service port's target on this pod; None if the pod has no such named port.

    Source: k8s.io/kubernetes pkg/api/v1/pod FindPort.
    """
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    protocol = port.get("protocol") or "TCP"
    spec = pod["spec"]
    sidecars = [each for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"]
    for container in (*spec["containers"], *sidecars):
        for named in container.get("ports") or ():
            if named.get("name") == target and (named.get("protocol") or "TCP") == protocol:
                number: int = named["containerPort"]
                return number
    return None


def hostname(pod: Object, service: Object) -> str:
    """Return the host name under which a headless service publishes the pod, "" if it has none."""
    spec = pod["spec"]
    text: str = spec.get("hostname") or ""
    return text if text and spec.get("subdomain") == service["metadata"]["name"] else ""


def target_reference(pod: Object) -> Object:
    """Return the reference to a pod that addresses carry."""
    metadata = pod["metadata"]
    return {
        "kind": "Pod",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }


class _Seen(NamedTuple):
    """What a service looked like when its addresses were last brought up to date."""

    created: str
    pods: Mapping[str, str]


def trigger_time(component: Component, key: Key, service: Object, pods: Sequence[Object]) -> str:
    """Return when what is about to be written came about; "" if nothing noted tells.

    For a service seen first it is its creation; then the earliest change of readiness since the last look.
    Times are RFC 3339 texts of whole seconds, which compare as they sort.

    Source: k8s.io/endpointslice trigger_time_tracker.go.
    """
    table = component.table(_TRIGGERS)
    before: _Seen | None = table.get(key)
    created: str = service["metadata"]["creationTimestamp"]
    times: dict[str, str] = {}
    for pod in pods:
        status = pod.get("status") or {}
        ready = conditions.find(status.get("conditions"), "Ready")
        if ready is not None and ready.get("lastTransitionTime"):
            times[pod["metadata"]["name"]] = ready["lastTransitionTime"]
    if before is not None and before.pods == times and before.created == created:
        return ""
    table[key] = _Seen(created, times)
    if before is None:
        return created
    newer = [text for name, text in times.items() if text > before.pods.get(name, "")]
    if created > before.created:
        newer.append(created)
    return min(newer, default="")


def forget(component: Component, key: Key) -> None:
    """Forget a service that is gone."""
    component.table(_SETTLED).pop(key)
    component.table(_TRIGGERS).pop(key)


def with_trigger_time(annotations: Mapping[str, str], text: str) -> dict[str, str]:
    """Return annotations with the trigger time set, or taken out for ""."""
    rest = {key: value for key, value in annotations.items() if key != TRIGGER_TIME}
    return {**rest, TRIGGER_TIME: text} if text else rest
