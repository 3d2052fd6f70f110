"""`ip(…)` and `cidr(…)`.

Source: k8s.io/apiserver v0.37 pkg/cel/library/ip.go and cidr.go; Go's net/netip for what is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._addresses import AddressProblem, parse_address, parse_prefix
from env_core.cel._declarations import Function, Library, member, overload
from env_core.cel._types import BOOL, INT, STRING
from env_core.cel._values import CelError, Opaque

IP: Final = _types.struct("net.IP")
CIDR: Final = _types.struct("net.CIDR")
_Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class _Ip(Opaque):
    address: _Address
    cel_type = IP

    def size(self) -> int:
        """Return the number of bytes."""
        return self.address.max_prefixlen // 8

    def __str__(self) -> str:
        return str(self.address)


@dataclass(frozen=True, slots=True)
class _Cidr(Opaque):
    address: _Address
    bits: int
    cel_type = CIDR

    def size(self) -> int:
        """Return the number of bytes that the prefix reaches into."""
        return -(-self.bits // 8)

    @property
    def network(self) -> IPv4Network | IPv6Network:
        """The addresses with this prefix."""
        return ip_network((self.address, self.bits), strict=False)

    def __str__(self) -> str:
        return f"{self.address}/{self.bits}"


def _ip(text: str) -> Any:
    try:
        return _Ip(ip_address(parse_address(text)))
    except AddressProblem as problem:
        return CelError(str(problem))


def _cidr(text: str) -> Any:
    try:
        address, bits = parse_prefix(text)
    except AddressProblem as problem:
        return CelError(f"network address parse error during conversion from string: {problem}")
    return _Cidr(ip_address(address), bits)


def _is_canonical(text: str) -> Any:
    found = _ip(text)
    return found if isinstance(found, CelError) else str(found) == text


def _contains_ip(cidr: _Cidr, ip: Any) -> Any:
    if isinstance(ip, str):
        ip = _ip(ip)
    if isinstance(ip, CelError):
        return CelError("no such overload")
    return ip.address.version == cidr.address.version and ip.address in cidr.network


def _contains_cidr(cidr: _Cidr, other: Any) -> Any:
    if isinstance(other, str):
        other = _cidr(other)
    if isinstance(other, CelError):
        return other
    same = other.address.version == cidr.address.version
    return same and cidr.bits <= other.bits and other.address in cidr.network


def _masked(cidr: _Cidr) -> _Cidr:
    return _Cidr(cidr.network.network_address, cidr.bits)


def _test(id_: str, run: Callable[[_Address], bool]) -> Function:
    return Function((member(id_, (IP,), BOOL, lambda ip: run(ip.address)),))


def _is_global_unicast(address: _Address) -> bool:
    if address.version == 4 and str(address) == "255.255.255.255":
        return False
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special


def _is_link_local_multicast(address: _Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


LIBRARY = Library(
    order=17,
    functions={
        "ip": Function(
            (
                overload("string_to_ip", (STRING,), IP, _ip),
                member("cidr_ip", (CIDR,), IP, lambda cidr: _Ip(cidr.address)),
            )
        ),
        "family": Function((member("ip_family", (IP,), INT, lambda ip: ip.address.version),)),
        "ip.isCanonical": Function((overload("ip_is_canonical", (STRING,), BOOL, _is_canonical),)),
        "isUnspecified": _test("ip_is_unspecified", lambda address: address.is_unspecified),
        "isLoopback": _test("ip_is_loopback", lambda address: address.is_loopback),
        "isLinkLocalMulticast": _test("ip_is_link_local_multicast", _is_link_local_multicast),
        "isLinkLocalUnicast": _test("ip_is_link_local_unicast", lambda address: address.is_link_local),
        "isGlobalUnicast": _test("ip_is_global_unicast", _is_global_unicast),
        "isIP": Function((overload("is_ip", (STRING,), BOOL, lambda text: isinstance(_ip(text), _Ip)),)),
        "cidr": Function((overload("string_to_cidr", (STRING,), CIDR, _cidr),)),
        "isCIDR": Function(
            (overload("is_cidr", (STRING,), BOOL, lambda text: isinstance(_cidr(text), _Cidr)),)
        ),
        "containsIP": Function(
            (
                member("cidr_contains_ip_string", (CIDR, STRING), BOOL, _contains_ip),
                member("cidr_contains_ip_ip", (CIDR, IP), BOOL, _contains_ip),
            )
        ),
        "containsCIDR": Function(
            (
                member("cidr_contains_cidr_string", (CIDR, STRING), BOOL, _contains_cidr),
                member("cidr_contains_cidr", (CIDR, CIDR), BOOL, _contains_cidr),
            )
        ),
        "prefixLength": Function((member("cidr_prefix_length", (CIDR,), INT, lambda cidr: cidr.bits),)),
        "masked": Function((member("cidr_masked", (CIDR,), CIDR, _masked),)),
        "string": Function(
            (overload("ip_to_string", (IP,), STRING, str), overload("cidr_to_string", (CIDR,), STRING, str))
        ),
    },
    types=(IP, CIDR),
    source="k8s.io/apiserver v0.37 pkg/cel/library/ip.go, cidr.go",
)
