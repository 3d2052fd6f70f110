"""What the agent sees without asking: the probe of the service, and one-line summaries of the namespace.

Source: SEEDS TR-16, TR-20, TR-22, TR-23.
"""

from __future__ import annotations

from dataclasses import dataclass

from env_core.cluster import Cluster
from env_core.programs import REFUSED, TIMEOUT, Reply, Request
from env_core.suites.tron._scenario import HOST, NAMESPACE
from env_core.world import Object

PROBE_TIMEOUT_MS = 3_000
SUMMARY_LINES_MAX = 50
HEALTHY = 1.0
DEGRADED = 0.7
ERRORS = 0.4
TIMED_OUT = 0.1
UNREACHABLE = 0.0


@dataclass(frozen=True, slots=True)
class ServiceProbe:
    """The outcome of one request to each of the two paths. A status is 0 when no HTTP answer came."""

    health_status: int
    data_status: int
    latency_ms: int
    score: float
    error: str = ""

    def shown(self) -> Object:
        """Return the observation's form."""
        return {
            "health_status": self.health_status,
            "data_status": self.data_status,
            "http_status": self.data_status or self.health_status,
            "latency_ms": self.latency_ms,
            "score": self.score,
            "error": self.error,
        }


UNKNOWN = ServiceProbe(0, 0, 0, -1.0)
"""Before the first look."""


class Watch:
    """The monitor's eye on one cluster: probes when asked, and puts off what cannot tell anything new.

    While nothing has been written and nothing has happened, as many equal answers in a row as there are endpoints
    to take turns mean that the next one is the same. Such a request is noted and sent, as of its time, before
    anything looks at what requests leave behind (logs, usage) or time brings anything new.
    """

    __slots__ = ("_cluster", "_equal", "_mark", "_put_off", "_summary", "_summary_revision", "_turns", "last")

    def __init__(self, cluster: Cluster, last: ServiceProbe = UNKNOWN) -> None:
        self._cluster = cluster
        self.last = last
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

    def look(self) -> ServiceProbe:
        """Probe the service now."""
        cluster = self._cluster
        if (cluster.store.revision, cluster.loop.handled) != self._mark:
            self._equal = 0
        elif self._equal > self._turns:
            self._put_off.append(cluster.now_ms)
            return self.last
        self.catch_up()
        found = probe(cluster)
        mark = (cluster.store.revision, cluster.loop.handled)
        if mark == self._mark and found == self.last:
            self._equal += 1
        else:
            self._equal = 1
            self._mark = mark
            self._turns = _turns(cluster)
        self.last = found
        return found

    def catch_up(self) -> None:
        """Send what was put off, each request as of its own time."""
        put_off, self._put_off = self._put_off, []
        for at_ms in put_off:
            with self._cluster.loop.as_of(at_ms):
                probe(self._cluster)

    def summary(self) -> Object:
        """Return the summary of the namespace, made again only when something was written."""
        revision = self._cluster.store.revision
        if revision != self._summary_revision:
            self._summary = summary(self._cluster)
            self._summary_revision = revision
        return self._summary

    def fork(self, cluster: Cluster) -> Watch:
        """Return the same eye on a forked cluster."""
        copy = Watch(cluster, self.last)
        copy._equal = self._equal
        copy._turns = self._turns
        copy._mark = (self._mark[0], cluster.loop.handled) if self._mark == self._now() else (-1, -1)
        copy._put_off = list(self._put_off)
        copy._summary, copy._summary_revision = self._summary, self._summary_revision
        return copy

    def _now(self) -> tuple[int, int]:
        return self._cluster.store.revision, self._cluster.loop.handled


def _turns(cluster: Cluster) -> int:
    """Return how many endpoints take turns behind the busiest Service that a request can meet."""
    store = cluster.store
    return max(
        (
            sum(
                len(entry.get("endpoints") or ()) for entry in store.indexed("service", f"{namespace}/{name}")
            )
            for namespace, name in _ON_THE_WAY
        ),
        default=1,
    )


_ON_THE_WAY = (
    (NAMESPACE, "nginx"),
    (NAMESPACE, "redis"),
    ("kube-system", "kube-dns"),
    ("kube-system", "traefik"),
)


def probe(cluster: Cluster) -> ServiceProbe:
    """Request both paths through the ingress, as a client outside, and score what came back."""
    health = _request(cluster, "/health")
    data = _request(cluster, "/data")
    failures = [reply.failure for reply in (health, data) if reply.failure]
    if not health.failure and health.status == 200:
        score = HEALTHY if not data.failure and data.status == 200 else DEGRADED
    elif len(failures) < 2:
        score = ERRORS
    else:
        score = TIMED_OUT if TIMEOUT in failures else UNREACHABLE
    return ServiceProbe(
        health_status=0 if health.failure else health.status,
        data_status=0 if data.failure else data.status,
        latency_ms=data.latency_ms,
        score=score,
        error=_named(failures[0]) if failures else "",
    )


def _named(failure: str) -> str:
    return {TIMEOUT: "timeout", REFUSED: "connection refused"}.get(failure, failure)


def _request(cluster: Cluster, path: str) -> Reply:
    return cluster.network.request_ingress(Request(path=path, host=HOST, timeout_ms=PROBE_TIMEOUT_MS))


def summary(cluster: Cluster) -> Object:
    """Return one line about pods, services, deployments and endpoints each."""
    store = cluster.store
    return {
        "pods": _joined([_pod(pod) for pod in store.list("pods", NAMESPACE)]),
        "services": _joined(
            [
                f"{entry['metadata']['name']} {entry['spec'].get('type', 'ClusterIP')}"
                for entry in store.list("services", NAMESPACE)
            ]
        ),
        "deployments": _joined([_deployment(entry) for entry in store.list("deployments.apps", NAMESPACE)]),
        "endpoints": _joined(
            [_endpoints(cluster, entry["metadata"]["name"]) for entry in store.list("services", NAMESPACE)]
        ),
    }


def _joined(lines: list[str]) -> str:
    shown = lines[:SUMMARY_LINES_MAX]
    return "; ".join(shown) if shown else "<none>"


def _pod(pod: Object) -> str:
    statuses = pod.get("status", {}).get("containerStatuses") or []
    ready = sum(1 for entry in statuses if entry.get("ready"))
    phase = pod.get("status", {}).get("phase", "Unknown")
    return f"{pod['metadata']['name']} {ready}/{len(pod['spec']['containers'])} {phase}"


def _deployment(entry: Object) -> str:
    available = entry.get("status", {}).get("availableReplicas", 0)
    return f"{entry['metadata']['name']} {available}/{entry['spec'].get('replicas', 1)}"


def _endpoints(cluster: Cluster, service: str) -> str:
    addresses: list[str] = []
    for entry in cluster.store.indexed("service", f"{NAMESPACE}/{service}"):
        ports = [port.get("port") for port in entry.get("ports") or ()]
        for endpoint in entry.get("endpoints") or ():
            if endpoint.get("conditions", {}).get("ready", True):
                addresses += [
                    f"{address}:{port}" for address in endpoint.get("addresses", ()) for port in ports
                ]
    return f"{service} {','.join(sorted(addresses)) or '<none>'}"
