"""What makes endpoint slices and their older form, endpoints, invalid.

Source: kubernetes pkg/apis/discovery/validation, pkg/apis/core/validation (endpoints);
tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from env_core.kinds._policy_rules import immutable_null
from env_core.objects import names
from env_core.objects.problems import (
    Problem,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from env_core.world import Object

ADDRESSES_MAX = 100
ENDPOINTS_MAX = 1000
PORTS_MAX = 100
TOPOLOGY_LABELS_MAX = 16

_ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"]
_FAMILIES = {"IPv4": 4, "IPv6": 6}
_PROTOCOLS = ["SCTP", "TCP", "UDP"]


@lru_cache(maxsize=4096)
def _special(address: str) -> str:
    """Return what is wrong with an address as an endpoint, "" when it is fine."""
    if not names.ip_family(address):
        return "must be a valid IP address"
    parsed = ipaddress.ip_address(address)
    if parsed.is_unspecified:
        return f"may not be unspecified ({address})"
    if parsed.is_loopback:
        return "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if parsed.is_link_local:
        return "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
    if address.startswith("224.0.0.") or (parsed.is_multicast and parsed.exploded.startswith("ff02:")):
        return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
    return ""


def endpoint_address_problems(address: str, path: str) -> list[Problem]:
    """Refuse addresses that make no sense as an endpoint: unspecified, loopback, link-local."""
    text = _special(address)
    return [invalid(path, address, text)] if text else []


def validate_slice(obj: Object) -> list[Problem]:
    """Check an endpoint slice."""
    return _slice_problems(obj, frozenset())


def validate_slice_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed endpoint slice: the address type stays; addresses that were there are not looked at again."""
    known = frozenset(
        address for entry in old.get("endpoints") or () for address in entry.get("addresses") or ()
    )
    found = _slice_problems(new, known)
    if new.get("addressType") != old.get("addressType"):
        found.append(immutable_null("addressType"))
    return found


def _slice_problems(obj: Object, known: frozenset[str]) -> list[Problem]:
    kind = obj.get("addressType")
    found: list[Problem] = []
    if not kind:
        found.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        found.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    endpoints = obj.get("endpoints") or ()
    if len(endpoints) > ENDPOINTS_MAX:
        found.append(too_many("endpoints", len(endpoints), ENDPOINTS_MAX))
    else:
        for index, endpoint in enumerate(endpoints):
            found += _endpoint_problems(endpoint, kind or "", f"endpoints[{index}]", known)
    return found + _slice_port_problems(obj.get("ports") or [])


def _endpoint_problems(endpoint: Object, kind: str, path: str, known: frozenset[str]) -> list[Problem]:
    addresses = endpoint.get("addresses") or ()
    found: list[Problem] = []
    if not addresses:
        found.append(required(f"{path}.addresses"))
    elif len(addresses) > ADDRESSES_MAX:
        found.append(too_many(f"{path}.addresses", len(addresses), ADDRESSES_MAX))
    for index, address in enumerate(addresses):
        if address not in known:
            found += _typed_address_problems(address, kind, f"{path}.addresses[{index}]")
    node = endpoint.get("nodeName")
    if node is not None:
        found += [invalid(f"{path}.nodeName", node, text) for text in names.is_dns1123_subdomain(node)]
    topology = endpoint.get("deprecatedTopology") or {}
    if len(topology) > TOPOLOGY_LABELS_MAX:
        found.append(too_many(f"{path}.deprecatedTopology", len(topology), TOPOLOGY_LABELS_MAX))
    hostname = endpoint.get("hostname")
    if hostname is not None:
        found += [invalid(f"{path}.hostname", hostname, text) for text in names.is_dns1123_label(hostname)]
    return found


