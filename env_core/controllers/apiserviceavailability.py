"""Whether API services that other servers answer can be reached.

Source: k8s.io/kube-aggregator pkg/controllers/status/remote; tests/golden/l2/facts/errors.jsonl.gz (ids apiservice-).
No simulated program serves an API, so that the last check, a request to the service, always fails.
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

RESOURCE = "apiservices.apiregistration.k8s.io"
RESYNC_MS = 5_000
_SLICES = "endpointslices.discovery.k8s.io"


def _reconcile(component: Component, key: Key) -> Requeue | None:
    found = component.cache.get(RESOURCE, "", key.name)
    reference = ((found or {}).get("spec") or {}).get("service")
    if found is None or reference is None:
        return None
    reason, message = _unavailable(component, found, reference)
    conditions = (found.get("status") or {}).get("conditions") or []
    condition: Object = {
        "type": "Available",
        "status": "False",
        "lastTransitionTime": rfc3339(component.now_ms),
        "reason": reason,
        "message": message,
    }
    for old in conditions:
        if old.get("type") == "Available" and old.get("status") == "False":
            condition["lastTransitionTime"] = old.get("lastTransitionTime")
    if condition not in conditions:
        others = [each for each in conditions if each.get("type") != "Available"]
        component.api.update_status(RESOURCE, "", {**found, "status": {"conditions": [*others, condition]}})
    return Requeue(RESYNC_MS)


def _unavailable(component: Component, api_service: Object, reference: Object) -> tuple[str, str]:
    """Return reason and message of the first check that fails."""
    namespace, name = reference.get("namespace", ""), reference.get("name", "")
    port = reference.get("port")
    service = component.cache.get("services", namespace, name)
    if service is None:
        return "ServiceNotFound", f'service/{name} in "{namespace}" is not present'
    spec, host = service["spec"], f"{name}.{namespace}.svc"
    if spec.get("type") == "ClusterIP":
        ports = [each for each in spec.get("ports") or () if each.get("port") == port]
        if not ports:
            return "ServicePortError", f'service/{name} in "{namespace}" is not listening on port {port}'
        port_name = ports[0].get("name", "")
        slices = [
            each
            for each in component.cache.list(_SLICES, namespace)
            if (each["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == name
        ]
        if not slices:
            return "EndpointsNotFound", f'cannot find endpointslices for service/{name} in "{namespace}"'
        if not any(_has_address(each, port_name) for each in slices):
            text = f'endpointslices for service/{name} in "{namespace}" have no addresses with port name "{port_name}"'
            return "MissingEndpoints", text
        host = spec.get("clusterIP", "")
    wanted = api_service["spec"]
    url = f"https://{host}:{port}/apis/{wanted.get('group', '')}/{wanted.get('version', '')}"
    why = f'Get "{url}": dial tcp {host}:{port}: connect: connection refused'
    return "FailedDiscoveryCheck", f"failing or missing response from {url}: {why}"


def _has_address(endpoint_slice: Object, port_name: str) -> bool:
    ready = any(
        (endpoint.get("conditions") or {}).get("ready") is not False
        for endpoint in endpoint_slice.get("endpoints") or ()
    )
    return ready and any((port.get("name") or "") == port_name for port in endpoint_slice.get("ports") or ())


CONTROLLER = Controller(
    name="apiservice-availability",
    watches=((RESOURCE, own_key),),
    reconcile=retrying(_reconcile),
    source="k8s.io/kube-aggregator pkg/controllers/status/remote; tests/golden/l2/facts/errors.jsonl.gz",
    user="system:apiserver",
)
