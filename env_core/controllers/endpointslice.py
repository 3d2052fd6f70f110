"""EndpointSlices: the addresses behind each Service that selects pods.

Source: k8s.io/kubernetes pkg/controller/endpointslice, k8s.io/endpointslice reconciler.go;
tests/golden/l2/flows (ids svc-).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from env_core.apiserver.component import Component
from env_core.controllers import _services
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._ports import Port, in_slice_order
from env_core.controllers._retry import retrying
from env_core.controllers._slices import Plan, planned
from env_core.objects import conditions
from env_core.objects.owners import controller_reference
from env_core.world import Object

RESOURCE = "endpointslices.discovery.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
ZONE = "topology.kubernetes.io/zone"
_OWN_LABELS = (SERVICE_NAME, MANAGED_BY, _services.HEADLESS)


def _of_slice(endpointslice: Object, _component: Component) -> Iterable[Key]:
    metadata = endpointslice["metadata"]
    labels = metadata.get("labels") or {}
    if labels.get(MANAGED_BY) != MANAGER:
        return ()
    return (Key(metadata["namespace"], labels.get(SERVICE_NAME, "")),)


def _reconcile(component: Component, key: Key) -> Requeue | None:
    service = component.cache.get(_services.SERVICES, *key)
    if service is None:
        _services.forget(component, key)
        return None
    if "deletionTimestamp" in service["metadata"] or not _services.is_selecting(service):
        return None
    pods = _services.selected_pods(component, service)
    known = _slices_of(component, key)
    if _services.is_settled(component, key, _services.stamp_of(service, pods, known)):
        return None
    trigger = _services.trigger_time(component, key, service, pods)
    labels = _labels(service)
    for family in service["spec"].get("ipFamilies") or ("IPv4",):
        own = [endpointslice for endpointslice in known if endpointslice["addressType"] == family]
        plan = planned(_wanted(component, service, pods, family), own, labels)
        if not plan.is_empty:
            _carry_out(component, service, plan, family, labels, trigger)
    _services.settle(component, key, _services.stamp_of(service, pods, _slices_of(component, key)))
    return None


def _slices_of(component: Component, key: Key) -> list[Object]:
    return [
        endpointslice
        for endpointslice in component.cache.indexed("service", f"{key.namespace}/{key.name}")
        if endpointslice["metadata"]["labels"].get(MANAGED_BY) == MANAGER
        and "deletionTimestamp" not in endpointslice["metadata"]
    ]


def _labels(service: Object) -> dict[str, str]:
    metadata = service["metadata"]
    said = metadata.get("labels") or {}
    labels = {key: value for key, value in said.items() if key not in _OWN_LABELS}
    if _services.is_headless(service):
        labels[_services.HEADLESS] = ""
    return {**labels, SERVICE_NAME: metadata["name"], MANAGED_BY: MANAGER}


def _wanted(
    component: Component, service: Object, pods: Sequence[Object], family: str
) -> list[tuple[list[Object], list[Object]]]:
    """Return endpoints by the ports that they serve, as pairs of ports and endpoints."""
    groups: dict[tuple[Port, ...], list[Object]] = {}
    for pod in pods:
        if not _services.is_endpoint(pod, has_terminating=True):
            continue
        addresses = _addresses(pod, family)
        if not addresses:
            continue
        endpoint = _endpoint(component, service, pod, addresses)
        if endpoint is not None:
            groups.setdefault(_ports(service, pod), []).append(endpoint)
    return [([_port(row) for row in ports], endpoints) for ports, endpoints in groups.items()]


def _addresses(pod: Object, family: str) -> list[str]:
    status = pod["status"]
    listed = [entry["ip"] for entry in status.get("podIPs") or ({"ip": status["podIP"]},)]
    return [ip for ip in listed if (":" in ip) == (family == "IPv6")]


def _ports(service: Object, pod: Object) -> tuple[Port, ...]:
    found = []
    for port in service["spec"].get("ports") or ():
        number = _services.port_number(pod, port)
        if number is not None:
            found.append(
                (port.get("name") or "", number, port.get("protocol") or "TCP", port.get("appProtocol") or "")
            )
    return in_slice_order(found)


def _port(row: Port) -> Object:
    name, number, protocol, application = row
    port: Object = {"name": name, "protocol": protocol, "port": number}
    if application:
        port["appProtocol"] = application
    return port


def _endpoint(component: Component, service: Object, pod: Object, addresses: list[str]) -> Object | None:
    is_serving = conditions.is_pod_ready(pod)
    is_terminating = "deletionTimestamp" in pod["metadata"]
    publishes_unready = _services.publishes_unready(service)
    endpoint: Object = {
        "addresses": addresses,
        "conditions": {
            "ready": publishes_unready or (is_serving and not is_terminating),
            "serving": is_serving,
            "terminating": is_terminating,
        },
    }
    host = _services.hostname(pod, service)
    if host:
        endpoint["hostname"] = host
    endpoint["targetRef"] = _services.target_reference(pod)
    node_name = pod["spec"].get("nodeName")
    if node_name:
        endpoint["nodeName"] = node_name
        node = component.cache.get("nodes", "", node_name)
        if node is None and not publishes_unready:
            # A pod whose node is gone is about to be collected; nothing can reach it.
            return None
        zone = ((node or {}).get("metadata") or {}).get("labels", {}).get(ZONE)
        if zone:
            endpoint["zone"] = zone
    return endpoint


def _carry_out(
    component: Component, service: Object, plan: Plan, family: str, labels: dict[str, str], trigger: str
) -> None:
    metadata = service["metadata"]
    namespace = metadata["namespace"]
    for ports, endpoints in plan.create:
        body = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": f"{metadata['name']}-",
                "namespace": namespace,
                "labels": labels,
                "annotations": _services.with_trigger_time({}, trigger),
                "ownerReferences": [controller_reference(service)],
            },
            "addressType": family,
            "endpoints": endpoints or None,
            "ports": ports or None,
        }
        component.api.create(RESOURCE, namespace, body)
    for endpointslice, ports, endpoints in plan.update:
        own = endpointslice["metadata"]
        annotations = _services.with_trigger_time(own.get("annotations") or {}, trigger)
        changed = {**own, "labels": labels, "annotations": annotations}
        body = {**endpointslice, "metadata": changed, "endpoints": endpoints or None, "ports": ports or None}
        component.api.update(RESOURCE, namespace, body)
    for endpointslice in plan.delete:
        component.api.delete(RESOURCE, namespace, endpointslice["metadata"]["name"])


CONTROLLER = Controller(
    name="endpointslice",
    watches=(
        (_services.SERVICES, own_key),
        ("pods", _services.services_of),
        (RESOURCE, _of_slice),
    ),
    reconcile=retrying(_reconcile),
    component="endpoint-slice-controller",
    source="k8s.io/kubernetes pkg/controller/endpointslice; tests/golden/l2/flows",
)