def _typed_address_problems(address: str, kind: str, path: str) -> list[Problem]:
    if kind == "FQDN":
        return _domain_problems(address, path)
    if kind not in _FAMILIES:
        return []
    family = names.ip_family(address)
    if not family:
        return [invalid(path, address, names.IP_TEXT)]
    if family != _FAMILIES[kind]:
        return [invalid(path, address, f"must be an {kind} address")]
    return endpoint_address_problems(address, path)


def _domain_problems(address: str, path: str) -> list[Problem]:
    if not address:
        return [required(path)]
    name = address.removesuffix(".")
    complaints = names.is_dns1123_subdomain(name)
    if complaints:
        return [invalid(path, name, ",".join(complaints))]
    if "." not in name:
        return [invalid(path, name, "should be a domain with at least two segments separated by dots")]
    for label in name.split("."):
        complaints = names.is_dns1123_label(label)
        if complaints:
            return [invalid(path, label, ",".join(complaints))]
    return []


def _slice_port_problems(ports: list[Object]) -> list[Problem]:
    if len(ports) > PORTS_MAX:
        return [too_many("ports", len(ports), PORTS_MAX)]
    found: list[Problem] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path = f"ports[{index}]"
        name = port.get("name") or ""
        if name:
            found += [invalid(f"{path}.name", name, text) for text in names.is_dns1123_label(name)]
        if name in seen:
            found.append(duplicate(f"{path}.name", name))
        seen.add(name)
        found += _protocol_problems(port.get("protocol"), f"{path}.protocol")
        application = port.get("appProtocol")
        if application is not None:
            found += [
                invalid(f"{path}.appProtocol", application, text)
                for text in names.is_qualified_name(application)
            ]
    return found


def _protocol_problems(protocol: str | None, path: str) -> list[Problem]:
    if not protocol:
        return [required(path)]
    return [] if protocol in _PROTOCOLS else [not_supported(path, protocol, _PROTOCOLS)]


def validate_endpoints(obj: Object) -> list[Problem]:
    """Check an endpoints object."""
    found: list[Problem] = []
    for index, subset in enumerate(obj.get("subsets") or ()):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            found.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for key in ("addresses", "notReadyAddresses"):
            for place, address in enumerate(subset.get(key) or ()):
                found += _endpoints_address_problems(address, f"{path}.{key}[{place}]")
        ports = subset.get("ports") or ()
        for place, port in enumerate(ports):
            found += _endpoints_port_problems(port, len(ports) > 1, f"{path}.ports[{place}]")
    return found


def validate_endpoints_update(new: Object, old: Object) -> list[Problem]:
    """Check changed endpoints; subsets that stayed the same are not looked at again."""
    return [] if new.get("subsets") == old.get("subsets") else validate_endpoints(new)


def _endpoints_address_problems(address: Object, path: str) -> list[Problem]:
    ip = address.get("ip") or ""
    found = [invalid(f"{path}.ip", ip, text) for text in names.is_ip(ip)]
    hostname = address.get("hostname")
    if hostname:
        found += [invalid(f"{path}.hostname", hostname, text) for text in names.is_dns1123_label(hostname)]
    node = address.get("nodeName")
    if node is not None:
        found += [invalid(f"{path}.nodeName", node, text) for text in names.is_dns1123_subdomain(node)]
    return found + endpoint_address_problems(ip, f"{path}.ip")


def _endpoints_port_problems(port: Object, needs_name: bool, path: str) -> list[Problem]:
    name = port.get("name")
    number = port.get("port") or 0
    found: list[Problem] = []
    if name:
        found += [invalid(f"{path}.name", name, text) for text in names.is_dns1123_label(name)]
    elif needs_name:
        found.append(required(f"{path}.name"))
    found += [invalid(f"{path}.port", number, text) for text in names.is_port_number(number)]
    found += _protocol_problems(port.get("protocol"), f"{path}.protocol")
    application = port.get("appProtocol")
    if application is not None:
        found += [
            invalid(f"{path}.appProtocol", application, text) for text in names.is_qualified_name(application)
        ]
    return found
