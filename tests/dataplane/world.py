"""A network over a real store, with pods and runs put there by hand."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import Any

import yaml

from env_core.apiserver.store import Store
from env_core.dataplane.network import Network
from env_core.dataplane.serving import programs
from env_core.objects import quantity
from env_core.programs import Container, Run, Runtime
from env_core.programs._images import image_of
from env_core.sim.loop import EventLoop
from env_core.sim.rng import Streams
from env_core.sim.state import State

NOW_MS = 1_767_603_600_000
GROUPED = {
    "Deployment": "deployments.apps",
    "Ingress": "ingresses.networking.k8s.io",
    "IngressClass": "ingressclasses.networking.k8s.io",
    "NetworkPolicy": "networkpolicies.networking.k8s.io",
    "Service": "services",
    "ConfigMap": "configmaps",
    "Namespace": "namespaces",
}


def manifests(folder: str) -> list[dict[str, Any]]:
    """Return the objects of a scenario folder."""
    found: list[dict[str, Any]] = []
    for entry in sorted(files("env_core.scenarios").joinpath(folder).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml"):
            found += [document for document in yaml.safe_load_all(entry.read_text()) if document]
    return found


class World:
    """The parts that the data plane needs, and shortcuts to fill them."""

    def __init__(self, *, _parts: tuple[Store, EventLoop, State, Streams] | None = None) -> None:
        self.store, self.loop, self.state, self.streams = _parts or (
            Store(),
            EventLoop(NOW_MS),
            State(),
            Streams(7),
        )
        self.runtime = Runtime(self.state)
        self.woken: list[object] = []
        self.loop.bind("kubelet", self.woken.append)
        self.network = Network(
            store=self.store, runtime=self.runtime, loop=self.loop, state=self.state, streams=self.streams
        )
        self.store.subscriber = self.network.on_write
        self.addresses = 10

    def fork(self) -> World:
        """Return a copy that shares what nobody writes."""
        return World(_parts=(self.store.fork(), self.loop.fork(), self.state.fork(), self.streams.fork()))

    def put(self, resource: str, obj: dict[str, Any]) -> dict[str, Any]:
        """Store an object."""
        return self.store.put(resource, obj)

    def namespace(self, name: str, **labels: str) -> None:
        """Add a namespace with its own label."""
        metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name, **labels}}
        self.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    def service(self, namespace: str, name: str, spec: dict[str, Any], address: str = "") -> None:
        """Add a Service with a cluster address."""
        if spec.get("type") != "ExternalName" and "clusterIP" not in spec:
            self.addresses += 1
            spec = {**spec, "clusterIP": address or f"10.96.1.{self.addresses}"}
        ports = [{"protocol": "TCP", **port} for port in spec.get("ports") or []]
        self.put(
            "services",
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"namespace": namespace, "name": name},
                "spec": {**spec, "ports": ports},
            },
        )

    def slices(self, namespace: str, name: str) -> None:
        """Write a Service's EndpointSlice from the pods that it selects."""
        service = self.store.get("services", namespace, name)
        assert service is not None
        selector = service["spec"].get("selector") or {}
        pods = [
            pod
            for pod in self.store.list("pods", namespace)
            if selector
            and all(
                (pod["metadata"].get("labels") or {}).get(key) == value for key, value in selector.items()
            )
        ]
        ports = []
        for port in service["spec"]["ports"]:
            target: Any = port.get("targetPort", port["port"])
            if isinstance(target, str) and pods:
                target = next(
                    each["containerPort"]
                    for container in pods[0]["spec"]["containers"]
                    for each in container.get("ports") or ()
                    if each.get("name") == target
                )
            ports.append(
                {"name": port.get("name", ""), "port": target, "protocol": port.get("protocol", "TCP")}
            )
        endpoints = [
            {
                "addresses": [pod["status"]["podIP"]],
                "conditions": {
                    "ready": self.is_ready(pod),
                    "serving": self.is_ready(pod),
                    "terminating": False,
                },
                "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"]},
                **({"hostname": pod["spec"]["hostname"]} if pod["spec"].get("hostname") else {}),
            }
            for pod in pods
        ]
        metadata = {
            "namespace": namespace,
            "name": f"{name}-x",
            "labels": {"kubernetes.io/service-name": name},
        }
        self.put(
            "endpointslices.discovery.k8s.io",
            {"metadata": metadata, "addressType": "IPv4", "ports": ports, "endpoints": endpoints},
        )

    def is_ready(self, pod: dict[str, Any]) -> bool:
        """Whether every container of a pod runs."""
        return all(
            (run := self.runtime.run(pod["metadata"]["uid"], each["name"])) is not None
            and run.is_running(self.loop.now_ms)
            for each in pod["spec"]["containers"]
        )

    def pod(
        self,
        namespace: str,
        name: str,
        spec: dict[str, Any],
        labels: dict[str, str] | None = None,
        address: str = "",
    ) -> dict[str, Any]:
        """Add a running pod: its object, its address and a run of each container, started a minute ago."""
        self.addresses += 1
        address = address or f"10.244.1.{self.addresses}"
        pod = self.put("pods", {
            "metadata": {"namespace": namespace, "name": name, "uid": f"uid-{namespace}-{name}", "labels": labels or {}},
            "spec": {"nodeName": "node-a", **spec},
            "status": {"podIP": address, "hostIP": "10.0.0.11", "phase": "Running"},
        })  # fmt: skip
        self.runtime.assign(address, namespace, name, pod["metadata"]["uid"])
        for container in spec["containers"]:
            self.start(pod, container, self.loop.now_ms - 60_000)
        return pod

    def start(self, pod: dict[str, Any], container: dict[str, Any], started_ms: int) -> Run:
        """Start a container of a pod."""
        spec = pod["spec"]
        namespace = pod["metadata"]["namespace"]
        program = next(each for each in programs().values() if image_of(each.images, container["image"]))
        image = image_of(program.images, container["image"])
        assert image is not None
        env = dict(image.env)
        for source in container.get("envFrom") or ():
            config = self.store.get("configmaps", namespace, source["configMapRef"]["name"])
            env |= (config or {}).get("data") or {}
        env |= {each["name"]: each["value"] for each in container.get("env") or ()}
        mounted: dict[str, str] = {}
        volumes = {volume["name"]: volume for volume in spec.get("volumes") or ()}
        for mount in container.get("volumeMounts") or ():
            config = self.store.get("configmaps", namespace, volumes[mount["name"]]["configMap"]["name"])
            mounted |= {
                f"{mount['mountPath']}/{key}": text
                for key, text in ((config or {}).get("data") or {}).items()
            }
        limits = (container.get("resources") or {}).get("limits") or {}
        argv = tuple(container.get("command") or image.entrypoint)
        words = container.get("args")
        if words is None and not container.get("command"):
            words = image.command
        subject = Container(
            namespace=namespace, pod=pod["metadata"]["name"], pod_uid=pod["metadata"]["uid"], name=container["name"],
            image=container["image"], argv=(*argv, *(words or ())), env=env, files=mounted,
            pod_ip=pod["status"]["podIP"], node=spec["nodeName"],
            cpu_limit_millis=quantity.to_milli(limits["cpu"]) if "cpu" in limits else None, cpu_request_millis=0,
            memory_limit_bytes=quantity.to_bytes(limits["memory"]) if "memory" in limits else None,
            started_ms=started_ms, restarts=0,
        )  # fmt: skip
        launch = program.launch(subject)
        ending = launch.exit
        run = Run(
            container=subject, container_id="c" * 64, program=program.name, launch=launch,
            exit_at_ms=None if ending is None else started_ms + ending.after_ms,
            exit_code=0 if ending is None else ending.code,
        )  # fmt: skip
        self.runtime.put(run)
        self.runtime.log(run, tuple(line._replace(at_ms=line.at_ms + started_ms) for line in launch.log))
        return run

    def restart(self, namespace: str, pod: str, container: str) -> Run:
        """Start a container anew from what is in the store now."""
        found = self.store.get("pods", namespace, pod)
        assert found is not None
        spec = next(each for each in found["spec"]["containers"] if each["name"] == container)
        self.addresses += 1
        return self.start(found, spec, self.loop.now_ms - 30_000 + self.addresses)

    def edit(self, resource: str, namespace: str, name: str, **parts: Any) -> None:
        """Replace top-level parts of an object."""
        found = self.store.get(resource, namespace, name)
        assert found is not None
        self.put(resource, {**found, **parts})

    def log(self, namespace: str, pod: str, container: str) -> list[str]:
        """Return the texts of a container's log."""
        return [line.text for line in self.runtime.log_lines(f"uid-{namespace}-{pod}", container, 0)]


