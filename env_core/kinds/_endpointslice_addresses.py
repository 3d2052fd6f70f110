"""What kubectl shows of the endpoints behind a service: at most three ready addresses."""

from __future__ import annotations

from collections.abc import Iterator

from env_core.apiserver.kind import Reader
from env_core.world import Object

SERVICE_NAME_LABEL = "kubernetes.io/service-name"
ADDRESSES_MAX = 3


def slices_of(reader: Reader, namespace: str, service: str) -> list[Object]:
    """Return the endpoint slices of a service, with the one request that kubectl sends for them."""
    return reader.list("endpointslices.discovery.k8s.io", namespace, f"{SERVICE_NAME_LABEL}={service}")


def host_port(address: str, port: int) -> str:
    """Return "address:port", with an IPv6 address in brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def ready_addresses(slices: list[Object], port_name: str) -> str:
    """Return the ready endpoints that serve the port of that name; `<none>` when there is no slice at all.

    Unknown readiness counts as ready. "more" is noticed when a fourth endpoint is looked at, ready or not, so
    "+ 0 more..." is possible.

    Source: k8s.io/kubectl pkg/describe formatEndpointSlices; tests/golden/l0/describe.jsonl.gz service+slices.
    """
    if not slices:
        return "<none>"
    shown: list[str] = []
    has_more = False
    ready_count = 0
    for endpoint, port in _candidates(slices, port_name):
        has_more = has_more or len(shown) == ADDRESSES_MAX
        if (endpoint.get("conditions") or {}).get("ready") is False:
            continue
        if not has_more:
            address = endpoint["addresses"][0]
            shown.append(address if port is None else host_port(address, port))
        ready_count += 1
    text = ",".join(shown)
    return f"{text} + {ready_count - ADDRESSES_MAX} more..." if has_more else text


def _candidates(slices: list[Object], port_name: str) -> Iterator[tuple[Object, int | None]]:
    for slice_ in slices:
        endpoints = slice_.get("endpoints") or ()
        ports = slice_.get("ports")
        if not ports:
            for endpoint in endpoints:
                yield endpoint, None
            continue
        for port in ports:
            if (port.get("name") or "") == port_name:
                for endpoint in endpoints:
                    yield endpoint, port.get("port") or 0
