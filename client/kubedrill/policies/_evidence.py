"""What the rules look at: the objects of one namespace, read with kubectl and kept as plain values."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

READ_NAMESPACES = "kubectl get pods --all-namespaces --no-headers"
WIRING = "services,ingresses,networkpolicies,configmaps"
"""What leads requests to workloads, and their configuration."""
WORKLOADS = "deployments,statefulsets"
WORKING = f"{WORKLOADS},horizontalpodautoscalers,persistentvolumeclaims"
"""What runs, what scales it and what it keeps."""
_TRIMMED = (
    r".items[]|[.kind,.metadata.name,(.spec|del(.template.spec.containers[]?|"
    r".securityContext,.terminationMessagePath,.terminationMessagePolicy,.imagePullPolicy)|tojson),"
    r"""(.data|tojson),.metadata.creationTimestamp]|join("\t")"""
)
_STATUS = (
    r'.items[]|["status",.kind,.metadata.name,'
    r"(.status|{updatedReplicas,readyReplicas,currentRevision,updateRevision,phase,"
    r"""conditions:[.conditions[]?|{type,status,reason,message}]}|tojson)]|join("\t")"""
)
READ_SPACES = r"""kubectl get namespaces -o json | jq -r '.items[]|["namespace",.metadata.name,(.metadata.labels|tojson)]|join("\t")'"""
READ_EDGE = (
    r"kubectl get services -A -o json | jq -r "
    r"""'.items[]|select(.spec.type=="LoadBalancer")|["edge",.metadata.namespace,(.spec.selector|tojson)]|join("\t")'"""
)
"""Prints the services by which requests come into the cluster."""
_WORD = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.IGNORECASE)

Json = dict[str, Any]


def read_objects(namespace: str, kinds: str) -> str:
    """Return the command that prints the objects of a namespace, one a line."""
    return f"kubectl -n {namespace} get {kinds} -o json | jq -r '{_TRIMMED}'"


def read_statuses(namespace: str) -> str:
    """Return the command that prints the state of what is `WORKING`, one a line."""
    return f"kubectl -n {namespace} get {WORKING} -o json | jq -r '{_STATUS}'"


def namespace_of(output: str, pod_names: list[str]) -> str:
    """Return the namespace in which these pods are listed; empty if there is none."""
    wanted = set(pod_names)
    counts: dict[str, int] = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) > 1 and words[1] in wanted:
            counts[words[0]] = counts.get(words[0], 0) + 1
    return max(sorted(counts), key=lambda name: counts[name], default="")


@dataclass(frozen=True, slots=True)
class Edge:
    """Pods through which requests come into the cluster, as the selector of their service names them."""

    namespace: str
    labels: dict[str, str]
    space: dict[str, str]
    """The labels of their namespace."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A setting that names a host: where it is declared, and who reads it."""

    owner: str
    """The ConfigMap's name; empty when the workload's template holds the value itself."""
    container: str
    key: str
    value: str
    workloads: tuple[str, ...]
    port: int | None

    @property
    def host(self) -> str:
        """The host in the value."""
        return host_and_port(self.value)[0]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The objects of one namespace by name."""

    namespace: str
    services: dict[str, Json] = field(default_factory=dict)
    workloads: dict[str, Json] = field(default_factory=dict)
    """Deployments and stateful sets."""
    kinds: dict[str, str] = field(default_factory=dict)
    """The kind of each workload, as kubectl takes it."""
    policies: dict[str, Json] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    ingresses: dict[str, Json] = field(default_factory=dict)
    autoscalers: dict[str, Json] = field(default_factory=dict)
    claims: dict[str, Json] = field(default_factory=dict)
    statuses: dict[tuple[str, str], Json] = field(default_factory=dict)
    """What is said of an object's state, by kind and name, where that was read."""
    births: dict[tuple[str, str], str] = field(default_factory=dict)
    """When it was made, as Kubernetes writes times."""
    edges: tuple[Edge, ...] = ()

    @classmethod
    def parsed(cls, namespace: str, output: str, edges: tuple[Edge, ...] = ()) -> Evidence:
        """Return what the outputs of the commands above say. A line that was cut off is left out."""
        evidence = cls(namespace, edges=edges)
        for line in output.splitlines():
            columns = line.split("\t")
            if columns[0] == "status" and len(columns) == 4:
                evidence.statuses[columns[1], columns[2]] = json_object(columns[3])
            elif len(columns) == 5:
                kind, name, *texts, made = columns
                spec, content = map(json_object, texts)
                if spec or content:
                    evidence._add(kind, name, spec, content)
                    evidence.births[kind, name] = made
        return evidence

    def _add(self, kind: str, name: str, spec: Json, content: Json) -> None:
        match kind:
            case "Service":
                self.services[name] = spec
            case "Deployment" | "StatefulSet":
                self.workloads[name] = spec
                self.kinds[name] = kind.lower()
            case "NetworkPolicy":
                self.policies[name] = spec
            case "ConfigMap":
                self.configs[name] = {key: str(value) for key, value in content.items()}
            case "Ingress":
                self.ingresses[name] = spec
            case "HorizontalPodAutoscaler":
                self.autoscalers[name] = spec
            case "PersistentVolumeClaim":
                self.claims[name] = spec

    def labels(self, workload: str) -> dict[str, str]:
        """Return the labels of the workload's pods."""
        metadata: Json = self.workloads[workload].get("template", {}).get("metadata", {})
        labels: dict[str, str] = metadata.get("labels") or {}
        return labels

    def selects(self, workload: str) -> dict[str, str]:
        """Return the labels by which the workload knows its pods: they outlast every release."""
        labels: dict[str, str] = self.workloads[workload].get("selector", {}).get("matchLabels") or {}
        return labels

    def images(self, workload: str) -> frozenset[str]:
        """Return what the workload's containers run, without the releases."""
        return frozenset(_without_tag(container.get("image", "")) for container in self.containers(workload))

    def status(self, workload: str) -> Json:
        """Return what is said of the workload's state; empty where that was not read."""
        return self.statuses.get(
            ("StatefulSet" if self.kinds[workload] == "statefulset" else "Deployment", workload), {}
        )

    def pending_claims(self) -> list[str]:
        """Return the claims that have no volume."""
        phases = {
            name: self.statuses.get(("PersistentVolumeClaim", name), {}).get("phase") for name in self.claims
        }
        return sorted(name for name, phase in phases.items() if phase == "Pending")

    def containers(self, workload: str) -> list[Json]:
        """Return the containers of the workload's pods."""
        containers: list[Json] = (
            self.workloads[workload].get("template", {}).get("spec", {}).get("containers") or []
        )
        return containers

    def ports(self, workload: str) -> dict[str, int]:
        """Return the container ports of the workload, by name and by number."""
        ports: dict[str, int] = {}
        for container in self.containers(workload):
            for port in container.get("ports") or ():
                number = int(port["containerPort"])
                ports[str(number)] = number
                if port.get("name"):
                    ports[port["name"]] = number
        return ports

    def behind(self, service: str) -> list[str]:
        """Return the workloads that the service selects."""
        selector = self.services[service].get("selector") or {}
        return [name for name in sorted(self.workloads) if selector and matches(selector, self.labels(name))]

    def service_named(self, host: str) -> str:
        """Return the service of this namespace that a host name means; empty if it means none."""
        parts = host.lower().rstrip(".").split(".")
        if parts[0] not in self.services:
            return ""
        if len(parts) == 1 or (parts[1] == self.namespace and parts[2:3] in ([], ["svc"])):
            return parts[0]
        return ""

    def references(self) -> Iterator[Reference]:
        """Yield every setting that names a host and that some workload reads."""
        for config in sorted(self.configs):
            readers = tuple(
                name for name in sorted(self.workloads) if config in set(self._config_names(name))
            )
            for key, value in sorted(self.configs[config].items()):
                if readers and _names_host(key, value):
                    port = _port_beside(key, value, self.configs[config])
                    yield Reference(config, "", key, value, readers, port)
        for name in sorted(self.workloads):
            for container in self.containers(name):
                given = {
                    entry["name"]: entry["value"] for entry in container.get("env") or () if "value" in entry
                }
                for key, value in sorted(given.items()):
                    if _names_host(key, value):
                        yield Reference(
                            "", container["name"], key, value, (name,), _port_beside(key, value, given)
                        )

    def _config_names(self, workload: str) -> Iterator[str]:
        for container in self.containers(workload):
            for entry in container.get("envFrom") or ():
                yield (entry.get("configMapRef") or {}).get("name", "")
            for entry in container.get("env") or ():
                yield ((entry.get("valueFrom") or {}).get("configMapKeyRef") or {}).get("name", "")


