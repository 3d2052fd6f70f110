"""The order in which Endpoints and EndpointSlices list ports: that of their hashes.

Source: k8s.io/endpointslice util, k8s.io/kubernetes pkg/api/v1/endpoints; tests/golden/l2/flows (svc-multiport,
sre-port-mismatch). The hash is FNV-1a of 128 bits over Go's dump of the port.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_OFFSET = 144066263297769815596495629667062367629
_PRIME = 309485009821345068724781371
_MASK = (1 << 128) - 1

Port = tuple[str, int, str, str]
"""Name, number, protocol, application protocol ("" for none)."""


def in_slice_order(ports: Iterable[Port]) -> tuple[Port, ...]:
    """Return the ports as an EndpointSlice lists them."""
    return _sorted(tuple(ports), is_slice=True)


def in_subset_order(ports: Iterable[Port]) -> tuple[Port, ...]:
    """Return the ports as a subset of Endpoints lists them."""
    return _sorted(tuple(ports), is_slice=False)


@lru_cache(maxsize=4096)
def _sorted(ports: tuple[Port, ...], *, is_slice: bool) -> tuple[Port, ...]:
    if len(ports) < 2:
        return ports
    return tuple(sorted(ports, key=lambda port: _hash(_slice_dump(port) if is_slice else _subset_dump(port))))


def _slice_dump(port: Port) -> str:
    name, number, protocol, application = port
    return (
        f"(v1.EndpointPort){{Name:(*string){name} Protocol:(*v1.Protocol){protocol} Port:(*int32){number} "
        f"AppProtocol:(*string){application or '<nil>'}}}"
    )


def _subset_dump(port: Port) -> str:
    name, number, protocol, application = port
    return (
        f"(v1.EndpointPort){{Name:(string){name} Port:(int32){number} Protocol:(v1.Protocol){protocol} "
        f"AppProtocol:(*string){application or '<nil>'}}}"
    )


def _hash(text: str) -> int:
    state = _OFFSET
    for byte in text.encode():
        state = (state ^ byte) * _PRIME & _MASK
    return state
