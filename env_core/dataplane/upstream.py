"""How a serving container reaches others, and what it keeps: what programs see of the cluster while they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from env_core.dataplane._model import Source
from env_core.dataplane.connecting import source_at
from env_core.programs import DNS_TIMEOUT, NXDOMAIN, SERVFAIL, UNREACHABLE, Reply, Request, Run
from env_core.programs._disks import place_of
from env_core.programs._images import is_musl
from env_core.programs._model import ADDRESS
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.dataplane.network import Network


class Upstream:
    """How a serving container reaches others."""

    __slots__ = ("_network", "_pod", "_source", "elapsed_ms", "now_ms", "run")

    def __init__(self, network: Network, run: Run, pod: Object | None, now_ms: int) -> None:
        self._network = network
        self._pod = pod
        self._source: Source | None = None
        self.run = run
        self.now_ms = now_ms
        self.elapsed_ms = 1

    @property
    def clock_ms(self) -> int:
        """What the container takes the time to be: its node's clock may be off."""
        return self._network._runtime.clocks.shown_ms(self.run.container.node, self.now_ms)

    def source(self) -> Source | None:
        """Return the container's place."""
        if self._source is None and self._pod is not None:
            self._source = self._network._source_at(self._pod) or source_at(
                self._pod, self.run.container.pod_ip
            )
        return self._source

    def request(self, host: str, port: int, request: Request) -> Reply:
        """Send a request as the container."""
        source = self.source()
        if source is None:
            return Reply(failure=UNREACHABLE, detail="connect")
        tries = 1 if is_musl(self.run.container.image) else 2
        reply = self._network._request(source, host, port, request, tries, self.now_ms + self.elapsed_ms)
        self.elapsed_ms += reply.latency_ms
        return reply

    def resolve(self, host: str) -> Reply:
        """Look a name up as the container."""
        source = self.source()
        if source is None:
            return Reply(failure=UNREACHABLE, detail="dns")
        found = self._network.resolve(source, host, tries=1 if is_musl(self.run.container.image) else 2)
        self.elapsed_ms += found.latency_ms
        return Reply(
            failure=found.failure,
            headers=tuple((ADDRESS, each) for each in found.addresses),
            body=next(iter(found.addresses), ""),
            latency_ms=found.latency_ms,
            detail=found.detail,
        )

    def ask(self, name: str, server: str) -> Reply:
        """Look a whole name up at one name server."""
        source = self.source()
        if source is None:
            return Reply(failure=UNREACHABLE, detail="dns")
        answer = self._network.query(source, name, "A", server=server)
        if answer.failure:
            return Reply(failure=DNS_TIMEOUT, detail="dns")
        self.elapsed_ms += answer.latency_ms
        found = answer.values("A")
        failure = "" if found else SERVFAIL if answer.rcode in ("SERVFAIL", "REFUSED") else NXDOMAIN
        return Reply(failure=failure, body=next(iter(found), ""), latency_ms=answer.latency_ms, detail="dns")

    def certificate(self, host: str, port: int) -> str:
        """Return what a TLS server shows to the container."""
        source = self.source()
        address = self.resolve(host).body
        if source is None or not address:
            return ""
        connection = self._network.connect(source, address, port)
        if connection.run is None or connection.failure:
            return ""
        return next(
            (each.certificate for each in connection.run.launch.listeners if each.port == connection.port), ""
        )

    def state(self) -> dict[str, str]:
        """Return the container's memory."""
        container = self.run.container
        return self._network._runtime.memory(container.pod_uid, container.name)

    def remember(self, state: dict[str, str]) -> None:
        """Replace the container's memory."""
        container = self.run.container
        self._network._runtime.remember(container.pod_uid, container.name, state)

    def stored(self, path: str) -> Mapping[str, str]:
        """Return what a directory keeps on disk."""
        return self._network._runtime.disks.read(place_of(self.run.container, path))

    def store(self, path: str, rows: Mapping[str, str]) -> None:
        """Replace what a directory keeps on disk."""
        self._network._runtime.disks.write(place_of(self.run.container, path), rows)

    def free_bytes(self, path: str) -> int | None:
        """Return what is left of the volume on which a path lies."""
        space = self._network.space(place_of(self.run.container, path))
        return None if space is None else space.size - space.used

    def has_peer(self, address: str) -> bool:
        """Whether a pod or node has the address."""
        network = self._network
        return network._runtime.pod_at(address) is not None or address in network._nodes

    def takes_ms(self, cpu_ms: int) -> int:
        """Return how long work takes as things are."""
        return self._network.crowds.takes_ms(self.run, self.now_ms, cpu_ms)

    def telemetry(self, path: str, form: str) -> tuple[int, str, str]:
        """Ask what monitors the cluster."""
        return self._network.telemetry(path, form)
