"""Endpoints: the older form of a Service's addresses, one object per Service.

Source: k8s.io/kubernetes pkg/controller/endpoint endpoints_controller.go; tests/golden/l2/flows (ids svc-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _services
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._ports import Port, in_subset_order
from env_core.controllers._retry import retrying
from env_core.objects import conditions
from env_core.world import Object

RESOURCE = "endpoints"
MANAGED_BY = "endpoints.kubernetes.io/managed-by"
MANAGER = "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
ADDRESSES_MAX = 1000


def _reconcile(component: Component, key: Key) -> Requeue | None:
    service = component.cache.get(_services.SERVICES, *key)
    current = component.cache.get(RESOURCE, *key)
    if service is None:
        _services.forget(component, key)
        if current is not None and MANAGED_BY in (current["metadata"].get("labels") or {}):
            try:
                component.api.delete(RESOURCE, key.namespace, key.name)
            except StatusError as error:
                if error.code != 404:
                    raise
        return None
    if not _services.is_selecting(service):
        return None
    pods = _services.selected_pods(component, service)
    stamp = _services.stamp_of(service, pods, [current] if current is not None else [])
    if _services.is_settled(component, key, stamp):
        return None
    subsets, is_truncated = _subsets(service, pods)
    trigger = _services.trigger_time(component, key, service, pods)
    labels = _labels(service)
    if current is not None:
        current = _updated(component, current, subsets, labels, trigger, is_truncated=is_truncated)
        _services.settle(component, key, _services.stamp_of(service, pods, [current]))
        return None
    annotations = _services.with_trigger_time({OVER_CAPACITY: "truncated"} if is_truncated else {}, trigger)
    body: Object = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "labels": labels,
            "annotations": annotations,
        },
    }
    if subsets:
        body["subsets"] = subsets
    try:
        component.api.create(RESOURCE, key.namespace, body)
    except StatusError as error:
        if error.code == 403:
            text = f"Failed to create endpoint for service {key.namespace}/{key.name}: {error.message}"
            component.recorder.event(service, "Warning", "FailedToCreateEndpoint", text)
        raise
    return None


def _labels(service: Object) -> dict[str, str]:
    labels = {**(service["metadata"].get("labels") or {}), MANAGED_BY: MANAGER}
    if _services.is_headless(service):
        labels[_services.HEADLESS] = ""
    else:
        labels.pop(_services.HEADLESS, None)
    return labels


def _updated(
    component: Component,
    current: Object,
    subsets: list[Object],
    labels: dict[str, str],
    trigger: str,
    *,
    is_truncated: bool,
) -> Object:
    metadata = current["metadata"]
    annotations = metadata.get("annotations") or {}
    if (
        (current.get("subsets") or []) == subsets
        and (metadata.get("labels") or {}) == labels
        and (annotations.get(OVER_CAPACITY) == "truncated") is is_truncated
    ):
        return current
    annotations = {name: value for name, value in annotations.items() if name != OVER_CAPACITY}
    if is_truncated:
        annotations[OVER_CAPACITY] = "truncated"
    annotations = _services.with_trigger_time(annotations, trigger)
    body = {name: value for name, value in current.items() if name != "subsets"}
    body["metadata"] = {**metadata, "labels": labels, "annotations": annotations}
    if subsets:
        body["subsets"] = subsets
    return component.api.update(RESOURCE, metadata["namespace"], body)


def _subsets(service: Object, pods: Sequence[Object]) -> tuple[list[Object], bool]:
    """Return the subsets, addresses grouped by the ports that they share, and whether some had to be left out."""
    publishes_unready = _services.publishes_unready(service)
    ready: dict[Port | None, dict[tuple[str, str], Object]] = {}
    unready: dict[Port | None, dict[tuple[str, str], Object]] = {}
    for pod in pods:
        if not _services.is_endpoint(pod, has_terminating=publishes_unready):
            continue
        address = _address(service, pod)
        identity = (address["ip"], address["targetRef"]["uid"])
        target = ready if publishes_unready or conditions.is_pod_ready(pod) else unready
        for port in _ports(service, pod):
            target.setdefault(port, {})[identity] = address
    shared: dict[tuple[tuple[tuple[str, str], ...], ...], list[Port | None]] = {}
    for port in [*ready, *(port for port in unready if port not in ready)]:
        group = (tuple(sorted(ready.get(port, ()))), tuple(sorted(unready.get(port, ()))))
        shared.setdefault(group, []).append(port)
    subsets = []
    for (ready_ids, unready_ids), ports in shared.items():
        subset: Object = {}
        first = ports[0]
        if ready_ids:
            subset["addresses"] = [ready[first][identity] for identity in ready_ids]
        if unready_ids:
            subset["notReadyAddresses"] = [unready[first][identity] for identity in unready_ids]
        rows = [_port(port) for port in in_subset_order(port for port in ports if port is not None)]
        if rows:
            subset["ports"] = rows
        subsets.append(subset)
    return _truncated(subsets)


def _address(service: Object, pod: Object) -> Object:
    address: Object = {"ip": pod["status"]["podIP"]}
    host = _services.hostname(pod, service)
    if host:
        address["hostname"] = host
    if pod["spec"].get("nodeName"):
        address["nodeName"] = pod["spec"]["nodeName"]
    address["targetRef"] = _services.target_reference(pod)
    return address


def _ports(service: Object, pod: Object) -> list[Port | None]:
    """Return the ports that the pod serves; None stands for a headless service's address without ports."""
    listed = service["spec"].get("ports") or ()
    if not listed:
        return [None] if _services.is_headless(service) else []
    found: list[Port | None] = []
    for port in listed:
        number = _services.port_number(pod, port)
        if number is not None:
            found.append(
                (port.get("name") or "", number, port.get("protocol") or "TCP", port.get("appProtocol") or "")
            )
    return found


def _port(row: Port) -> Object:
    name, number, protocol, application = row
    port: Object = {"port": number, "protocol": protocol}
    if name:
        port["name"] = name
    if application:
        port["appProtocol"] = application
    return port


def _truncated(subsets: list[Object]) -> tuple[list[Object], bool]:
    """Keep at most a thousand addresses, ready ones before others."""
    total = sum(
        len(subset.get("addresses", ())) + len(subset.get("notReadyAddresses", ())) for subset in subsets
    )
    if total <= ADDRESSES_MAX:
        return subsets, False
    room = ADDRESSES_MAX
    kept: list[Object] = [dict(subset) for subset in subsets]
    for field in ("addresses", "notReadyAddresses"):
        for subset in kept:
            addresses = subset.pop(field, [])[:room]
            room -= len(addresses)
            if addresses:
                subset[field] = addresses
    return [subset for subset in kept if "addresses" in subset or "notReadyAddresses" in subset], True


CONTROLLER = Controller(
    name="endpoint",
    watches=(
        (_services.SERVICES, own_key),
        ("pods", _services.services_of),
        (RESOURCE, own_key),
    ),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/endpoint; tests/golden/l2/flows",
)
