"""NetworkPolicy: which connections between pods, and to and from addresses, are let through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network
from typing import Any, Final, NamedTuple

from env_core.apiserver.store import Store
from env_core.objects import selectors
from env_core.objects.selectors import LabelSelector
from env_core.world import Object

RESOURCE: Final = "networkpolicies.networking.k8s.io"
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Peer(NamedTuple):
    """One end of a connection as policies see it."""

    namespace: str
    labels: Mapping[str, str]
    ip: str
    is_pod: bool
    """Whether it is a pod with an address of its own; others match only by address."""
    pod: Object | None = None


@dataclass(frozen=True, slots=True)
class _Port:
    protocol: str
    first: int | str
    """A number, or the name of a container port; 0 for every port."""
    last: int


@dataclass(frozen=True, slots=True)
class _PeerRule:
    pods: LabelSelector | None
    namespaces: LabelSelector | None
    block: str
    excluded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Rule:
    peers: tuple[_PeerRule, ...]
    """No peers: everyone."""
    ports: tuple[_Port, ...]
    """No ports: every port."""


@dataclass(frozen=True, slots=True)
class _Policy:
    selector: LabelSelector
    ingress: tuple[_Rule, ...] | None
    """None when the policy says nothing of the direction."""
    egress: tuple[_Rule, ...] | None


@lru_cache(maxsize=1024)
def _network(text: str) -> IPv4Network | None:
    try:
        found = ip_network(text, strict=False)
    except ValueError:
        return None
    return found if isinstance(found, IPv4Network) else None


@lru_cache(maxsize=4096)
def _address(text: str) -> IPv4Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found if isinstance(found, IPv4Address) else None


def _in_block(address: str, block: str, excluded: tuple[str, ...]) -> bool:
    at = _address(address)
    network = _network(block)
    if at is None or network is None or at not in network:
        return False
    return not any((inner := _network(each)) is not None and at in inner for each in excluded)


def _compiled(policy: Object) -> _Policy:
    spec = policy["spec"]
    kinds = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
    return _Policy(
        selectors.from_object(spec.get("podSelector") or {}),
        _rules(spec.get("ingress"), "from") if "Ingress" in kinds else None,
        _rules(spec.get("egress"), "to") if "Egress" in kinds else None,
    )


def _rules(rules: list[Object] | None, key: str) -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            tuple(_peer_rule(peer) for peer in rule.get(key) or ()),
            tuple(_port(port) for port in rule.get("ports") or ()),
        )
        for rule in rules or ()
    )


def _peer_rule(peer: Object) -> _PeerRule:
    block = peer.get("ipBlock")
    if block is not None:
        return _PeerRule(None, None, block["cidr"], tuple(block.get("except") or ()))
    pods, namespaces = peer.get("podSelector"), peer.get("namespaceSelector")
    return _PeerRule(
        selectors.from_object(pods) if pods is not None else None,
        selectors.from_object(namespaces) if namespaces is not None else None,
        "",
        (),
    )


def _port(port: Object) -> _Port:
    first: Any = port.get("port", 0)
    return _Port(
        port.get("protocol", "TCP"), first, port.get("endPort", first if isinstance(first, int) else 0)
    )


class Policies:
    """The policies of a store, compiled per namespace when first asked for; `refresh` comes before use."""

    __slots__ = ("_compiled", "_stamp", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stamp = -1
        self._compiled: dict[str, tuple[_Policy, ...]] = {}

    def refresh(self) -> None:
        """Drop what changes to policies have outdated."""
        stamp = self._store.last_write(RESOURCE)
        if stamp != self._stamp:
            self._compiled.clear()
            self._stamp = stamp

    def _of(self, namespace: str) -> tuple[_Policy, ...]:
        found = self._compiled.get(namespace)
        if found is None:
            found = tuple(_compiled(policy) for policy in self._store.list(RESOURCE, namespace))
            self._compiled[namespace] = found
        return found

    def allows(self, source: Peer, destination: Peer, port: int, protocol: str) -> bool:
        """Whether a connection to `port` of the destination is let out and in.

        Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
        """
        if source.is_pod and not self._lets(
            source, destination, destination, port, protocol, is_ingress=False
        ):
            return False
        return not destination.is_pod or self._lets(
            destination, source, destination, port, protocol, is_ingress=True
        )

    def _lets(
        self, subject: Peer, other: Peer, destination: Peer, port: int, protocol: str, *, is_ingress: bool
    ) -> bool:
        policies = self._of(subject.namespace)
        if not policies:
            return True
        is_isolated = False
        for policy in policies:
            rules = policy.ingress if is_ingress else policy.egress
            if rules is None or not policy.selector.matches(subject.labels):
                continue
            is_isolated = True
            for rule in rules:
                if self._has_port(rule, destination, port, protocol) and self._has_peer(
                    rule, subject.namespace, other
                ):
                    return True
        return not is_isolated

    def _has_port(self, rule: _Rule, destination: Peer, port: int, protocol: str) -> bool:
        if not rule.ports:
            return True
        for each in rule.ports:
            if each.protocol != protocol:
                continue
            if each.first == 0:
                return True
            if isinstance(each.first, str):
                if _named_port(destination.pod, each.first, protocol) == port:
                    return True
            elif each.first <= port <= each.last:
                return True
        return False

    def _has_peer(self, rule: _Rule, own_namespace: str, other: Peer) -> bool:
        if not rule.peers:
            return True
        for peer in rule.peers:
            if peer.block:
                if _in_block(other.ip, peer.block, peer.excluded):
                    return True
                continue
            if not other.is_pod:
                continue
            if peer.namespaces is None:
                if other.namespace != own_namespace:
                    continue
            elif not peer.namespaces.matches(self._namespace_labels(other.namespace)):
                continue
            if peer.pods is None or peer.pods.matches(other.labels):
                return True
        return False

    def _namespace_labels(self, name: str) -> Mapping[str, str]:
        namespace = self._store.get("namespaces", "", name)
        labels = (namespace["metadata"].get("labels") or {}) if namespace is not None else {}
        return labels if _NAME_LABEL in labels else {**labels, _NAME_LABEL: name}


def _named_port(pod: Object | None, name: str, protocol: str) -> int:
    if pod is None:
        return -1
    spec = pod["spec"]
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        for port in container.get("ports") or ():
            if port.get("name") == name and port.get("protocol", "TCP") == protocol:
                number: int = port["containerPort"]
                return number
    return -1
