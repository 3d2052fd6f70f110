"""The kubelets of all nodes: what wakes them and what they are asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from env_core.apiserver.proxying import Forward, Passed
from env_core.apiserver.request import ApiRequest, ExecOptions
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import WatchEvent
from env_core.node import (
    api,
    arrivals,
    causes,
    clocks,
    containers,
    disks,
    endings,
    eviction,
    hanging,
    image_gc,
    logs,
    node_status,
    nodes,
    pods,
    power,
    probes,
    reporting,
    statuses,
    volumes,
)
from env_core.node._host import Host, Jitter, PodNetwork, next_phase_ms
from env_core.node._records import IDLE, SYNCING, Free, PodRecord, Settings
from env_core.node.images import Images
from env_core.node.machines import Machines
from env_core.programs import Run, Runtime
from env_core.sim.state import State
from env_core.world import Object, Output

WATCH_DELAY_MS = 10
RUNTIME_CHECK_MS = 5_000
_SOURCES = ("configmaps", "secrets")
_OF_NODES = {"node": node_status.report, "evict": eviction.round_, "images": image_gc.collect}
"""What an agenda entry about a node lets its kubelet do."""


class Kubelets:
    """One kubelet for each node that joined; they share nothing but their code and tables.

    Agenda keys (handler "kubelet"): ("pod", namespace, name) a pod object changed; ("sync", uid) a worker must
    look; ("step", uid) what a busy worker waits for is over; ("probe", uid, container, kind) a probe is due;
    ("probed", …) its answer is there; ("run", uid, container) a run was ended from outside; ("files", uid)
    changed configuration reaches a pod's volumes; ("hook", uid, container) a preStop hook has failed; ("node", name) a node's report is due; ("evict", name) its
    eviction manager looks; ("images", name) its images are collected.
    """

    __slots__ = ("_host", "machines", "views")

    def __init__(
        self,
        *,
        server: ApiServer,
        state: State,
        runtime: Runtime,
        network: PodNetwork,
        exec_in: Callable[[Run, ExecOptions], Output],
        images: Images | None = None,
        jitter: Jitter | None = None,
    ) -> None:
        host = Host(
            server=server,
            state=state,
            runtime=runtime,
            network=network,
            exec_in=exec_in,
            images=images if images is not None else Images(),
            jitter=jitter,
        )
        self._host = host
        self.machines = Machines(host)
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
        settings: Settings | None = None,
        is_new: bool = False,
        network_problem: str = "",
    ) -> Object:
        """Add a node with a running kubelet and return its Node object.

        A node that `is_new` registers as the world looks on: it becomes ready in a moment, and its kubelet says so
        in events. `network_problem` is why its network is not ready yet.

        Raises:
            StatusError: when the API refuses the Node or its Lease.
        """
        return nodes.join(
            self._host,
            name,
            cpu=cpu,
            memory=memory,
            labels=labels,
            taints=taints,
            pods=pods,
            settings=settings,
            is_new=is_new,
            network_problem=network_problem,
        )

    def stop_node(self, name: str) -> None:
        """Let a machine die: its processes end, its addresses answer no more, its kubelet says nothing.

        What the API knows of it stays as it was last reported; a write of the Lease marks the moment.

        Raises:
            KeyError: when no such node joined.
        """
        record = self._host.nodes[name]
        if record.stopped_ms is None or not record.is_down:
            power.stop(self._host, record, is_down=True)

    def start_node(self, name: str) -> None:
        """Bring a dead machine, or a stopped kubelet, back: it registers anew and looks after the pods it still has.

        Raises:
            KeyError: when no such node joined.
        """
        record = self._host.nodes[name]
        if record.stopped_ms is not None:
            power.start(self._host, record)

    def stop_kubelet(self, name: str) -> None:
        """Stop a node's kubelet alone: the containers run on, and nobody looks after them.

        Raises:
            KeyError: when no such node joined.
        """
        record = self._host.nodes[name]
        if record.stopped_ms is None:
            power.stop(self._host, record, is_down=False)

    def set_free(
        self,
        name: str,
        *,
        memory_bytes: int | None = None,
        disk_bytes: int | None = None,
        inodes: int | None = None,
        pids: int | None = None,
    ) -> None:
        """Say how little a machine has left of memory, disk, inodes and numbers of processes; None where there is plenty.

        What few numbers of processes do to its pods is their programs' matter; its kubelet minds if `set_hard_pids` says so.

        Raises:
            KeyError: when no such node joined.
        """
        causes.set_free(self._host, name, Free(memory_bytes, disk_bytes, inodes, pids))

    def set_hard_pids(self, name: str, threshold: str) -> None:
        """Give a node's kubelet the hard eviction threshold of pid.available: a number, a percentage, "" for none.

        Raises:
            KeyError: when no such node joined.
            ThresholdError: when it is none of these.
        """
        causes.set_hard_pids(self._host, name, threshold)

    def set_clock(self, name: str, ahead_ms: int) -> None:
        """Put a node's clock ahead of the time from now on, behind below 0: what it stamps is off by so much.

        Raises:
            KeyError: when no such node joined.
            ValueError: when it is off by more than twenty years.
        """
        causes.set_clock(self._host, name, ahead_ms)

    def set_network_problem(self, name: str, problem: str = node_status.NETWORK_PROBLEM) -> None:
        """Let a node's network plugin be unready for a reason, "" when it is ready: pods get no sandbox meanwhile.

        Raises:
            KeyError: when no such node joined.
        """
        causes.set_network_problem(self._host, name, problem)

    def set_runtime_problem(self, name: str, problem: str = node_status.RUNTIME_PROBLEM) -> None:
        """Let a node's container runtime be unready for a reason, "" when it is ready again.

        Raises:
            KeyError: when no such node joined.
        """
        causes.set_runtime_problem(self._host, name, problem)

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
        power.end_runs(host, record)
        host.put(record._replace(sandbox=record.sandbox._replace(is_ready=False)))
        node = host.node(record.node)
        if node is not None:
            host.wake(next_phase_ms(node.relist_ms, host.now_ms), "sync", record.uid)

    def hang(self, namespace: str, name: str, container: str) -> None:
        """Let a container's process hang: it accepts connections and never answers, until it is restarted.

        Raises:
            KeyError: when no kubelet has such a running container.
        """
        hanging.hang(self._host, namespace, name, container)

    # Waking

    def on_write(self, event: WatchEvent) -> None:
        """Look whether a write concerns a kubelet, and wake it."""
        resource = event.ref.resource
        if resource == "pods":
            self._on_pod(event)
        elif resource in _SOURCES:
            self._on_source(event)
        elif resource == disks.WATCHED:
            disks.wake_waiting(self._host, event.object)
        elif resource == "nodes" and event.old is not None:
            node_status.notice(self._host, event.object)
            clocks.notice(self._host, event.object)

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
        if old is not None and old["spec"].get("nodeName") and not arrivals.concerns(old, pod):
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
        if what in _OF_NODES:
            machine = host.node(key[1])
            if machine is not None and machine.stopped_ms is None:
                _OF_NODES[what](host, machine)
            return
        record = host.record(key[1])
        if record is None:
            return
        node = host.node(record.node)
        if node is None or node.stopped_ms is not None:
            return
        if node.runtime_problem and what in ("sync", "step"):
            # The loop of syncs stands still until the runtime answers.
            host.wake(host.now_ms + RUNTIME_CHECK_MS, *key)
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
        elif what == "disk":
            disks.look(host, record, key[2])
        elif what == "files":
            self._refresh(record)
        elif what == "hook" and (ending := host.pod(record) or record.pod) is not None:
            host.event(record, ending, "Warning", "FailedPreStopHook", "PreStopHook failed", key[2])

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

    def answer(self, request: Forward) -> Passed:
        """Answer a request to a node's kubelet, as the API server's node proxy passes it on."""
        return api.answer(self._host, request)

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
