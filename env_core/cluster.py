"""One simulated cluster: the API server, its controllers, scheduler, kubelets and network, on one clock."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import cast

from env_core import controllers as controllers_package
from env_core import kinds as kinds_package
from env_core.apiserver import admission as admission_package
from env_core.apiserver import virtual as virtual_resources
from env_core.apiserver.boot import boot
from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.apiserver.kind import Kind
from env_core.apiserver.people import HANDLER as PERSON
from env_core.apiserver.people import People
from env_core.apiserver.plugin import Admission, AdmissionChain
from env_core.apiserver.registry import Kinds, Registry
from env_core.apiserver.request import ADMIN, ApiRequest, ApiResponse, ExecOptions, Identity
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store, WatchEvent
from env_core.controllers import Controller, Key
from env_core.controllers._model import CUSTOM_RESOURCES, Mapper
from env_core.dataplane.forwarding import NetworkForwarder
from env_core.dataplane.network import Network
from env_core.dataplane.webhooks import WebhookCaller
from env_core.discovery import discover
from env_core.node.kubelet import Kubelets
from env_core.node.machines import Machines
from env_core.observability.metrics import pod_and_node_metrics
from env_core.observability.monitor import Monitor
from env_core.programs import Run, Runtime
from env_core.scheduler.cycle import Scheduler
from env_core.shell.containers import Scripts
from env_core.shell.inside import run_inside
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.state import State
from env_core.sim.trace import Trace
from env_core.sim.work import Work
from env_core.world import Interrupted, Object, Output

EPOCH_MS = 1_767_603_600_000
"""2026-01-05T09:00:00Z: when every cluster's clock starts unless told otherwise."""

