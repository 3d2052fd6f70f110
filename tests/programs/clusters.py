"""A whole cluster to put programs into: kubelets, controllers, DNS and policies of the shop, with what a test adds."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.request import ExecOptions
from env_core.cluster import Cluster
from env_core.programs import Reply, Request
from env_core.scenarios.apps import base
from env_core.world import Output

NAMESPACE = "lab"


class Lab:
    """A fork of the shop's cluster with a namespace of its own."""

    def __init__(self) -> None:
        self.cluster: Cluster = base("shop", 0).cluster.fork()
        self.client = self.cluster.client()
        self.client.create(
            "namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        )

    def config(self, name: str, data: dict[str, str]) -> None:
        """Write a ConfigMap."""
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "data": data,
        }
        self.client.create("configmaps", NAMESPACE, body)

    def service(self, name: str, *ports: int, is_headless: bool = False) -> None:
        """Put a Service before the pods with the label app=NAME."""
        spec: dict[str, Any] = {
            "selector": {"app": name},
            "ports": [{"name": f"p{port}", "port": port} for port in ports],
        }
        if is_headless:
            spec["clusterIP"] = "None"
        body = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": spec,
        }
        self.client.create("services", NAMESPACE, body)

    def workload(self, kind: str, name: str, spec: dict[str, Any], *, replicas: int = 1, **more: Any) -> None:
        """Create a Deployment or StatefulSet of pods with a spec."""
        labels = {"app": name}
        body = {
            "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "replicas": replicas, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec}, **more,
            },
        }  # fmt: skip
        self.client.create(f"{kind.lower()}s.apps", NAMESPACE, body)

    def pods(self, name: str) -> list[dict[str, Any]]:
        """Return the live pods of a workload, by name."""
        found = self.cluster.store.list("pods", NAMESPACE)
        return [
            pod for pod in found
            if pod["metadata"]["labels"].get("app") == name and "deletionTimestamp" not in pod["metadata"]
        ]  # fmt: skip

    def status(self, name: str, container: str) -> dict[str, Any]:
        """Return the status of a container of a workload's newest pod."""
        statuses = self.pods(name)[-1]["status"]["containerStatuses"]
        found: dict[str, Any] = next(each for each in statuses if each["name"] == container)
        return found

    def log(self, name: str, container: str, restarts: int | None = None) -> list[str]:
        """Return the texts of a container's log that have come by now; those of its newest run unless one is named."""
        if restarts is None:
            restarts = self.status(name, container)["restartCount"]
        uid = self.pods(name)[-1]["metadata"]["uid"]
        lines = self.cluster.runtime.log_lines(uid, container, restarts)
        return [line.text for line in lines if line.at_ms <= self.cluster.now_ms]

    def sh(self, name: str, container: str, line: str) -> Output:
        """Run a command line in a container of a workload's newest pod."""
        pod = self.pods(name)[-1]["metadata"]["name"]
        return self.client.exec(NAMESPACE, pod, ExecOptions(command=("sh", "-c", line), container=container))

    def ask(self, name: str, host: str, port: int, request: Request) -> Reply:
        """Send a request from a workload's newest pod; time passes until its answer is there."""
        source = self.cluster.network.source_of_pod(NAMESPACE, self.pods(name)[-1]["metadata"]["name"])
        assert source is not None
        reply = self.cluster.network.request(source, host, port, request)
        self.cluster.advance(max(reply.latency_ms, 1))
        return reply
