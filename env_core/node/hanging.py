"""Processes that hang: a physical cause, for worlds to have and for judges to test liveness probes with."""

from __future__ import annotations

from env_core.node import containers, probes
from env_core.node._host import Host


def hang(host: Host, namespace: str, name: str, container: str) -> None:
    """Let a container's process hang; its probes look again, even those that had seen what cannot change.

    Raises:
        KeyError: when no kubelet has such a running container.
    """
    pod = host.store.get("pods", namespace, name)
    record = host.record(pod["metadata"]["uid"]) if pod is not None else None
    run = host.runtime.run(record.uid, container) if record is not None else None
    if pod is None or record is None or run is None or not run.is_running(host.now_ms):
        raise KeyError(f"{namespace}/{name}/{container}")
    host.runtime.hang(run)
    found = containers.container_of(pod, container)
    if found is not None:
        probes.unpark(host, record, found)
