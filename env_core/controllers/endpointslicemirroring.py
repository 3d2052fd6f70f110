"""EndpointSlices for Endpoints that somebody wrote by hand, for Services without a selector.

Source: k8s.io/kubernetes pkg/controller/endpointslicemirroring; tests/golden/l2/flows (svc-headless).
"""

from __future__ import annotations

from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._ports import Port, in_slice_order
from env_core.controllers._retry import retrying
from env_core.controllers._slices import Group, planned
from env_core.objects.owners import controller_reference
from env_core.world import Object

ENDPOINTS = "endpoints"
SERVICES = "services"
RESOURCE = "endpointslices.discovery.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
_OWN_ANNOTATIONS = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "endpoints.kubernetes.io/last-change-trigger-time",
)


def _of_slice(endpointslice: Object, _component: Component) -> Iterable[Key]:
    metadata = endpointslice["metadata"]
    labels = metadata.get("labels") or {}
    if labels.get(MANAGED_BY) != MANAGER:
        return ()
    return (Key(metadata["namespace"], labels.get(SERVICE_NAME, "")),)


def _is_mirrored(endpoints: Object) -> bool:
    metadata = endpoints["metadata"]
    labels = metadata.get("labels") or {}
    if labels.get(SKIP) == "true" or "endpoints.kubernetes.io/managed-by" in labels:
        return False
    return LEADER not in (metadata.get("annotations") or {})


def _reconcile(component: Component, key: Key) -> Requeue | None:
    cache = component.cache
    known = [
        endpointslice
        for endpointslice in cache.indexed("service", f"{key.namespace}/{key.name}")
        if endpointslice["metadata"]["labels"].get(MANAGED_BY) == MANAGER
    ]
    endpoints, service = cache.get(ENDPOINTS, *key), cache.get(SERVICES, *key)
    is_wanted = (
        endpoints is not None
        and _is_mirrored(endpoints)
        and service is not None
        and service["spec"].get("selector") is None
    )
    if endpoints is None or not is_wanted:
        for endpointslice in known:
            component.api.delete(RESOURCE, key.namespace, endpointslice["metadata"]["name"])
        return None
    labels = {**(endpoints["metadata"].get("labels") or {}), SERVICE_NAME: key.name, MANAGED_BY: MANAGER}
    for family, groups in sorted(_groups(endpoints).items()):
        own = [endpointslice for endpointslice in known if endpointslice["addressType"] == family]
        known = [endpointslice for endpointslice in known if endpointslice["addressType"] != family]
        _write(component, endpoints, family, groups, own, labels)
    for endpointslice in known:
        component.api.delete(RESOURCE, key.namespace, endpointslice["metadata"]["name"])
    return None


def _groups(endpoints: Object) -> dict[str, list[Group]]:
    """Return ports and endpoints by address family."""
    found: dict[str, dict[tuple[Port, ...], list[Object]]] = {}
    for subset in endpoints.get("subsets") or ():
        ports = in_slice_order(
            (
                port.get("name") or "",
                port["port"],
                port.get("protocol") or "TCP",
                port.get("appProtocol") or "",
            )
            for port in subset.get("ports") or ()
        )
        for field, is_ready in (("addresses", True), ("notReadyAddresses", False)):
            for address in subset.get(field) or ():
                family = "IPv6" if ":" in address["ip"] else "IPv4"
                found.setdefault(family, {}).setdefault(ports, []).append(
                    _endpoint(address, is_ready=is_ready)
                )
    return {
        family: [([_port(port) for port in ports], rows) for ports, rows in groups.items()]
        for family, groups in found.items()
    }


def _port(port: Port) -> Object:
    name, number, protocol, application = port
    row: Object = {"name": name, "protocol": protocol, "port": number}
    return {**row, "appProtocol": application} if application else row


def _endpoint(address: Object, *, is_ready: bool) -> Object:
    endpoint: Object = {"addresses": [address["ip"]], "conditions": {"ready": is_ready}}
    for key in ("hostname", "targetRef", "nodeName"):
        if address.get(key):
            endpoint[key] = address[key]
    return endpoint


def _write(
    component: Component,
    endpoints: Object,
    family: str,
    groups: list[Group],
    own: list[Object],
    labels: dict[str, str],
) -> None:
    metadata = endpoints["metadata"]
    namespace = metadata["namespace"]
    plan = planned(groups, own, labels)
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key not in _OWN_ANNOTATIONS
    }
    for ports, rows in plan.create:
        if not rows:
            continue
        body = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": f"{metadata['name']}-",
                "namespace": namespace,
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [controller_reference(endpoints)],
            },
            "addressType": family,
            "endpoints": rows,
            "ports": ports or None,
        }
        component.api.create(RESOURCE, namespace, body)
    for endpointslice, ports, rows in plan.update:
        changed = {**endpointslice["metadata"], "labels": labels, "annotations": annotations}
        body = {**endpointslice, "metadata": changed, "endpoints": rows or None, "ports": ports or None}
        component.api.update(RESOURCE, namespace, body)
    for endpointslice in plan.delete:
        component.api.delete(RESOURCE, namespace, endpointslice["metadata"]["name"])


CONTROLLER = Controller(
    name="endpointslicemirroring",
    component="endpoint-slice-mirroring-controller",
    watches=((ENDPOINTS, own_key), (SERVICES, own_key), (RESOURCE, _of_slice)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/endpointslicemirroring; tests/golden/l2/flows (svc-headless)",
)
