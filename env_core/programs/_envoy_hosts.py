"""The hosts of Envoy's clusters: their addresses, who is next, who is taken out for failures, and how much a cluster may bear.

Source: docs/root/intro/arch_overview/upstream/outlier.rst, circuit_breaking.rst, load_balancing/panic_threshold.rst,
service_discovery.rst of envoyproxy/envoy. Requests are in flight for as long as their answers took.
"""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import asdict, dataclass
from typing import Final

from env_core.programs._envoy_config import Cluster, Endpoint
from env_core.programs._model import ADDRESS, NXDOMAIN, Upstream

Memory = MutableMapping[str, str]
_FLIGHT_MAX: Final = 2_048
_HOSTS_MAX: Final = 256
STAT: Final = "stat "
_GATEWAY: Final = frozenset((502, 503, 504))


def count(memory: Memory, name: str, by: int = 1) -> None:
    """Add to a counter."""
    slot = STAT + name
    memory[slot] = str(int(memory.get(slot, "0")) + by)


@dataclass(slots=True)
class Host:
    """One server of a cluster, and how it has done."""

    address: str
    port: int
    name: str
    failures: int = 0
    """In a row."""
    gateway: int = 0
    times: int = 0
    """How often in a row it was taken out."""
    back_ms: int = 0
    """When it comes back; 0 while it is in."""
    connections: int = 0
    connect_failures: int = 0
    requests: int = 0
    successes: int = 0
    errors: int = 0
    timeouts: int = 0

    @property
    def shown(self) -> str:
        """The address and port as logs have them."""
        return f"{self.address}:{self.port}"

    def is_out(self, now_ms: int) -> bool:
        """Whether it is taken out."""
        return now_ms < self.back_ms


def _slot(cluster: Cluster, address: str, port: int) -> str:
    return f"host {cluster.name} {address}:{port}"


def keep(memory: Memory, cluster: Cluster, host: Host) -> None:
    """Put a host back after a change."""
    memory[_slot(cluster, host.address, host.port)] = json.dumps(asdict(host))


def hosts(memory: Memory, cluster: Cluster, upstream: Upstream) -> list[Host]:
    """Return a cluster's hosts, with names looked up as often as it says."""
    found: list[Host] = []
    for endpoint in cluster.endpoints:
        for address in _addresses(memory, cluster, endpoint, upstream):
            text = memory.get(_slot(cluster, address, endpoint.port))
            found.append(Host(**json.loads(text)) if text else Host(address, endpoint.port, endpoint.host))
    return found[:_HOSTS_MAX]


def _addresses(memory: Memory, cluster: Cluster, endpoint: Endpoint, upstream: Upstream) -> list[str]:
    if cluster.kind == "STATIC":
        return [endpoint.host]
    slot = f"dns {cluster.name} {endpoint.host}"
    kept = json.loads(memory.get(slot, "[-1]"))
    at_ms, known = int(kept[0]), [str(each) for each in kept[1:]]
    now_ms = upstream.now_ms
    if at_ms >= 0 and now_ms - at_ms < cluster.refresh_ms:
        return known
    reply = upstream.resolve(endpoint.host)
    found = sorted(value for name, value in reply.headers if name == ADDRESS)
    count(memory, f"cluster.{cluster.name}.update_attempt")
    if reply.failure and reply.failure != NXDOMAIN:
        # What is known stays good while the name server does not answer.
        count(memory, f"cluster.{cluster.name}.update_failure")
        found = known
    else:
        count(memory, f"cluster.{cluster.name}.update_success")
    if cluster.kind == "LOGICAL_DNS":
        found = found[:1]
    memory[slot] = json.dumps([now_ms, *found])
    return found


def choose(memory: Memory, cluster: Cluster, known: list[Host], now_ms: int) -> Host | None:
    """Return the host whose turn it is, None when there is none that may be asked.

    When too many are out, all are asked (panic).
    """
    inside = [host for host in known if not host.is_out(now_ms)]
    if known and len(inside) * 100 < cluster.panic_percent * len(known):
        count(memory, f"cluster.{cluster.name}.lb_healthy_panic")
        inside = known
    if not inside:
        return None
    slot = f"turn {cluster.name}"
    turn = int(memory.get(slot, "0"))
    memory[slot] = str(turn + 1)
    return inside[turn % len(inside)]


def note(
    memory: Memory, cluster: Cluster, known: list[Host], host: Host, status: int, now_ms: int, started_ms: int
) -> None:  # fmt: skip
    """Take note of a host's answer (503 for no connection, 504 for none in time); it may be taken out for it."""
    policy = cluster.outlier
    if status < 500:
        host.failures = host.gateway = 0
    else:
        host.failures += 1
        host.gateway = host.gateway + 1 if status in _GATEWAY else 0
    if policy is not None and status >= 500:
        for enough, is_enforced, name in (
            (host.failures >= policy.consecutive, policy.enforces, "consecutive_5xx"),
            (host.gateway >= policy.gateway, policy.enforces_gateway, "consecutive_gateway_failure"),
        ):
            if enough:
                count(memory, f"cluster.{cluster.name}.outlier_detection.ejections_detected_{name}")
                if is_enforced and not host.is_out(now_ms):
                    _eject(memory, cluster, known, host, name, now_ms, started_ms)
                # The next run of failures is counted anew.
                host.failures, host.gateway = (
                    (0, host.gateway) if name == "consecutive_5xx" else (host.failures, 0)
                )
    keep(memory, cluster, host)


def _eject(
    memory: Memory, cluster: Cluster, known: list[Host], host: Host, name: str, now_ms: int, started_ms: int
) -> None:  # fmt: skip
    policy = cluster.outlier
    assert policy is not None, "only hosts under detection are taken out"
    prefix = f"cluster.{cluster.name}.outlier_detection"
    out = sum(each.is_out(now_ms) for each in known)
    if out and out * 100 >= policy.percent_max * len(known):
        count(memory, f"{prefix}.ejections_overflow")
        return
    sweeps = max(now_ms - host.back_ms, 0) // policy.interval_ms if host.back_ms else 0
    host.times = max(host.times - sweeps, 0) + 1
    until_ms = now_ms + min(policy.base_ms * host.times, policy.longest_ms)
    # Hosts come back when the detector looks at them next.
    passed_ms = max(until_ms - started_ms, 0)
    host.back_ms = started_ms + -(-passed_ms // policy.interval_ms) * policy.interval_ms
    count(memory, f"{prefix}.ejections_enforced_total")
    count(memory, f"{prefix}.ejections_enforced_{name}")
    count(memory, f"{prefix}.ejections_total")


# Circuit breaking


def flights(memory: Memory, cluster: Cluster, now_ms: int) -> list[int]:
    """Return when the requests end that are in flight, the earliest first."""
    return sorted(each for each in json.loads(memory.get(f"flight {cluster.name}", "[]")) if each > now_ms)


def admit(memory: Memory, cluster: Cluster, now_ms: int) -> int | None:
    """Return how long a new request has to wait for a connection; None when the cluster's limits turn it away."""
    ends, limits = flights(memory, cluster, now_ms), cluster.limits
    if len(ends) >= limits.requests:
        return None
    over = len(ends) - limits.connections
    if over < 0:
        return 0
    if over >= limits.pending:
        return None
    return max(ends[over] - now_ms, 0) if ends else 0


def depart(memory: Memory, cluster: Cluster, now_ms: int, until_ms: int) -> None:
    """Take note of a request that is in flight until a moment."""
    ends = [*flights(memory, cluster, now_ms), until_ms]
    memory[f"flight {cluster.name}"] = json.dumps(ends[-_FLIGHT_MAX:])
