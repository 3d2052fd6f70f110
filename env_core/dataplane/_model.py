"""Where requests come from and what names resolve to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from env_core.programs import Run
from env_core.world import Object

_NO_LABELS: Final[Mapping[str, str]] = {}


class Source(NamedTuple):
    """A place in the network that requests come from: a pod, or a host outside the cluster."""

    namespace: str
    pod: str
    ip: str
    dns_policy: str = "ClusterFirst"
    labels: Mapping[str, str] = _NO_LABELS
    uid: str = ""
    is_host_network: bool = False

    @property
    def is_outside(self) -> bool:
        """Whether this is no pod but a host on the nodes' network."""
        return not self.pod


class Resolution(NamedTuple):
    """What the resolver library returned for a name."""

    addresses: tuple[str, ...] = ()
    failure: str = ""
    """NXDOMAIN, SERVFAIL or DNS_TIMEOUT."""
    latency_ms: int = 0
    name: str = ""
    """The full name that had the addresses."""
    is_local: bool = False
    """Whether it came from /etc/hosts."""
    server: str = ""
    """The name server that was asked."""
    is_refused: bool = False
    """Whether nothing listens there."""

    @property
    def detail(self) -> str:
        """What a reply says of a look-up that failed: "dns", the name server, and "refused" where nothing listens there."""
        return f"dns {self.server}{' refused' * self.is_refused}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a name server answered to one query."""

    rcode: str = "NOERROR"
    """NOERROR, NXDOMAIN, SERVFAIL or REFUSED."""
    records: tuple[tuple[str, str, str], ...] = ()
    """(name, type, value), in order."""
    failure: str = ""
    """TIMEOUT or REFUSED when no answer came."""
    latency_ms: int = 1
    is_authoritative: bool = True
    is_recursive: bool = False
    ttl_seconds: int = 30
    authority: str = ""
    """The zone whose SOA comes with a negative answer."""

    def values(self, kind: str) -> tuple[str, ...]:
        """Return the values of the records of a type."""
        return tuple(value for _, each, value in self.records if each == kind)


class OutsideName(NamedTuple):
    """What the resolvers outside the cluster know of a name."""

    addresses: tuple[str, ...] = ()
    rcode: str = "NOERROR"
    zone: str = "."
    """The zone whose SOA comes with a negative answer."""
    is_own: bool = False
    """Whether the cluster's name server has the zone itself (so that its answers are authoritative)."""


class Connection(NamedTuple):
    """An opened connection, or why there is none."""

    failure: str = ""
    """REFUSED, TIMEOUT, UNREACHABLE, NETWORK_UNREACHABLE or FILTERED."""
    address: str = ""
    """The address at the other end, behind any Service."""
    port: int = 0
    run: Run | None = None
    pod: Object | None = None
    source_ip: str = ""
    """The address that the other end sees."""
