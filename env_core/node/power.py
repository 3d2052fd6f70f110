"""Machines and kubelets that stop and start: what is lost, and what a kubelet finds when it comes back.

Source: k8s.io/kubernetes pkg/kubelet (kubelet.go, pod_workers.go, prober), 1.37; tests/golden/kubelet (kr-*, nn-*), where
pods keep their containers when the kubelet alone restarts, and lose them with the machine.
"""

from __future__ import annotations

from typing import Final

from env_core.node import nodes
from env_core.node._host import Host
from env_core.node._records import FINISHED, IDLE, NodeRecord, PodRecord

WATCH_DELAY_MS: Final = 10


def end_runs(host: Host, pod: PodRecord) -> None:
    """Kill a pod's containers from outside; its address is free again."""
    for container in pod.containers:
        run = host.runtime.run(pod.uid, container)
        if run is not None and run.is_running(host.now_ms):
            host.runtime.end(run, host.now_ms, 137, "Error")
    if pod.sandbox is not None and pod.sandbox.is_ready:
        host.runtime.release(pod.sandbox.address)


def _records(host: Host, node: str) -> list[PodRecord]:
    return [record for record in host.pods.values() if record.node == node]


def stop(host: Host, record: NodeRecord, *, is_down: bool) -> None:
    """Stop a kubelet, or its whole machine."""
    if record.stopped_ms is None:
        nodes.freeze(host, record, is_down=is_down)
    else:
        host.nodes[record.name] = record._replace(is_down=True)
    if is_down:
        for pod in _records(host, record.name):
            end_runs(host, pod)


def start(host: Host, record: NodeRecord) -> None:
    """Let a kubelet start: back-offs, probes' counts and volumes are as new; with the machine, containers are gone."""
    was_down = record.is_down
    nodes.thaw(host, record)
    now_ms = host.now_ms
    for pod in _records(host, record.name):
        if pod.worker == FINISHED:
            continue
        known = host.pod(pod)
        if was_down and known is not None and "deletionTimestamp" in known["metadata"]:
            # What was to be deleted meanwhile is not looked for any more (nn-hostnet).
            host.put(
                pod._replace(
                    stage=IDLE, todo=(), sandbox=None, containers={}, is_pending=False, retry_ms=None
                )
            )
            host.wake(now_ms + WATCH_DELAY_MS, "sync", pod.uid)
            continue
        sandbox = (
            pod.sandbox._replace(is_ready=False) if was_down and pod.sandbox is not None else pod.sandbox
        )
        containers = {
            name: each._replace(
                waiting=None,
                backoff_ms=0,
                image_backoff_ms=0,
                image_failed="",
            )
            for name, each in pod.containers.items()
        }
        host.put(
            pod._replace(
                stage=IDLE,
                todo=(),
                sandbox=sandbox,
                is_pending=False,
                containers=containers,
                synced_ms=-1,
                retry_ms=None,
            )
        )
        host.wake(now_ms + WATCH_DELAY_MS, "sync", pod.uid)
    for pod_object in host.store.indexed("node", record.name):
        metadata = pod_object["metadata"]
        if host.record(metadata["uid"]) is None or metadata.get("deletionTimestamp"):
            host.wake(now_ms + WATCH_DELAY_MS, "pod", metadata["namespace"], metadata["name"])
