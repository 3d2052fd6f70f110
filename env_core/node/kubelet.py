"""The kubelets of all nodes: what wakes them and what they are asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from env_core.apiserver.request import ApiRequest, ExecOptions
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import WatchEvent
from env_core.node import (
    arrivals,
    containers,
    endings,
    logs,
    nodes,
    pods,
    probes,
    reporting,
    statuses,
    volumes,
)
from env_core.node._host import Host, PodNetwork, next_phase_ms
from env_core.node._records import FINISHED, IDLE, SYNCING, PodRecord
from env_core.node.images import Images
from env_core.programs import Run, Runtime
from env_core.sim.state import State
from env_core.world import Object, Output

WATCH_DELAY_MS = 10
_SOURCES = ("configmaps", "secrets")


class Kubelets:
    """One kubelet for each node that joined; they share nothing but their code and tables.

    Agenda keys (handler "kubelet"): ("pod", namespace, name) a pod object changed; ("sync", uid) a worker must
    look; ("step", uid) what a busy worker waits for is over; ("probe", uid, container, kind) a probe is due;
    ("probed", …) its answer is there; ("run", uid, container) a run was ended from outside; ("files", uid)
    changed configuration reaches a pod's volumes.
    """

    __slots__ = ("_host", "views")

    def __init__(
        self,
        *,
        server: ApiServer,
        state: State,
        runtime: Runtime,
        network: PodNetwork,
        exec_in: Callable[[Run, ExecOptions], Output],
        images: Images | None = None,
    ) -> None:
        host = Host(
            server=server,
            state=state,
            runtime=runtime,
            network=network,
            exec_in=exec_in,
            images=images if images is not None else Images(),
        )
        self._host = host
        self.views: Mapping[str, Callable[[Object, int], Object]] = {
            "nodes": lambda node, now_ms: nodes.viewed_node(host, node, now_ms),
            nodes.LEASES: lambda lease, now_ms: nodes.viewed_lease(host, lease, now_ms),
        }

    # Nodes

    def join(
        self,
        name: str,
        *,
        cpu: str,
        memory: str,
        labels: dict[str, str] | None = None,
        taints: Sequence[Object] = (),
        pods: int = 110,
    ) -> Object:
        """Add a node with a running kubelet and return its Node object.

        Raises:
            StatusError: when the API refuses the Node or its Lease.
        """
        return nodes.join(self._host, name, cpu=cpu, memory=memory, labels=labels, taints=taints, pods=pods)

    def stop_node(self, name: str) -> None:
        """Let a machine die: its processes end, its addresses answer no more, its kubelet says nothing.

        What the API knows of it stays as it was last reported; a write of the Lease marks the moment.

        Raises:
            KeyError: when no such node joined.
        """
        host = self._host
        record = host.nodes[name]
        if record.stopped_ms is not None:
            return
        nodes.freeze(host, record)
        for pod in self._records(name):
            self._end_runs(pod)

    def start_node(self, name: str) -> None:
        """Bring a dead machine back: its kubelet registers anew and restarts the pods it still has.

        Raises:
            KeyError: when no such node joined.
        """
        host = self._host
        record = host.nodes[name]
        if record.stopped_ms is None:
            return
        nodes.thaw(host, record)
        for pod in self._records(name):
            if pod.worker == FINISHED:
                continue
            sandbox = pod.sandbox._replace(is_ready=False) if pod.sandbox is not None else None
            host.put(pod._replace(stage=IDLE, todo=(), sandbox=sandbox, is_pending=False))
            host.wake(host.now_ms + WATCH_DELAY_MS, "sync", pod.uid)
        for pod_object in host.store.indexed("node", name):
            metadata = pod_object["metadata"]
            host.wake(host.now_ms + WATCH_DELAY_MS, "pod", metadata["namespace"], metadata["name"])

    def set_sandbox_problem(self, node: str, text: str) -> None:
        """Let a node's network plugin fail: no pod gets a sandbox while `text` is not "". `$ID` is the sandbox's."""
        self._host.state.table("kubelet/sandbox-problems")[node] = text

    def end_sandbox(self, namespace: str, name: str) -> None:
        """Let a pod's sandbox die (its pause process is killed): its containers end, its address is gone.

        Raises:
            KeyError: when no kubelet has such a pod.
        """
        host = self._host
        pod = host.store.get("pods", namespace, name)
        record = host.record(pod["metadata"]["uid"]) if pod is not None else None
        if record is None or record.sandbox is None:
            raise KeyError(f"{namespace}/{name}")
        self._end_runs(record)
        host.put(record._replace(sandbox=record.sandbox._replace(is_ready=False)))
        node = host.node(record.node)
        if node is not None:
            host.wake(next_phase_ms(node.relist_ms, host.now_ms), "sync", record.uid)

    def hang(self, namespace: str, name: str, container: str) -> None:
        """Let a container's process hang: it accepts connections and never answers, until it is restarted.

        Raises:
            KeyError: when no kubelet has such a running container.
        """
        host = self._host
        pod = host.store.get("pods", namespace, name)
        record = host.record(pod["metadata"]["uid"]) if pod is not None else None
        run = host.runtime.run(record.uid, container) if record is not None else None
        if pod is None or record is None or run is None or not run.is_running(host.now_ms):
            raise KeyError(f"{namespace}/{name}/{container}")
        host.runtime.hang(run)
        found = containers.container_of(pod, container)
        if found is not None:
            probes.unpark(host, record, found)

    def _end_runs(self, pod: PodRecord) -> None:
        host = self._host
        for container in pod.containers:
            run = host.runtime.run(pod.uid, container)
            if run is not None and run.is_running(host.now_ms):
                host.runtime.end(run, host.now_ms, 137, "Error")
        if pod.sandbox is not None and pod.sandbox.is_ready:
            host.runtime.release(pod.sandbox.address)

    def _records(self, node: str) -> list[PodRecord]:
        return [record for record in self._host.pods.values() if record.node == node]

    # Waking

    def on_write(self, event: WatchEvent) -> None:
        """Look whether a write concerns a kubelet, and wake it."""
        resource = event.ref.resource
        if resource == "pods":
            self._on_pod(event)
        elif resource in _SOURCES:
            self._on_source(event)

    def _on_pod(self, event: WatchEvent) -> None:
        host = self._host
        pod = event.object
        node = pod["spec"].get("nodeName")
        if not node or node not in host.nodes:
            return
        if event.type == "DELETED":
            record = host.record(pod["metadata"]["uid"])
            if record is not None:
                endings.gone(host, record, pod)
            return
        old = event.old
        if old is not None and old["spec"].get("nodeName") and not _concerns(old, pod):
            return
        host.wake(host.now_ms + WATCH_DELAY_MS, "pod", event.ref.namespace, event.ref.name)

    def _on_source(self, event: WatchEvent) -> None:
        host = self._host
        users: tuple[str, ...] = host.mounts.get(tuple(event.ref)) or ()
        for uid in users:
            record = host.record(uid)
            if record is not None and record.is_mounted:
                stream = host.component(record.node).stream("propagation", record.node)
                delay_ms = stream.below(volumes.PROPAGATION_MAX_MS)
                host.wake(host.now_ms + delay_ms, "files", uid)

    def handle(self, key: Hashable) -> None:
        """Do what an agenda entry says."""
        assert isinstance(key, tuple)
        host = self._host
        what = key[0]
        if what == "pod":
            self._pod_changed(key[1], key[2])
            return
        record = host.record(key[1])
        if record is None:
            return
        node = host.node(record.node)
        if node is None or node.stopped_ms is not None:
            return
        if what == "sync":
            pods.handle(host, record)
        elif what == "step":
            pod = host.pod(record) or record.pod
            if pod is not None:
                pods.step(host, record, pod)
        elif what == "probe":
            self._probe(record, key[2], key[3])
        elif what == "probed":
            pod = host.pod(record)
            if pod is not None:
                container, change = probes.answered(host, record, pod, key)
                if container is not None:
                    self._apply(record, pod, container["name"], change)
        elif what == "run":
            host.wake(next_phase_ms(node.relist_ms, host.now_ms), "sync", record.uid)
        elif what == "files":
            self._refresh(record)

    def _pod_changed(self, namespace: str, name: str) -> None:
        host = self._host
        pod = host.store.get("pods", namespace, name)
        if pod is None:
            return
        node = host.node(pod["spec"].get("nodeName", ""))
        if node is None or node.stopped_ms is not None:
            return
        record = host.record(pod["metadata"]["uid"])
        if record is None:
            record = arrivals.add(host, pod)
            if record is not None:
                pods.handle(host, record)
            return
        if record.worker == SYNCING and "deletionTimestamp" not in pod["metadata"] and record.stage == IDLE:
            pods.request(host, record)
        else:
            pods.handle(host, record)

    def _probe(self, record: PodRecord, container_name: str, kind: str) -> None:
        host = self._host
        pod = host.pod(record)
        if pod is None:
            return
        container = containers.container_of(pod, container_name)
        if container is None:
            return
        change = probes.look(host, record, pod, container, kind)
        self._apply(record, pod, container_name, change)

    def _apply(self, record: PodRecord, pod: Object, container: str, change: probes.Change) -> None:
        host = self._host
        fresh = host.record(record.uid)
        if fresh is None:
            return
        if change.flag:
            status = statuses.with_container_flag(host, fresh, pod, container, **{change.flag: change.value})
            if status is not None:
                fresh = reporting.write(host, fresh, status)
        if change.must_sync and fresh.worker == SYNCING:
            pods.request(host, fresh)

    def _refresh(self, record: PodRecord) -> None:
        host = self._host
        pod = host.pod(record)
        if pod is None:
            return
        for name, state in record.containers.items():
            container = containers.container_of(pod, name)
            run = host.runtime.run(record.uid, name)
            if container is None or run is None or state.current is None or not state.current.is_running:
                continue
            before: dict[str, Any] = dict(run.container.files)
            after = volumes.refreshed(host, record, pod, container, before)
            if after != before:
                host.runtime.put(replace(run, container=replace(run.container, files=after)))

    # Being asked

    def log(self, pod: Object, request: ApiRequest) -> str:
        """Return a container's log; raises `StatusError` in the API server's words."""
        return logs.log(self._host, pod, request)

    def exec(self, pod: Object, request: ApiRequest) -> Output:
        """Run a command in a container; raises `StatusError` in the API server's words."""
        return logs.execute(self._host, pod, request)

    def attach(self, pod: Object, request: ApiRequest) -> bool:
        """Open a session with a running container, which lasts; raises `StatusError` in the API server's words."""
        logs.running(self._host, pod, request)
        return True


def _concerns(old: Object, new: Object) -> bool:
    """Whether a pod's change is one that its kubelet acts on: spec, deletion, conditions of readiness gates."""
    before, after = old["metadata"], new["metadata"]
    if after.get("generation") != before.get("generation"):
        return True
    if after.get("deletionTimestamp") != before.get("deletionTimestamp"):
        return True
    if new["spec"] is not old["spec"] and new["spec"] != old["spec"]:
        return True
    return bool(new["spec"].get("readinessGates")) and old.get("status") != new.get("status")
