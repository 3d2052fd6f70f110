"""The monitor's eye on a service, which puts off the looks that cannot tell anything new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from env_core.cluster import Cluster
from env_core.world import Object


class Seen(Protocol):
    """What the monitor saw at one moment; equal when nothing differs."""

    @property
    def score(self) -> float:
        """How well the service does, in [0, 1]."""


P = TypeVar("P", bound=Seen)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sight(Generic[P]):
    """What a monitor looks at."""

    probe: Callable[[Cluster], P]
    """Send the requests of one look."""
    summary: Callable[[Cluster], Object]
    """What is told of the cluster without asking; it follows from the store alone."""
    services: tuple[tuple[str, str], ...]
    """(namespace, name) of every Service that a request can meet on its way."""
    unknown: P
    """Before the first look."""


class Watch(Generic[P]):
    """The monitor's eye on one cluster: probes when asked, and puts off what cannot tell anything new.

    While nothing has been written and nothing has happened, as many equal answers in a row as there are endpoints
    to take turns mean that the next one is the same. Such a request is noted and sent, as of its time, before
    anything looks at what requests leave behind (logs, usage) or time brings anything new.
    """

    __slots__ = (
        "_cluster",
        "_equal",
        "_mark",
        "_put_off",
        "_sight",
        "_summary",
        "_summary_revision",
        "_turns",
        "last",
    )

    def __init__(self, cluster: Cluster, sight: Sight[P], last: P | None = None) -> None:
        self._cluster = cluster
        self._sight = sight
        self.last: P = sight.unknown if last is None else last
        self._equal = 0
        self._turns = 1
        self._mark = (-1, -1)
        self._put_off: list[int] = []
        self._summary: Object = {}
        self._summary_revision = -1

    def settle(self) -> None:
        """Look as often as it takes to know that the next look would tell nothing new."""
        for _ in range(16):
            self.look()
            if self._put_off:
                self._put_off.pop()
                return

    def look(self) -> P:
        """Probe the service now."""
        cluster = self._cluster
        if (cluster.store.revision, cluster.loop.handled) != self._mark:
            self._equal = 0
        elif self._equal > self._turns:
            self._put_off.append(cluster.now_ms)
            return self.last
        self.catch_up()
        found = self._sight.probe(cluster)
        mark = (cluster.store.revision, cluster.loop.handled)
        if mark == self._mark and found == self.last:
            self._equal += 1
        else:
            self._equal = 1
            self._mark = mark
            self._turns = self._count_turns()
        self.last = found
        return found

    def catch_up(self) -> None:
        """Send what was put off, each request as of its own time."""
        put_off, self._put_off = self._put_off, []
        for at_ms in put_off:
            with self._cluster.loop.as_of(at_ms):
                self._sight.probe(self._cluster)

    def summary(self) -> Object:
        """Return the summary of the namespace, made again only when something was written."""
        revision = self._cluster.store.revision
        if revision != self._summary_revision:
            self._summary = self._sight.summary(self._cluster)
            self._summary_revision = revision
        return self._summary

    def fork(self, cluster: Cluster) -> Watch[P]:
        """Return the same eye on a forked cluster."""
        copy = Watch(cluster, self._sight, self.last)
        copy._equal = self._equal
        copy._turns = self._turns
        copy._mark = (self._mark[0], cluster.loop.handled) if self._mark == self._now() else (-1, -1)
        copy._put_off = list(self._put_off)
        copy._summary, copy._summary_revision = self._summary, self._summary_revision
        return copy

    def _now(self) -> tuple[int, int]:
        return self._cluster.store.revision, self._cluster.loop.handled

    def _count_turns(self) -> int:
        """Return how many endpoints take turns behind the busiest Service that a request can meet."""
        store = self._cluster.store
        return max(
            (
                sum(
                    len(entry.get("endpoints") or ())
                    for entry in store.indexed("service", f"{namespace}/{name}")
                )
                for namespace, name in self._sight.services
            ),
            default=1,
        )
