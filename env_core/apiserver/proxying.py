"""Proxy subresources: where a request to a service, pod or node is passed on to, and who passes it on.

Source: kubernetes pkg/registry/core/{service/storage,pod,node} (ResourceLocation); k8s.io/apimachinery pkg/util/net
(SplitSchemeNamePort) and pkg/util/proxy (transport.go); tests/golden/l2/facts/errors.jsonl.gz (ids get-proxy-). What a
backend that cannot be reached makes of it is not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from env_core.apiserver import errors
from env_core.objects.problems import quoted
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

KUBELET_PORT = "10250"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """A request to pass on. With a `node` it is for that node's kubelet."""

    scheme: str = ""
    address: str = ""
    port: int = 80
    node: str = ""
    method: str = "GET"
    path: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What came back: an HTTP answer, or why there is none, in Go's words."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    error: str = ""


class Forwarder(Protocol):
    """Whoever passes requests on."""

    def forward(self, request: Forward) -> Passed:
        """Send a request and return the answer."""


def split_name(text: str, what: str) -> tuple[str, str, str]:
    """Return scheme, name and port of "name", "name:port" or "scheme:name:port".

    Raises:
        StatusError: BadRequest for anything else.
    """
    parts = text.split(":")
    if len(parts) == 1 and parts[0]:
        return "", parts[0], ""
    if len(parts) == 2 and parts[0]:
        return "", parts[0], parts[1]
    if len(parts) == 3 and parts[0] in ("", "http", "https") and parts[1]:
        return parts[0], parts[1], parts[2]
    raise errors.bad_request(f"invalid {what} request {quoted(text)}")


def unavailable(text: str) -> errors.StatusError:
    """503: there is nothing to pass a request on to."""
    return errors.StatusError(errors.status(503, "ServiceUnavailable", text))


def place_of(server: ApiServer, plural: str, namespace: str, asked: str) -> Forward:
    """Return where a request for "services", "pods" or "nodes" goes; method, path and the rest are to be filled in.

    Raises:
        StatusError: when there is no such place.
    """
    if plural == "services":
        return _of_service(server, namespace, asked)
    if plural == "pods":
        return _of_pod(server, namespace, asked)
    return _of_node(server, asked)


def _of_service(server: ApiServer, namespace: str, asked: str) -> Forward:
    scheme, name, port = split_name(asked, "service")
    if port.isdecimal():
        service = server.store.get("services", namespace, name)
        if service is None:
            raise errors.not_found("", "services", name)
        ports = [each for each in service["spec"].get("ports") or () if each["port"] == int(port)]
        if not ports:
            raise unavailable(f"no service port {port} found for service {quoted(name)}")
        port = ports[0].get("name") or ""
    slices = server.store.indexed("service", f"{namespace}/{name}")
    ready = False
    for endpoint_slice in slices:
        endpoints = [each for each in endpoint_slice.get("endpoints") or () if _is_ready(each)]
        ready = ready or bool(endpoints)
        for each in endpoint_slice.get("ports") or ():
            if endpoints and (each.get("name") or "") == port and each.get("port"):
                # Upstream takes any of them by chance.
                return Forward(scheme=scheme, address=endpoints[0]["addresses"][0], port=each["port"])
    raise unavailable(f"no endpoints available for service {quoted(asked if ready else name)}")


def _is_ready(endpoint: Object) -> bool:
    conditions = endpoint.get("conditions") or {}
    return conditions.get("ready") is not False and bool(endpoint.get("addresses"))


def _of_pod(server: ApiServer, namespace: str, asked: str) -> Forward:
    scheme, name, port = split_name(asked, "pod")
    pod = server.store.get("pods", namespace, name)
    if pod is None:
        raise errors.not_found("", "pods", name)
    if not port:
        declared = [each for container in pod["spec"]["containers"] for each in container.get("ports") or ()]
        port = str(declared[0]["containerPort"]) if declared else ""
    address = (pod.get("status") or {}).get("podIP") or ""
    if not address or address.startswith(("127.", "169.254.")):
        raise errors.bad_request("address not allowed")
    number = int(port) if port.isdecimal() else (443 if scheme == "https" else 80)
    return Forward(scheme=scheme, address=address, port=number)


def _of_node(server: ApiServer, asked: str) -> Forward:
    scheme, name, port = split_name(asked, "node")
    node = server.store.get("nodes", "", name)
    if node is None:
        raise errors.not_found("", "nodes", name)
    addresses = {each["type"]: each["address"] for each in (node.get("status") or {}).get("addresses") or ()}
    address = addresses.get("InternalIP") or name
    if port in ("", KUBELET_PORT):
        return Forward(scheme="https", address=address, port=int(KUBELET_PORT), node=name)
    return Forward(scheme=scheme, address=address, port=int(port) if port.isdecimal() else 80)