_Bound = tuple[tuple[str, int, Mapper, Component], ...]
SETTLED_QUIET_MS = 1_000


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Return the kinds that every cluster serves."""
    stored = discover(kinds_package, "KIND", Kind)
    return Registry([*stored.values(), *virtual_resources.KINDS])


@lru_cache(maxsize=1)
def admission() -> AdmissionChain:
    """Return the admission plugins that every cluster runs."""
    return AdmissionChain(discover(admission_package, "ADMISSION", Admission).values())


@lru_cache(maxsize=1)
def _controllers() -> Mapping[str, Controller]:
    return {
        controller.name: controller
        for controller in discover(controllers_package, "CONTROLLER", Controller).values()
    }


@lru_cache(maxsize=1)
def _routes() -> Mapping[str, tuple[tuple[Controller, int, Mapper], ...]]:
    routes: dict[str, list[tuple[Controller, int, Mapper]]] = {}
    for controller in _controllers().values():
        for resource, delay_ms, mapper in controller.routes():
            routes.setdefault(resource, []).append((controller, delay_ms, mapper))
    return {resource: tuple(rows) for resource, rows in routes.items()}


def _may_map_elsewhere(event: WatchEvent) -> bool:
    """Whether the old version may lead to other keys than the new one: nothing but a status write keeps all of these.

    Writes share what they do not change, so identity is enough to know.
    """
    old = event.old
    assert old is not None
    new = event.object
    if new.get("spec") is not old.get("spec") or "status" not in new:
        return True
    before, after = old["metadata"], new["metadata"]
    return any(before.get(key) is not after.get(key) for key in ("labels", "ownerReferences", "annotations"))


class Cluster:
    """A world: answers requests, lets time pass, forks, and knows the digest of all that happened."""

    __slots__ = (
        "_bound",
        "_components",
        "_live",
        "kubelets",
        "loop",
        "network",
        "runtime",
        "scheduler",
        "server",
        "state",
        "store",
        "streams",
        "trace",
    )

    def __init__(
        self,
        *,
        seed: int,
        now_ms: int = EPOCH_MS,
        _parts: tuple[EventLoop, Store, Streams, State, Trace, ApiServer | None] | None = None,
    ) -> None:
        loop, store, streams, state, trace, origin = _parts or (
            EventLoop(now_ms),
            Store(),
            Streams(seed),
            State(),
            Trace(),
            None,
        )
        self.loop = loop
        self.store = store
        self.streams = streams
        self.state = state
        self.trace = trace
        self.server = ApiServer(
            registry=registry(),
            store=store,
            loop=loop,
            streams=streams,
            admission=admission(),
            virtual=virtual_resources.VIRTUAL,
            audit=origin.audit.fork() if origin else None,
            authorizer=origin.authorizer.fork(store) if origin else None,
            origin=origin,
        )
        self.runtime = Runtime(state)
        self.network = Network(store=store, runtime=self.runtime, loop=loop, state=state, streams=streams)
        self.scheduler = Scheduler(
            Component(self.server, state, "default-scheduler", Identity("system:kube-scheduler"))
        )
        self.kubelets = Kubelets(
            server=self.server, state=state, runtime=self.runtime, network=self.network, exec_in=self._exec_in
        )
        self.server.backend = self.kubelets
        self.server.metrics = self._metrics
        monitor = Monitor(store=store, runtime=self.runtime, network=self.network, loop=loop)
        self.network.telemetry = monitor.answer
        self.server.views = self.kubelets.views
        self.server.webhooks = WebhookCaller(self.network)
        self.server.forwarder = NetworkForwarder(self.network, self.kubelets.answer)
        self._components: dict[str, Component] = {}
        self._bound: dict[str, _Bound] = {}
        loop.bind("controller", self._reconcile)
        loop.bind("scheduler", self.scheduler.handle)
        loop.bind("kubelet", self.kubelets.handle)
        loop.bind("network", self.network.handle)
        loop.bind("machine", self.machines.handle)
        self._live = Scripts(network=self.network, runtime=self.runtime, loop=loop, state=state)
        loop.bind("script", self._live.handle)
        loop.bind(PERSON, self.people.handle)
        store.subscriber = self._on_write

    # The World protocol

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, on the cluster's clock."""
        return self.loop.now_ms

    @property
    def work(self) -> Work:
        """The meter of all that is done in it."""
        return self.loop.work

    @property
    def registry(self) -> Kinds:
        """The kinds that the API serves."""
        return self.server.registry

    def call(self, request: ApiRequest) -> ApiResponse:
        """Answer one API request."""
        return self.server.handle(request)

    def advance(self, duration_ms: int) -> None:
        """Let `duration_ms` pass; everything due in between happens.

        Raises:
            Interrupted: when it would take more work than may be done.
        """
        if not self.loop.run_until(self.loop.now_ms + duration_ms):
            raise Interrupted

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until `is_met()` after something happened, or `timeout_ms`; return whether it was met.

        Raises:
            Interrupted: when it would take more work than may be done.
        """
        loop = self.loop
        end_ms = loop.now_ms + timeout_ms
        revision = -1
        while True:
            if self.store.revision != revision:
                revision = self.store.revision
                if is_met():
                    return True
            due_ms = loop.next_ms()
            if due_ms is None or due_ms > end_ms:
                loop.run_until(end_ms)
                return is_met()
            if loop.work.is_spent:
                raise Interrupted
            loop.step()

    def settle(self, quiet_ms: int = SETTLED_QUIET_MS, timeout_ms: int = 30_000) -> None:
        """Let time pass until no object but events has changed for `quiet_ms`, or `timeout_ms` is over.

        Raises:
            Interrupted: when it would take more work than may be done.
        """
        end_ms = self.now_ms + timeout_ms
        last_change_ms = self.now_ms
        revision = self.store.revision
        while self.now_ms < end_ms:
            due_ms = self.loop.next_ms()
            horizon = min(last_change_ms + quiet_ms, end_ms)
            if due_ms is None or due_ms > horizon:
                self.loop.run_until(horizon)
                return
            if self.loop.work.is_spent:
                raise Interrupted
            self.loop.step()
            if self.store.revision != revision:
                revision = self.store.revision
                last_change_ms = self.now_ms

    def fork(self, seed: int | None = None) -> Cluster:
        """Return an independent copy; a new seed starts its random streams afresh."""
        streams = self.streams.fork(seed)
        parts = (
            self.loop.fork(),
            self.store.fork(),
            streams,
            self.state.fork(),
            self.trace.fork(),
            self.server,
        )
        return Cluster(seed=streams.seed, _parts=parts)

    def digest(self) -> str:
        """Return the chained digest of everything that has happened so far."""
        return self.trace.digest()

    # Beyond it

    def client(self, identity: Identity = ADMIN) -> ApiClient:
        """Return a client for an identity, a person's or a pipeline's: it calls itself kubectl."""
        return ApiClient(self.server, identity, "kubectl")

    def component(self, name: str, identity: Identity) -> Component:
        """Return the component called `name`, made on first use."""
        found = self._components.get(name)
        if found is None:
            found = self._components[name] = Component(self.server, self.state, name, identity)
        return found

    @property
    def people(self) -> People:
        """Whoever works in it beside the agent."""
        return People(self.server)

    @property
    def machines(self) -> Machines:
        """The machines under its nodes."""
        return self.kubelets.machines

    def boot(self) -> None:
        """Create what every control plane creates when it starts: namespaces, RBAC, priority classes."""
        boot(self.store, self.streams, self.now_ms, self.registry)

    def _on_write(self, event: WatchEvent) -> None:
        ref = event.ref
        now_ms = self.loop.now_ms
        self.store.stamp(now_ms)
        self.trace.add(f"{now_ms} {event.type} {ref.resource} {ref.namespace}/{ref.name} {event.revision}")
        resource = ref.resource
        if resource == "events":
            return
        bound = self._bound.get(resource)
        if bound is None:
            bound = self._bound[resource] = self._bind(resource)
        old = event.old if event.type == "MODIFIED" and _may_map_elsewhere(event) else None
        wake = self.loop.wake
        for name, delay_ms, mapper, component in bound:
            for key in mapper(event.object, component):
                wake(now_ms + delay_ms, "controller", (name, key.namespace, key.name))
            if old is not None:
                for key in mapper(old, component):
                    wake(now_ms + delay_ms, "controller", (name, key.namespace, key.name))
        self.scheduler.on_write(event)
        self.kubelets.on_write(event)
        self.network.on_write(event)

    def _component_of(self, controller: Controller) -> Component:
        name = controller.component or f"{controller.name}-controller"
        found = self._components.get(name)
        return found if found is not None else self.component(name, controller.actor())

    def _bind(self, resource: str) -> _Bound:
        watched = resource if self.server.registry.is_builtin(resource) else CUSTOM_RESOURCES
        return tuple(
            (controller.name, delay_ms, mapper, self._component_of(controller))
            for controller, delay_ms, mapper in _routes().get(watched, ())
        )

    def _reconcile(self, key: Hashable) -> None:
        name, namespace, target = cast("tuple[str, str, str]", key)
        controller = _controllers()[name]
        requeue = controller.reconcile(self._component_of(controller), Key(namespace, target))
        if requeue is not None:
            self.loop.wake(self.loop.now_ms + max(requeue.after_ms, 1), "controller", key)

    def _exec_in(self, run: Run, options: ExecOptions) -> Output:
        return run_inside(
            run, options, network=self.network, runtime=self.runtime, loop=self.loop, advance=self.advance
        )

    def _metrics(
        self, resource: str, namespace: str, matches: Callable[[Object], bool] | None
    ) -> list[Object]:
        return pod_and_node_metrics(
            resource,
            namespace,
            matches,
            store=self.store,
            runtime=self.runtime,
            network=self.network,
            now_ms=self.now_ms,
        )
