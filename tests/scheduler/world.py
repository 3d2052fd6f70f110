"""A control plane without kubelets for scheduler tests: store, API server, clock and the real scheduler."""

from __future__ import annotations

from typing import Any

from env_core import kinds as kinds_package
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.client import ApiClient
from env_core.apiserver.component import Component
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import AdmissionChain
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import ADMIN, Identity
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store
from env_core.cluster import admission
from env_core.discovery import discover
from env_core.scheduler.cycle import Scheduler
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.state import State

NOW_MS = 1_768_478_400_000
IDENTITY = Identity("system:kube-scheduler", ("system:authenticated",))


class World:
    """Objects go in by the API, or directly by `put`; `run` lets time pass."""

    def __init__(self, seed: int = 1, *, with_admission: bool = False, origin: World | None = None) -> None:
        self.loop = origin.loop.fork() if origin else EventLoop(NOW_MS)
        self.store = origin.store.fork() if origin else Store()
        self.streams = origin.streams.fork() if origin else Streams(seed)
        self.state = origin.state.fork() if origin else State()
        self.server = ApiServer(
            registry=Registry(discover(kinds_package, "KIND", Kind).values()),
            store=self.store,
            loop=self.loop,
            streams=self.streams,
            admission=admission() if with_admission else AdmissionChain(()),
            virtual={},
        )
        if origin is None:
            for resource, obj in boot_objects(self.streams, NOW_MS):
                self.store.put(resource, obj)
        component = Component(self.server, self.state, "default-scheduler", IDENTITY)
        self.scheduler = Scheduler(component)
        self.store.subscriber = self.scheduler.on_write
        self.loop.bind("scheduler", self.scheduler.handle)
        self.api = ApiClient(self.server, ADMIN)

    def fork(self) -> World:
        return World(origin=self)

    def put(self, resource: str, obj: dict[str, Any]) -> dict[str, Any]:
        return self.store.put(resource, obj)

    def run(self, duration_ms: int) -> None:
        self.loop.run_until(self.loop.now_ms + duration_ms)

    def pod(self, name: str, namespace: str = "default") -> dict[str, Any]:
        found = self.store.get("pods", namespace, name)
        assert found is not None
        return found

    def node_of(self, name: str, namespace: str = "default") -> str:
        return self.pod(name, namespace)["spec"].get("nodeName", "")

    def events(self, reason: str = "") -> list[dict[str, Any]]:
        return [e for e in self.store.list("events") if not reason or e["reason"] == reason]


def node(name: str, cpu: str = "4", memory: str = "8Gi", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-{name}", "labels": {"kubernetes.io/hostname": name}}
    metadata["labels"] = {**metadata["labels"], **fields.pop("labels", {})}
    amounts = {"cpu": cpu, "memory": memory, "pods": fields.pop("pods", "110")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": fields,
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod(name: str, cpu: str = "", *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "c", "image": "nginx", "resources": {}}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "generation": 1},
        "spec": {"containers": [container], "schedulerName": "default-scheduler", **spec},
        "status": {"phase": "Pending"},
    }
    if labels:
        body["metadata"]["labels"] = labels
    return body
