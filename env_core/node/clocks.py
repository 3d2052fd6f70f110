"""A node whose clock is off: which of its kubelet's stamps follow it, and how its heartbeats look to others.

What follows the machine's clock, with its source in k8s.io/kubernetes 1.37: conditions and heartbeats of the node
(pkg/kubelet/nodestatus/setters.go), the renewals of its lease (component-helpers apimachinery/lease/controller.go), the start
time and the conditions of its pods (pkg/kubelet/status/status_manager.go), the starts and ends of containers and the times of
log lines (the runtime's, on the same machine), its events (client-go tools/record/event.go), `activeDeadlineSeconds`
(pkg/kubelet/active_deadline.go), and in containers what `kubectl exec` asks for the time and clients that look at certificates.

What does not: creation and deletion times and the managers of fields (the API server's), waits and periods, which Go measures on the
monotonic clock (probes, back-offs, reports, renewals), tokens, which the API server checks by its own clock (pkg/serviceaccount/claims.go).
Nor yet, in this simulator: the text of programs' own log lines, `Date` headers, and scripts that containers run as their command.
"""

from __future__ import annotations

from env_core.node import node_status
from env_core.node._host import Host
from env_core.node._records import ContainerRecord, Instance, PodRecord
from env_core.objects.conditions import UNKNOWN, status_of
from env_core.world import Object


def shown(host: Host, record: PodRecord) -> PodRecord:
    """Return a pod's record with the times that its node's clock showed."""
    if not host.runtime.clocks.was_set(record.node):
        return record
    containers = {name: _container(host, record.node, each) for name, each in record.containers.items()}
    seen_ms = host.runtime.clocks.shown_ms(record.node, record.seen_ms)
    return record._replace(containers=containers, seen_ms=seen_ms)


def _container(host: Host, node: str, record: ContainerRecord) -> ContainerRecord:
    current, previous = (_instance(host, node, each) for each in (record.current, record.previous))
    return record._replace(current=current, previous=previous)


def _instance(host: Host, node: str, instance: Instance | None) -> Instance | None:
    if instance is None:
        return None
    clocks = host.runtime.clocks
    started_ms = clocks.shown_ms(node, instance.started_ms) if instance.started_ms else 0
    finished_ms = instance.finished_ms
    if finished_ms is not None:
        finished_ms = clocks.shown_ms(node, finished_ms)
    return instance._replace(started_ms=started_ms, finished_ms=finished_ms)


def notice(host: Host, stored: Object) -> None:
    """Let a kubelet see that its node was taken for silent: it says of node and pods what it knows.

    Source: kubelet_node_status.go (tryUpdateNodeStatus: every ten seconds) and status_manager.go (syncBatch: likewise).
    """
    name = stored["metadata"]["name"]
    record = host.node(name)
    if record is None or not host.runtime.clocks.was_set(name) or status_of(stored, "Ready") != UNKNOWN:
        return
    node_status.wake(host, record)
    for pod in host.pods.values():
        if pod.node == name:
            host.wake(host.now_ms + node_status.REPORT_MS, "sync", pod.uid)
