"""A small cluster around the kubelets: a real store, API server and clock, with containers that follow a script."""

from __future__ import annotations

import base64
from typing import Any

from env_core import kinds as kinds_package
from env_core.apiserver import virtual as virtual_resources
from env_core.apiserver.boot import boot_objects
from env_core.apiserver.client import ApiClient
from env_core.apiserver.kind import Kind
from env_core.apiserver.plugin import AdmissionChain
from env_core.apiserver.registry import Registry
from env_core.apiserver.request import (
    ADMIN,
    LogOptions,
)
from env_core.apiserver.server import ApiServer
from env_core.apiserver.store import Store, WatchEvent
from env_core.discovery import discover
from env_core.node.images import Images
from env_core.node.kubelet import Kubelets
from env_core.programs import Runtime
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.state import State
from env_core.world import Object
from tests.node.scripted import ScriptedImages, ScriptedRuntime

START_MS = 1_767_603_600_400
_REGISTRY: list[Registry] = []


def _registry() -> Registry:
    if not _REGISTRY:
        stored = discover(kinds_package, "KIND", Kind)
        _REGISTRY.append(Registry([*stored.values(), *virtual_resources.KINDS]))
    return _REGISTRY[0]


class World:
    """A cluster of one node (or more) whose containers follow `script` (the recordings' runtime scripts)."""

    def __init__(
        self,
        script: Object | None = None,
        seed: int = 7,
        images: Images | None = None,
        parent: World | None = None,
    ) -> None:
        self.script = script or {}
        self.loop = EventLoop(START_MS) if parent is None else parent.loop.fork()
        self.store = Store() if parent is None else parent.store.fork()
        self.streams = Streams(seed) if parent is None else parent.streams.fork()
        self.state = State() if parent is None else parent.state.fork()
        self.server = ApiServer(
            registry=_registry(),
            store=self.store,
            loop=self.loop,
            streams=self.streams,
            admission=AdmissionChain(()),
            virtual=virtual_resources.VIRTUAL,
        )
        self.runtime = Runtime(self.state)
        scripted = ScriptedRuntime(self.runtime, self.loop, lambda _namespace, _name: self.script)
        self.scripted = scripted
        self.program = scripted.program
        self.images = ScriptedImages(self.program, lambda _namespace, _name: self.script)
        self.kubelets = Kubelets(
            server=self.server,
            state=self.state,
            runtime=self.runtime,
            network=scripted,
            exec_in=scripted.execute,
            images=images if images is not None else self.images,
        )
        self.server.backend = self.kubelets
        self.server.views = self.kubelets.views
        self.loop.bind("kubelet", self.kubelets.handle)
        self.store.subscriber = self.kubelets.on_write
        if parent is None:
            for resource, obj in boot_objects(self.streams, self.loop.now_ms):
                self.store.put(resource, obj)
        self.admin = ApiClient(self.server, ADMIN)
        self.changes: list[tuple[int, WatchEvent]] = []

    def fork(self) -> World:
        """Return an independent copy."""
        return World(self.script, parent=self)

    def pod(self, name: str, namespace: str = "default") -> Object:
        """Return a pod as stored."""
        found = self.store.get("pods", namespace, name)
        assert found is not None, f"no pod {namespace}/{name}"
        return found

    def watch(self) -> None:
        """Keep every change of pods and events from now on."""

        def seen(event: WatchEvent) -> None:
            if event.ref.resource in ("pods", "events"):
                self.changes.append((self.loop.now_ms, event))
            self.kubelets.on_write(event)

        self.store.subscriber = seen

    def run_for(self, duration_ms: int) -> None:
        """Let time pass."""
        self.loop.run_until(self.loop.now_ms + duration_ms)

    def add_pod(self, manifest: Object, node: str = "node-1") -> Object:
        """Create a pod as admission and the scheduler would leave it, bound to `node`."""
        spec = manifest["spec"]
        token = {"name": "kube-api-access-abcde", "projected": {"sources": []}}
        mount = {
            "name": "kube-api-access-abcde",
            "readOnly": True,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        }

        def mounted(container: Object) -> Object:
            return {**container, "volumeMounts": [*(container.get("volumeMounts") or ()), mount]}

        changed = {
            **spec,
            "serviceAccountName": spec.get("serviceAccountName", "default"),
            "containers": [mounted(container) for container in spec["containers"]],
            "volumes": [*(spec.get("volumes") or ()), token],
        }
        if spec.get("initContainers"):
            changed["initContainers"] = [mounted(container) for container in spec["initContainers"]]
        namespace = manifest["metadata"].get("namespace", "default")
        pod = self.admin.create("pods", namespace, {**manifest, "spec": changed})
        if not spec.get("nodeName"):
            name = pod["metadata"]["name"]
            target = {"target": {"kind": "Node", "name": node}}
            self.admin.create("pods", namespace, target, subresource="binding", name=name)
        return pod

    def end(self, pod: Object, container: str, code: int, reason: str = "") -> None:
        """Let a container's process end by itself."""
        uid = pod["metadata"]["uid"]
        run = self.runtime.run(uid, container)
        assert run is not None
        self.runtime.end(run, self.loop.now_ms, code, reason)
        self.loop.wake(self.loop.now_ms, "kubelet", ("run", uid, container))

    def create(self, body: Object) -> None:
        """Create an object that a recording needs."""
        kind = _registry().by_gvk(body["apiVersion"], body["kind"])
        assert kind is not None
        namespace = body["metadata"].get("namespace", "default") if kind.is_namespaced else ""
        if body["kind"] == "Secret" and "stringData" in body:
            data = {
                key: base64.b64encode(value.encode()).decode() for key, value in body["stringData"].items()
            }
            body = {key: value for key, value in body.items() if key != "stringData"} | {"data": data}
        if body["kind"] == "Secret" and ".dockerconfigjson" in (body.get("data") or {}):
            self.images.secrets.add("good")
        self.admin.create(kind.resource, namespace, body)

    def logs(self, pod: Object, **options: Any) -> str:
        """Return a log as a client gets it."""
        return self.admin.logs(pod["metadata"]["namespace"], pod["metadata"]["name"], LogOptions(**options))
