"""Physical causes that whoever declares a world gives to its nodes: what a machine runs out of, what of it fails.

Source of what follows from each: the modules that look at them, `eviction`, `image_gc`, `node_status`.
"""

from __future__ import annotations

from env_core.node import eviction, image_gc, node_status, nodes, thresholds
from env_core.node._host import Host
from env_core.node._records import Free


def set_free(host: Host, name: str, free: Free) -> None:
    """Say how little a machine has left.

    Raises:
        KeyError: when no such node joined.
    """
    host.nodes[name] = node = host.nodes[name]._replace(free=free)
    eviction.wake(host, node)
    image_gc.wake(host, node)


def set_hard_pids(host: Host, name: str, threshold: str) -> None:
    """Configure a node's kubelet to look after the numbers of its processes; without, it does not.

    Raises:
        KeyError: when no such node joined.
        ThresholdError: when it is neither a number nor a percentage.
    """
    if threshold:
        thresholds.parse(thresholds.PIDS, threshold)
    node = host.nodes[name]
    host.nodes[name] = node = node._replace(settings=node.settings._replace(hard_pids=threshold))
    eviction.wake(host, node)


def set_network_problem(host: Host, name: str, problem: str) -> None:
    """Let a node's network plugin be unready for a reason, "" when it is ready.

    Raises:
        KeyError: when no such node joined.
    """
    was = host.nodes[name].network_problem
    host.nodes[name] = node = host.nodes[name]._replace(network_problem=problem)
    if was and not problem:
        # Until it was ready once, a kubelet looks ten times a second.
        host.wake(host.now_ms + node_status.FIRST_READY_MS, "node", name)
    node_status.wake(host, node)


def set_runtime_problem(host: Host, name: str, problem: str) -> None:
    """Let a node's container runtime be unready for a reason, "" when it is ready again.

    Raises:
        KeyError: when no such node joined.
    """
    node = host.nodes[name]._replace(runtime_problem=problem, runtime_lost_ms=host.now_ms)
    host.nodes[name] = node
    node_status.wake(host, node)


def set_clock(host: Host, name: str, ahead_ms: int) -> None:
    """Put a node's clock ahead of the time, behind below 0; its kubelet renews its lease once more by the old clock.

    Raises:
        KeyError: when no such node joined.
        ValueError: when it is off by more than twenty years.
    """
    node = host.nodes[name]
    lease = host.store.get(nodes.LEASES, nodes.LEASE_NAMESPACE, name)
    last = nodes.viewed_lease(host, lease, host.now_ms) if lease is not None else None
    host.runtime.clocks.set(name, host.now_ms, ahead_ms)
    if last is not None and node.stopped_ms is None:
        # Renewals are computed when read: a write brings the control plane to watch the next ones.
        host.component(name).api.update(nodes.LEASES, nodes.LEASE_NAMESPACE, last)
