"""What the agent sees without asking: the probe of the service, and one-line summaries of the namespace.

Source: SEEDS TR-16, TR-20, TR-22, TR-23.
"""

from __future__ import annotations

from dataclasses import dataclass

from env_core.cluster import Cluster
from env_core.programs import REFUSED, TIMEOUT, Reply, Request
from env_core.suites._watch import Sight
from env_core.suites._watch import Watch as _Watch
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


SIGHT = Sight(
    probe=probe,
    summary=summary,
    services=(
        (NAMESPACE, "nginx"),
        (NAMESPACE, "redis"),
        ("kube-system", "kube-dns"),
        ("kube-system", "traefik"),
    ),
    unknown=UNKNOWN,
)
Watch = _Watch[ServiceProbe]
