"""What all the kubelets share: the tables, the clock, the runtime, and one API identity per node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from env_core.apiserver.component import Component
from env_core.apiserver.request import ExecOptions, Identity
from env_core.apiserver.server import ApiServer
from env_core.node._records import NodeRecord, PodRecord
from env_core.node.images import Images
from env_core.programs import Container, Launch, Program, Reply, Request, Run, Runtime
from env_core.sim.state import State
from env_core.sim.timefmt import rfc3339
from env_core.world import Object, Output

SECOND_MS = 1000
HANDLER = "kubelet"


Jitter = Callable[[PodRecord, int], float]
"""By which part of itself (0 to 0.5) a pod's wait of some milliseconds is lengthened.

A wait of 0 asks which of two that fall on the same millisecond comes first: below 0.25 it is the kubelet's look.
"""


class PodNetwork(Protocol):
    """What a kubelet needs of the data plane."""

    def request_pod(self, pod_ip: str, port: int, request: Request, source_ip: str) -> Reply:
        """Send a request straight to a pod's address."""

    def probe_pod(self, pod_ip: str, port: int, request: Request, source_ip: str) -> Reply:
        """Send a request that is repeated for as long as the pod lives."""

    def settled(self, pod: Object, program: Program, container: Container, launch: Launch) -> Launch:
        """Return what a program of a pod does at its start, by what its container reaches."""


class Host:
    """The kubelets' common ground. Holds nothing that cannot be rebuilt beside the tables."""

    __slots__ = (
        "_components",
        "exec_in",
        "images",
        "jitter",
        "loop",
        "mounts",
        "network",
        "nodes",
        "pods",
        "probes",
        "runtime",
        "server",
        "service_env",
        "state",
        "store",
    )

    def __init__(
        self,
        *,
        server: ApiServer,
        state: State,
        runtime: Runtime,
        network: PodNetwork,
        exec_in: Callable[[Run, ExecOptions], Output],
        images: Images,
        jitter: Jitter | None = None,
    ) -> None:
        self.server = server
        self.state = state
        self.store = server.store
        self.loop = server.loop
        self.runtime = runtime
        self.network = network
        self.exec_in = exec_in
        self.images = images
        self.jitter: Jitter = jitter if jitter is not None else self._drawn
        self.pods = state.table("kubelet/pods", is_quiet=True)
        self.nodes = state.table("kubelet/nodes")
        self.probes = state.table("kubelet/probes", is_quiet=True)
        self.mounts = state.table("kubelet/mounts")
        self.service_env: dict[tuple[str, int], tuple[tuple[str, str], ...]] = {}
        self._components: dict[str, Component] = {}

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self.loop.now_ms

    def _drawn(self, record: PodRecord, _wait_ms: int) -> float:
        return self.component(record.node).stream("resync", record.node).fraction() / 2

    def component(self, node: str) -> Component:
        """Return the kubelet of a node as an API user, made on first use."""
        found = self._components.get(node)
        if found is None:
            identity = Identity(f"system:node:{node}", ("system:nodes", "system:authenticated"))
            found = Component(self.server, self.state, HANDLER, identity, host=node)
            found.recorder.clock = lambda: self.clock_ms(node)
            self._components[node] = found
        return found

    def clock_ms(self, node: str) -> int:
        """Return what a node's clock shows."""
        return self.runtime.clocks.shown_ms(node, self.now_ms)

    def stamp(self, node: str) -> str:
        """Return what a node's clock shows, as its kubelet writes it into objects."""
        return rfc3339(self.clock_ms(node))

    def node(self, name: str) -> NodeRecord | None:
        """Return the record of a node that joined, or None."""
        found: NodeRecord | None = self.nodes.get(name)
        return found

    def record(self, uid: str) -> PodRecord | None:
        """Return the record of a pod, or None."""
        found: PodRecord | None = self.pods.get(uid)
        return found

    def pod(self, record: PodRecord) -> Object | None:
        """Return the pod object of a record, None when the API has it no more (or another of that name)."""
        found = self.store.get("pods", record.namespace, record.name)
        return found if found is not None and found["metadata"]["uid"] == record.uid else None

    def put(self, record: PodRecord) -> PodRecord:
        """Store a pod's record."""
        self.pods[record.uid] = record
        return record

    def wake(self, at_ms: int, *key: str) -> None:
        """Ask that the kubelets look at `key` at a time."""
        self.loop.wake(at_ms, HANDLER, key)

    def event(
        self, record: PodRecord, pod: Object, kind: str, reason: str, message: str, container: str = ""
    ) -> None:
        """Record an event about a pod, or one of its containers."""
        path = ""
        if container:
            path = f"spec.{field_of(pod, container)}{{{container}}}"
        self.component(record.node).recorder.event(pod, kind, reason, message, path)


def field_of(pod: Object, container: str) -> str:
    """Return the field of a pod's spec that holds a container."""
    spec = pod["spec"]
    for name in ("containers", "initContainers", "ephemeralContainers"):
        if any(each["name"] == container for each in spec.get(name) or ()):
            return name
    return "containers"


def next_phase_ms(phase_ms: int, from_ms: int) -> int:
    """Return the first time from `from_ms` on that lies `phase_ms` within a second."""
    return from_ms + (phase_ms - from_ms) % SECOND_MS
