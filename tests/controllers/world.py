"""A control plane without scheduler and kubelets: the real store, API server, admission and controllers on one clock."""

from dataclasses import replace
from functools import lru_cache

from env_core import controllers as controllers_package
from env_core import kinds as kinds_package
from env_core.apiserver import virtual
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import ADMIN
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.cluster import admission
from env_core.controllers import Controller, Key
from env_core.controllers._model import CUSTOM_RESOURCES
from env_core.discovery import discover
from env_core.kinds import namespace as namespace_kind
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.state import State
from tests.networks import connect

EPOCH_MS = 1_767_603_600_000


@lru_cache(maxsize=1)
def registry():
    kinds = [_finalizable(kind) for kind in discover(kinds_package, "KIND", Kind).values()]
    return Registry([*kinds, *virtual.KINDS])


@lru_cache(maxsize=1)
def registry_without_metrics():
    return Registry([kind for kind in registry().kinds if kind.group != "metrics.k8s.io"])


def _finalizable(kind):
    """Let a write of a dying namespace change its spec's finalizers, as one of `finalize` does."""
    if kind.resource != "namespaces":
        return kind

    def prepare_update(new, old):
        hook = (
            namespace_kind.prepare_finalize if "deletionTimestamp" in old["metadata"] else kind.prepare_update
        )
        return hook(new, old)

    return replace(kind, prepare_update=prepare_update)


@lru_cache(maxsize=1)
def controllers():
    return {each.name: each for each in discover(controllers_package, "CONTROLLER", Controller).values()}


@lru_cache(maxsize=1)
def routes():
    found = {}
    for controller in controllers().values():
        for resource, delay_ms, mapper in controller.routes():
            found.setdefault(resource, []).append((controller, delay_ms, mapper))
    return found


class World:
    def __init__(self, *, seed=1, now_ms=EPOCH_MS, server_type=ApiServer, kinds=None):
        self.loop = EventLoop(now_ms)
        self.store = Store()
        self.state = State()
        self.streams = Streams(seed)
        self.server = server_type(
            registry=kinds or registry(),
            store=self.store,
            loop=self.loop,
            streams=self.streams,
            admission=admission(),
            virtual=virtual.VIRTUAL,
        )
        connect(self.server, self.state)
        self.api = ApiClient(self.server, ADMIN)
        self.components = {}
        self.listeners = []
        self.reconciles = 0
        self.pace = lambda _key: 0
        """How long a reconcile that is due waits still."""
        self.loop.bind("controller", self._reconcile)
        self.loop.bind("call", lambda key: self.calls.pop(key)())
        self.calls = {}
        self.store.subscriber = self._on_write
        for resource, obj in boot_objects(self.streams, now_ms):
            self.store.put(resource, obj)

    @property
    def now_ms(self):
        return self.loop.now_ms

    def component(self, controller):
        name = controller.component or f"{controller.name}-controller"
        if name not in self.components:
            self.components[name] = Component(self.server, self.state, name, controller.actor())
        return self.components[name]

    def later(self, delay_ms, function):
        key = len(self.calls) + self.loop.now_ms * 1000
        while key in self.calls:
            key += 1
        self.calls[key] = function
        self.loop.schedule(self.loop.now_ms + delay_ms, "call", key)

    def advance(self, duration_ms):
        self.loop.run_until(self.loop.now_ms + duration_ms)

    def _on_write(self, event):
        if event.ref.resource == "events":
            return
        resource = event.ref.resource
        watched = resource if self.server.registry.is_builtin(resource) else CUSTOM_RESOURCES
        for controller, delay_ms, mapper in routes().get(watched, ()):
            component = self.component(controller)
            keys = list(mapper(event.object, component))
            if event.old is not None and event.type == "MODIFIED":
                keys += mapper(event.old, component)
            for key in keys:
                at_ms = self.loop.now_ms + delay_ms
                self.loop.wake(at_ms, "controller", (controller.name, key.namespace, key.name))
        for listener in self.listeners:
            listener(event)

    def _reconcile(self, key):
        wait_ms = self.pace(key)
        if wait_ms:
            self.loop.wake(self.loop.now_ms + wait_ms, "controller", key)
            return
        self.reconciles += 1
        controller = controllers()[key[0]]
        requeue = controller.reconcile(self.component(controller), Key(*key[1:]))
        if requeue is not None:
            self.loop.wake(self.loop.now_ms + max(requeue.after_ms, 1), "controller", key)

    def failures(self):
        """Refusals that controllers met and not yet overcame."""
        return {
            (name, key): count
            for name, component in self.components.items()
            for key, count in component.table("failures").items()
        }
