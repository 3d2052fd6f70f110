"""What the agent sees of the service without asking: each way in, asked once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from env_core.cluster import Cluster
from env_core.programs import Request
from env_core.scenarios._app import Base, Entry
from env_core.suites._watch import Sight
from env_core.suites._watch import Watch as _Watch
from env_core.world import Object

_TIMEOUT_FACTOR = 3


@dataclass(frozen=True, slots=True)
class Level:
    """One way in as one request found it. A status is 0 when no HTTP answer came."""

    name: str
    url: str
    status: int
    latency_ms: int
    is_served: bool
    error: str = ""

    def shown(self) -> Object:
        """Return the observation's form."""
        return {
            "name": self.name,
            "url": self.url,
            "status": self.status,
            "latency_ms": self.latency_ms,
            "is_served": self.is_served,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class Levels:
    """All ways in at one moment."""

    levels: tuple[Level, ...] = ()

    @property
    def score(self) -> float:
        """The share that is served, in [0, 1]; 0 before the first look."""
        served = sum(1 for level in self.levels if level.is_served)
        return round(served / len(self.levels), 4) if self.levels else 0.0

    def shown(self) -> list[Object]:
        """Return the observation's form."""
        return [level.shown() for level in self.levels]


Watch = _Watch[Levels]


def _asked(cluster: Cluster, entry: Entry) -> Level:
    reply = cluster.network.request_ingress(
        Request(
            method=entry.method,
            path=entry.path,
            host=entry.host,
            body=entry.body,
            timeout_ms=entry.latency_ms_max * _TIMEOUT_FACTOR,
        )
    )
    is_served = (
        not reply.failure
        and reply.status == entry.status
        and entry.contains in reply.body
        and reply.latency_ms <= entry.latency_ms_max
    )
    return Level(
        name=entry.name,
        url=f"http://{entry.host}{entry.path}",
        status=0 if reply.failure else reply.status,
        latency_ms=reply.latency_ms,
        is_served=is_served,
        error=reply.failure,
    )


def _services(base: Base) -> tuple[tuple[str, str], ...]:
    own = tuple(
        (workload.namespace, workload.service) for workload in base.workloads.values() if workload.service
    )
    return (*own, ("kube-system", "kube-dns"), ("kube-system", "traefik"))


def sight(base: Base) -> Sight[Levels]:
    """Return what the monitor looks at in a world."""
    return _sight(base.entries, _services(base))


@lru_cache(maxsize=64)
def _sight(entries: tuple[Entry, ...], services: tuple[tuple[str, str], ...]) -> Sight[Levels]:
    return Sight(
        probe=lambda cluster: Levels(tuple(_asked(cluster, entry) for entry in entries)),
        summary=lambda _cluster: {},
        services=services,
        unknown=Levels(),
    )
