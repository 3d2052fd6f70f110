"""What scheduling needs to know of one pod, read from it once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from env_core.objects import pod_resources, quantity, selectors
from env_core.objects.selectors import LabelSelector
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

DEFAULT_CPU_MILLIS = 100
DEFAULT_MEMORY_BYTES = 200 << 20
"""What scoring takes a container that requests nothing to use. Source: pkg/scheduler/util pod_resources.go."""

_NO_LABELS: Mapping[str, str] = {}
_NATIVE = ("cpu", "memory", "ephemeral-storage", "pods")


class Term(NamedTuple):
    """One term of pod affinity or anti-affinity, compiled."""

    selector: LabelSelector
    topology_key: str
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    weight: int = 1


class Port(NamedTuple):
    """A port that a pod takes on its node."""

    ip: str
    protocol: str
    port: int


@dataclass(frozen=True, slots=True)
class PodInfo:
    """A pod as the scheduler sees it. Amounts: thousandths of a CPU, bytes."""

    pod: Object
    uid: str
    namespace: str
    name: str
    labels: Mapping[str, str]
    priority: int
    owner_uid: str
    is_terminating: bool
    cpu: int
    memory: int
    storage: int
    scalars: tuple[tuple[str, int], ...]
    nonzero_cpu: int
    nonzero_memory: int
    ports: tuple[Port, ...]
    affinity: tuple[Term, ...]
    anti_affinity: tuple[Term, ...]
    preferred_affinity: tuple[Term, ...]
    preferred_anti_affinity: tuple[Term, ...]
    start_ms: int
    group: tuple[str, tuple[tuple[str, str], ...]]
    """Namespace and labels: pods that no selector can tell apart."""
    has_affinity: bool
    """Whether the pod has any rule about other pods."""

    @property
    def spec(self) -> Object:
        """The pod's spec."""
        spec: Object = self.pod["spec"]
        return spec

    def is_of(self, pod: Object) -> bool:
        """Whether this still describes the pod: nothing that matters here has changed."""
        mine = self.pod
        if mine is pod:
            return True
        if mine["spec"] is not pod["spec"] and mine["spec"] != pod["spec"]:
            return False
        return self._has_same_metadata(pod)

    def is_bound_by(self, pod: Object) -> bool:
        """Whether the pod is this one with nothing but a node added, every other value being the same object."""
        spec, mine = pod["spec"], self.pod["spec"]
        if len(spec) != len(mine) + 1 or "nodeName" in mine:
            return False
        if not all(value is mine.get(key) for key, value in spec.items() if key != "nodeName"):
            return False
        return self._has_same_metadata(pod)

    def _has_same_metadata(self, pod: Object) -> bool:
        metadata = pod["metadata"]
        return (
            self.is_terminating == ("deletionTimestamp" in metadata)
            and self.labels == (metadata.get("labels") or _NO_LABELS)
            and self.start_ms == started_ms(pod)
        )