def edges(output: str) -> tuple[Edge, ...]:
    """Return what the outputs of `READ_SPACES` and `READ_EDGE` say."""
    lines = [line.split("\t") for line in output.splitlines()]
    spaces = {line[1]: json_object(line[2]) for line in lines if len(line) == 3 and line[0] == "namespace"}
    found = [line for line in lines if len(line) == 3 and line[0] == "edge"]
    return tuple(Edge(line[1], json_object(line[2]), spaces.get(line[1], {})) for line in found)


def matches(selector: dict[str, str], labels: dict[str, str]) -> bool:
    """Whether the labels satisfy an equality selector."""
    return all(labels.get(key) == value for key, value in selector.items())


def host_and_port(value: str) -> tuple[str, int | None]:
    """Return the host and the port in a setting's value: a bare host, host:port, or a URL."""
    text = value.strip() if "//" in value else f"//{value.strip()}"
    try:
        parts = urlsplit(text)
        return parts.hostname or "", parts.port
    except ValueError:
        return "", None


def is_address(host: str) -> bool:
    """Whether the host is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _without_tag(image: str) -> str:
    head, _, last = image.partition("@")[0].rpartition("/")
    return f"{head}/{last.partition(':')[0]}"


def _names_host(key: str, value: str) -> bool:
    words = re.split(r"[^A-Z0-9]+", key.upper())
    hints = {"HOST", "HOSTNAME", "ADDR", "ADDRESS", "URL", "URI", "ENDPOINT", "SERVER", "UPSTREAM", "BACKEND"}
    if not hints & set(words) or "\n" in value or " " in value.strip():
        return False
    host = host_and_port(value)[0]
    return bool(host) and _WORD.fullmatch(host) is not None and not is_address(host) and host != "localhost"


def _port_beside(key: str, value: str, settings: dict[str, str]) -> int | None:
    port = host_and_port(value)[1]
    if port is not None:
        return port
    stem = re.sub(r"(HOST(NAME)?|ADDR(ESS)?|SERVER|ENDPOINT)$", "", key.upper())
    for name, text in settings.items():
        if name.upper() == f"{stem}PORT" and text.strip().isdecimal():
            return int(text)
    return None


def json_value(text: str) -> Any:
    """Return what a text in JSON says; None if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def json_object(text: str) -> Json:
    """Return the object that a text in JSON says; an empty one if it says something else."""
    value = json_value(text)
    return value if isinstance(value, dict) else {}