def tron_world() -> World:
    """Return the platform's and tron's objects, with one pod per replica and every endpoint slice written."""
    world = World()
    for namespace in ("kube-system", "tron", "default"):
        world.namespace(namespace)
    world.put(
        "nodes",
        {
            "metadata": {"name": "node-a"},
            "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.11"}]},
        },
    )
    deployments = []
    for manifest in [*manifests("platform"), *manifests("tron")]:
        kind = manifest["kind"]
        if kind == "Namespace" or kind not in GROUPED:
            continue
        metadata = manifest["metadata"]
        if kind == "Service":
            world.service(metadata["namespace"], metadata["name"], manifest["spec"])
        elif kind == "Deployment":
            deployments.append(manifest)
        else:
            world.put(GROUPED[kind], manifest)
    for manifest in deployments:
        template = manifest["spec"]["template"]
        for number in range(manifest["spec"].get("replicas", 1)):
            name = manifest["metadata"]["name"] if number == 0 else f"{manifest['metadata']['name']}-{number}"
            world.pod(
                manifest["metadata"]["namespace"], name, template["spec"], template["metadata"]["labels"]
            )
    for service in world.store.list("services"):
        if service["spec"].get("selector"):
            world.slices(service["metadata"]["namespace"], service["metadata"]["name"])
    return world


__all__ = ["NOW_MS", "World", "replace", "tron_world"]
