"""What makes a network policy invalid.

Source: kubernetes pkg/apis/networking/validation; tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from env_core.kinds._policy_rules import selector_problems, unsupported
from env_core.objects import names
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.world import Object

DIRECTIONS = (("ingress", "from"), ("egress", "to"))

_POLICY_TYPES = ("Ingress", "Egress")
_PROTOCOLS = ("TCP", "UDP", "SCTP")


def validate(obj: Object) -> list[Problem]:
    """Check a network policy."""
    return _spec_problems(obj.get("spec") or {}, frozenset())


def validate_update(new: Object, old: Object) -> list[Problem]:
    """Check a changed network policy; networks that were there already are let pass."""
    known: set[str] = set()
    for _, peer in _peers(old.get("spec") or {}):
        block = peer.get("ipBlock") or {}
        known.update([block.get("cidr") or "", *(block.get("except") or ())])
    return _spec_problems(new.get("spec") or {}, frozenset(known))


def _peers(spec: Object) -> Iterator[tuple[str, Object]]:
    for direction, side in DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            for place, peer in enumerate(rule.get(side) or ()):
                yield f"spec.{direction}[{index}].{side}[{place}]", peer


def _spec_problems(spec: Object, known: frozenset[str]) -> list[Problem]:
    found = selector_problems(spec.get("podSelector"), "spec.podSelector")
    for direction, side in DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            path = f"spec.{direction}[{index}]"
            for place, port in enumerate(rule.get("ports") or ()):
                found += _port_problems(port, f"{path}.ports[{place}]")
            for place, peer in enumerate(rule.get(side) or ()):
                found += _peer_problems(peer, f"{path}.{side}[{place}]", known)
    kinds = spec.get("policyTypes") or []
    if len(kinds) > len(_POLICY_TYPES):
        return [*found, invalid("spec.policyTypes", kinds, "may not specify more than two policyTypes")]
    for index, kind in enumerate(kinds):
        if kind not in _POLICY_TYPES:
            found.append(unsupported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES))
    return found


def _port_problems(port: Object, path: str) -> list[Problem]:
    found: list[Problem] = []
    protocol = port.get("protocol")
    if protocol is not None and protocol not in _PROTOCOLS:
        found.append(unsupported(f"{path}.protocol", protocol, _PROTOCOLS))
    number = port.get("port")
    end = port.get("endPort")
    if number is None:
        if end is not None:
            found.append(invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified"))
    elif isinstance(number, str):
        if end is not None:
            found.append(invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric"))
        found += [invalid(f"{path}.port", number, text) for text in names.is_port_name(number)]
    else:
        found += [invalid(f"{path}.port", number, text) for text in names.is_port_number(number)]
        if end is not None:
            if end < number:
                found.append(invalid(f"{path}.endPort", end, "must be greater than or equal to `port`"))
            found += [invalid(f"{path}.endPort", end, text) for text in names.is_port_number(end)]
    return found


def _peer_problems(peer: Object, path: str, known: frozenset[str]) -> list[Problem]:
    found: list[Problem] = []
    for key in ("podSelector", "namespaceSelector"):
        found += selector_problems(peer.get(key), f"{path}.{key}")
    block = peer.get("ipBlock")
    has_selector = peer.get("podSelector") is not None or peer.get("namespaceSelector") is not None
    if block is not None:
        found += _block_problems(block, f"{path}.ipBlock", known)
        if has_selector:
            found.append(forbidden(path, "may not specify both ipBlock and another peer"))
    elif not has_selector:
        found.append(required(path, "must specify a peer"))
    return found


def _block_problems(block: Object, path: str, known: frozenset[str]) -> list[Problem]:
    cidr = block.get("cidr") or ""
    if not cidr:
        return [required(f"{path}.cidr")]
    found = [] if cidr in known else [invalid(f"{path}.cidr", cidr, text) for text in names.is_cidr(cidr)]
    if not names.cidr_family(cidr):
        return found
    network = ipaddress.ip_network(cidr, strict=False)
    for index, excepted in enumerate(block.get("except") or ()):
        place = f"{path}.except[{index}]"
        if excepted not in known:
            found += [invalid(place, excepted, text) for text in names.is_cidr(excepted)]
        if not names.cidr_family(excepted):
            continue
        inner = ipaddress.ip_network(excepted, strict=False)
        if inner.prefixlen <= network.prefixlen or inner.network_address not in network:
            found.append(invalid(place, excepted, "must be a strict subset of `cidr`"))
    return found
