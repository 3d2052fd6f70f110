"""The series of a cluster, made when asked for.

Nothing is scraped and nothing is kept: a query's series are read off the store's log of changes, the containers' runs
and what their requests have used, as scrapes every 15 seconds would have seen them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from env_core.apiserver.store import Store
from env_core.dataplane.network import Network
from env_core.objects import conditions
from env_core.observability.promql import Matcher, Series
from env_core.observability.promql._series import StaticSource
from env_core.observability.series import _containers as containers
from env_core.observability.series._resources import ROWS
from env_core.observability.series._sampling import Row, Sampler, sample_objects, scrapes
from env_core.observability.series._timeline import Timeline
from env_core.programs import Runtime
from env_core.world import Object

RETENTION_MS: Final = 6 * 3_600_000
"""How far back a query sees."""
STATE_TARGET: Final = {"job": "kube-state-metrics", "instance": "kube-state-metrics.monitoring:8080"}
_UP, _CONTAINERS, _NODES, _APPLICATIONS = "up", "container_", "node_", "http_"


class ClusterSource:
    """A cluster's series up to now. It is made for one query, or for several at one moment."""

    def __init__(self, store: Store, runtime: Runtime, network: Network, now_ms: int) -> None:
        self._store = store
        self._runtime = runtime
        self._network = network
        self._now_ms = now_ms
        self._start_ms = now_ms + 1
        self._timeline = Timeline(store)
        self._made: dict[str, StaticSource] = {}
        self._running: list[containers.Running] | None = None

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Sequence[Series]:
        """Return the series that match and have samples in [start, end]."""
        end_ms = min(end_ms, self._now_ms)
        start_ms = max(start_ms, self._now_ms - RETENTION_MS)
        if start_ms > end_ms:
            return []
        if start_ms < self._start_ms:
            self._start_ms = start_ms
            self._made.clear()
        name = next((each.value for each in matchers if each.name == "__name__" and each.operator == "="), "")
        found: list[Series] = []
        for family in self._families(name):
            made = self._made.get(family)
            if made is None:
                made = self._made[family] = StaticSource(self._make(family))
            found += made.select(matchers, start_ms, end_ms)
        return found

    @staticmethod
    def _families(name: str) -> list[str]:
        own = [prefix for prefix, _ in ROWS.values()]
        every = [*own, _UP, _CONTAINERS, _NODES, _APPLICATIONS]
        if not name:
            return every
        if name == _UP:
            return [_UP, _APPLICATIONS]
        if name.startswith("process_"):
            return [_APPLICATIONS]
        return [family for family in every if name.startswith(family)]

    def _sampler(self, **target: str) -> Sampler:
        return Sampler(scrapes(self._start_ms, self._now_ms), target)

    def _runs(self) -> list[containers.Running]:
        if self._running is None:
            self._running = containers.running(self._store, self._runtime, self._network, self._now_ms)
        return self._running

    def _make(self, family: str) -> list[Series]:
        maker = _MAKERS.get(family)
        if maker is not None:
            return maker(self)
        resource = next(each for each, (prefix, _) in ROWS.items() if prefix == family)
        sampler = self._sampler(**STATE_TARGET)
        sample_objects(sampler, self._timeline.versions(resource), ROWS[resource][1])
        return sampler.series()

    def _containers(self) -> list[Series]:
        sampler = self._sampler(job="kubelet", metrics_path="/metrics/cadvisor")
        containers.container_series(sampler, self._runs(), self._network)
        return sampler.series()

    def _applications(self) -> list[Series]:
        sampler = self._sampler(job="kubernetes-pods")
        containers.application_series(sampler, self._runs())
        return sampler.series()

    def _nodes(self) -> list[Series]:
        samplers: list[Sampler] = []

        def sampler_of(node: str) -> Sampler:
            samplers.append(self._sampler(job="node-exporter", instance=f"{node}:9100", node=node))
            return samplers[-1]

        containers.node_series(sampler_of, self._store, self._runs(), self._network)
        return [series for sampler in samplers for series in sampler.series()]

    def _up(self) -> list[Series]:
        """Make `up` of what every cluster has: the API server, the state metrics, kubelets and node exporters."""
        found: list[Series] = []
        for target in ({"job": "apiserver", "instance": "10.0.0.1:6443"}, STATE_TARGET):
            sampler = self._sampler(**target)
            first, last = sampler.indexes(self._start_ms, self._now_ms + 1)
            sampler.add(Row("up", {}, 1), first, last)
            found += sampler.series()
        nodes = self._timeline.versions("nodes")
        for job, port in (("kubelet", 10250), ("node-exporter", 9100)):
            sampler = self._sampler(job=job)
            sample_objects(sampler, nodes, _up_of_node(port))
            found += sampler.series()
        return found


def _up_of_node(port: int) -> Callable[[Object], list[Row]]:
    def rows(node: Object) -> list[Row]:
        name = node["metadata"]["name"]
        # A node that has been lost cannot be scraped.
        is_up = conditions.status_of(node, "Ready") != "Unknown"
        return [Row("up", {"instance": f"{name}:{port}", "node": name}, float(is_up))]

    return rows


_MAKERS: Final[dict[str, Callable[[ClusterSource], list[Series]]]] = {
    _UP: ClusterSource._up,
    _CONTAINERS: ClusterSource._containers,
    _NODES: ClusterSource._nodes,
    _APPLICATIONS: ClusterSource._applications,
}
