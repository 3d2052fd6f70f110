"""The network as a client program sees it from one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from env_core.dataplane._model import Answer, Connection, Resolution, Source
from env_core.dataplane.network import Network
from env_core.programs import (
    DNS_TIMEOUT,
    EMPTY,
    FILTERED,
    NETWORK_UNREACHABLE,
    NXDOMAIN,
    REFUSED,
    RESET,
    SERVFAIL,
    TIMEOUT,
    UNREACHABLE,
    Listener,
    Reply,
    Request,
)
from env_core.shell.context import Interrupted, Process

ERRORS: Final = {
    REFUSED: "Connection refused",
    UNREACHABLE: "No route to host",
    FILTERED: "No route to host",
    NETWORK_UNREACHABLE: "Network is unreachable",
    TIMEOUT: "Connection timed out",
    RESET: "Connection reset by peer",
}
"""glibc's texts for failures of a connection."""

RESOLVER_ERRORS: Final = {
    NXDOMAIN: "Name or service not known",
    SERVFAIL: "Temporary failure in name resolution",
    DNS_TIMEOUT: "Temporary failure in name resolution",
}
"""glibc's texts of getaddrinfo. Source: tests/golden/programs/nettools."""

__all__ = [
    "DNS_TIMEOUT",
    "EMPTY",
    "ERRORS",
    "FILTERED",
    "NETWORK_UNREACHABLE",
    "NXDOMAIN",
    "REFUSED",
    "RESET",
    "RESOLVER_ERRORS",
    "SERVFAIL",
    "TIMEOUT",
    "UNREACHABLE",
    "Answer",
    "Connection",
    "Listener",
    "NetworkWire",
    "Reply",
    "Request",
    "Resolution",
    "Wire",
    "sleep",
]


class Wire(Protocol):
    """What clients ask of the network. Nothing here lets time pass; latencies are in the answers."""

    @property
    def own_address(self) -> str:
        """The address of this place."""

    def own_ports(self) -> tuple[tuple[int, str], ...]:
        """Return the ports that programs of this place listen on, with the programs' names."""

    def resolve(self, host: str) -> Resolution:
        """Resolve a host as the C library does."""

    def connect(self, address: str, port: int, protocol: str = "TCP") -> Connection:
        """Open a connection."""

    def exchange(self, connection: Connection, request: Request) -> Reply:
        """Send a request over it."""

    def listener(self, connection: Connection) -> Listener | None:
        """Return what listens at the other end, as far as its first bytes show it."""

    def query(self, name: str, kind: str, server: str = "", protocol: str = "UDP") -> Answer:
        """Ask a name server one question; the configured one when none is named."""

    def resolver(self) -> tuple[tuple[str, ...], int, str]:
        """Return the search list, ndots and the name server of resolv.conf."""

    def ping(self, address: str) -> str:
        """Return "" when an echo request is answered, else the failure."""


@dataclass(frozen=True, slots=True)
class NetworkWire:
    """The simulated network from one place; `tries` is the C library's number of DNS attempts."""

    network: Network
    source: Source
    tries: int = 2

    @property
    def own_address(self) -> str:
        """The address of this place."""
        return self.source.ip

    def own_ports(self) -> tuple[tuple[int, str], ...]:
        """Return the ports that programs of this place listen on."""
        return self.network.listening(self.source)

    def resolve(self, host: str) -> Resolution:
        """Resolve a host."""
        return self.network.resolve(self.source, host, tries=self.tries)

    def connect(self, address: str, port: int, protocol: str = "TCP") -> Connection:
        """Open a connection."""
        return self.network.connect(self.source, address, port, protocol)

    def exchange(self, connection: Connection, request: Request) -> Reply:
        """Send a request."""
        return self.network.exchange(connection, request, self.network.now_ms)

    def listener(self, connection: Connection) -> Listener | None:
        """Return what listens at the other end."""
        launch = connection.run.launch if connection.run is not None else None
        listeners = launch.listeners if launch is not None else ()
        return next((each for each in listeners if each.port == connection.port), None)

    def query(self, name: str, kind: str, server: str = "", protocol: str = "UDP") -> Answer:
        """Ask a name server."""
        return self.network.query(self.source, name, kind, server=server, protocol=protocol)

    def resolver(self) -> tuple[tuple[str, ...], int, str]:
        """Return what resolv.conf says."""
        return self.network.search_of(self.source)

    def ping(self, address: str) -> str:
        """Send an echo request."""
        return self.network.ping(self.source, address)


def sleep(process: Process, duration_ms: int) -> bool:
    """Let time pass for a waiting client; return whether the process's own deadline cut it short."""
    try:
        process.advance(duration_ms)
    except Interrupted:
        return True
    return False