def is_finished(pod: Object) -> bool:
    """Whether the pod has ended and so takes nothing from its node any more."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def pod_info(pod: Object) -> PodInfo:
    """Read a pod."""
    metadata, spec = pod["metadata"], pod["spec"]
    namespace: str = metadata.get("namespace") or ""
    labels: Mapping[str, str] = metadata.get("labels") or _NO_LABELS
    requests = pod_resources.pod_requests(spec)
    cpu = quantity.to_milli(requests["cpu"]) if "cpu" in requests else 0
    memory = quantity.to_bytes(requests["memory"]) if "memory" in requests else 0
    affinity = spec.get("affinity") or {}
    near, far = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    owners = metadata.get("ownerReferences")
    rules = (
        _terms(near, namespace, labels),
        _terms(far, namespace, labels),
        _weighted_terms(near, namespace, labels),
        _weighted_terms(far, namespace, labels),
    )
    return PodInfo(
        pod=pod,
        uid=metadata.get("uid") or "",
        namespace=namespace,
        name=metadata["name"],
        labels=labels,
        priority=spec.get("priority") or 0,
        owner_uid=owners[0]["uid"] if owners else "",
        is_terminating="deletionTimestamp" in metadata,
        cpu=cpu,
        memory=memory,
        storage=quantity.to_bytes(requests["ephemeral-storage"]) if "ephemeral-storage" in requests else 0,
        scalars=tuple(
            (name, quantity.to_bytes(text)) for name, text in sorted(requests.items()) if name not in _NATIVE
        ),
        nonzero_cpu=_nonzero(spec, "cpu", DEFAULT_CPU_MILLIS, cpu),
        nonzero_memory=_nonzero(spec, "memory", DEFAULT_MEMORY_BYTES, memory),
        ports=_host_ports(spec),
        affinity=rules[0],
        anti_affinity=rules[1],
        preferred_affinity=rules[2],
        preferred_anti_affinity=rules[3],
        start_ms=started_ms(pod),
        group=(namespace, tuple(sorted(labels.items()))),
        has_affinity=any(rules),
    )


def started_ms(pod: Object) -> int:
    """Return when a kubelet took the pod on, in milliseconds since the Unix epoch; 0 if none has."""
    text = (pod.get("status") or {}).get("startTime")
    return parse_ms(text) if text else 0


def _nonzero(spec: Object, name: str, default: int, exact: int) -> int:
    """Return what a pod requests of a resource, containers that say nothing counted with the default."""
    containers = spec.get("containers") or ()
    missing = sum(1 for entry in containers if not _requests_of(entry, name))
    if not missing and not spec.get("initContainers"):
        return exact
    total = sidecars = most = 0
    for entry in containers:
        total += _amount(entry, name, default)
    for entry in spec.get("initContainers") or ():
        used = _amount(entry, name, default)
        if entry.get("restartPolicy") == "Always":
            total += used
            sidecars += used
            used = sidecars
        else:
            used += sidecars
        most = max(most, used)
    overhead = (spec.get("overhead") or {}).get(name)
    return max(total, most) + (_whole(name, overhead) if overhead else 0)


def _requests_of(container: Object, name: str) -> Any:
    return ((container.get("resources") or {}).get("requests") or {}).get(name)


def _amount(container: Object, name: str, default: int) -> int:
    text = _requests_of(container, name)
    return default if text is None else _whole(name, text)


def _whole(name: str, text: Any) -> int:
    return quantity.to_milli(text) if name == "cpu" else quantity.to_bytes(text)


def _host_ports(spec: Object) -> tuple[Port, ...]:
    found = []
    for group in ("containers", "initContainers"):
        for container in spec.get(group) or ():
            if group == "initContainers" and container.get("restartPolicy") != "Always":
                continue
            for port in container.get("ports") or ():
                if port.get("hostPort"):
                    ip = port.get("hostIP") or "0.0.0.0"
                    found.append(Port(ip, port.get("protocol") or "TCP", port["hostPort"]))
    return tuple(found)


def _terms(rules: Object, namespace: str, labels: Mapping[str, str]) -> tuple[Term, ...]:
    listed = rules.get("requiredDuringSchedulingIgnoredDuringExecution")
    return tuple(_term(entry, namespace, labels, 1) for entry in listed) if listed else ()


def _weighted_terms(rules: Object, namespace: str, labels: Mapping[str, str]) -> tuple[Term, ...]:
    listed = rules.get("preferredDuringSchedulingIgnoredDuringExecution")
    if not listed:
        return ()
    return tuple(
        _term(entry.get("podAffinityTerm") or {}, namespace, labels, entry.get("weight") or 0)
        for entry in listed
    )


def _term(entry: Object, namespace: str, labels: Mapping[str, str], weight: int) -> Term:
    selector = entry.get("labelSelector")
    for key, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for label in entry.get(key) or ():
            if selector is not None and label in labels:
                expression = {"key": label, "operator": operator, "values": [labels[label]]}
                selector = {
                    **selector,
                    "matchExpressions": [*(selector.get("matchExpressions") or ()), expression],
                }
    named = entry.get("namespaces") or ()
    by_label = entry.get("namespaceSelector")
    return Term(
        selectors.from_object(selector),
        entry.get("topologyKey") or "",
        frozenset(named) if named or by_label is not None else frozenset((namespace,)),
        None if by_label is None else selectors.from_object(by_label),
        weight,
    )
