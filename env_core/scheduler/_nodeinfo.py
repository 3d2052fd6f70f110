"""A node with the pods on it, summed up for filters and scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from env_core.apiserver.store import ObjectRef, Store
from env_core.objects import quantity
from env_core.objects.selectors import LabelSelector
from env_core.scheduler._podinfo import PodInfo, Port, is_finished, pod_info
from env_core.sim.table import Table
from env_core.world import Object

HOSTNAME = "kubernetes.io/hostname"
_NATIVE = ("cpu", "memory", "ephemeral-storage", "pods")
_BLOCKING = ("NoSchedule", "NoExecute")

Group = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """One node: what it offers, what its pods take. Amounts: thousandths of a CPU, bytes."""

    node: Object
    refs: tuple[ObjectRef, ...]
    name: str
    labels: Mapping[str, str]
    taints: tuple[Object, ...]
    """Those that keep pods away (NoSchedule, NoExecute)."""
    soft_taints: tuple[Object, ...]
    is_unschedulable: bool
    cpu_max: int
    memory_max: int
    storage_max: int
    pods_max: int
    scalars_max: Mapping[str, int]
    pods: tuple[PodInfo, ...]
    cpu: int
    memory: int
    storage: int
    scalars: Mapping[str, int]
    nonzero_cpu: int
    nonzero_memory: int
    ports: tuple[Port, ...]
    groups: Mapping[Group, tuple[Mapping[str, str], int]]
    """How many pods that stay there are of each namespace and labels."""
    with_rules: tuple[PodInfo, ...]
    """The pods that have rules about other pods."""

    def plus(self, info: PodInfo, refs: tuple[ObjectRef, ...]) -> NodeInfo:
        """Return the node with one more pod on it; `refs` are then all of its pods."""
        scalars: Mapping[str, int] = self.scalars
        if info.scalars:
            added = dict(scalars)
            for name, amount in info.scalars:
                added[name] = added.get(name, 0) + amount
            scalars = added
        groups = self.groups
        if not info.is_terminating:
            count = groups[info.group][1] if info.group in groups else 0
            groups = {**groups, info.group: (info.labels, count + 1)}
        return replace(
            self,
            refs=refs,
            pods=(*self.pods, info),
            cpu=self.cpu + info.cpu,
            memory=self.memory + info.memory,
            storage=self.storage + info.storage,
            scalars=scalars,
            nonzero_cpu=self.nonzero_cpu + info.nonzero_cpu,
            nonzero_memory=self.nonzero_memory + info.nonzero_memory,
            ports=self.ports + info.ports if info.ports else self.ports,
            groups=groups,
            with_rules=(*self.with_rules, info) if info.has_affinity else self.with_rules,
        )

    def matching(self, namespace: str, selector: LabelSelector) -> int:
        """Return how many pods of a namespace a selector matches, those that are going left out."""
        return sum(
            amount
            for (place, _), (labels, amount) in self.groups.items()
            if place == namespace and selector.matches(labels)
        )

    def with_pods(self, pods: tuple[PodInfo, ...]) -> NodeInfo:
        """Return the node as if exactly these pods were on it."""
        scalars: dict[str, int] = {}
        groups: dict[Group, tuple[Mapping[str, str], int]] = {}
        cpu = memory = storage = nonzero_cpu = nonzero_memory = 0
        ports: list[Port] = []
        with_rules: list[PodInfo] = []
        for info in pods:
            cpu += info.cpu
            memory += info.memory
            storage += info.storage
            nonzero_cpu += info.nonzero_cpu
            nonzero_memory += info.nonzero_memory
            ports += info.ports
            for name, amount in info.scalars:
                scalars[name] = scalars.get(name, 0) + amount
            if not info.is_terminating:
                count = groups[info.group][1] if info.group in groups else 0
                groups[info.group] = (info.labels, count + 1)
            if info.has_affinity:
                with_rules.append(info)
        return replace(
            self,
            pods=pods,
            cpu=cpu,
            memory=memory,
            storage=storage,
            scalars=scalars,
            nonzero_cpu=nonzero_cpu,
            nonzero_memory=nonzero_memory,
            ports=tuple(ports),
            groups=groups,
            with_rules=tuple(with_rules),
        )

    def without(self, uids: Collection[str]) -> NodeInfo:
        """Return the node as if these pods were gone."""
        return self.with_pods(tuple(info for info in self.pods if info.uid not in uids))


_EMPTY: Mapping[str, int] = {}


def _empty_node(node: Object) -> NodeInfo:
    metadata, spec = node["metadata"], node.get("spec") or {}
    status = node.get("status") or {}
    allocatable = status.get("allocatable") or status.get("capacity") or {}
    taints = spec.get("taints") or ()
    return NodeInfo(
        node=node,
        refs=(),
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        taints=tuple(taint for taint in taints if taint.get("effect") in _BLOCKING),
        soft_taints=tuple(taint for taint in taints if taint.get("effect") == "PreferNoSchedule"),
        is_unschedulable=bool(spec.get("unschedulable")),
        cpu_max=_milli(allocatable.get("cpu")),
        memory_max=_whole(allocatable.get("memory")),
        storage_max=_whole(allocatable.get("ephemeral-storage")),
        pods_max=_whole(allocatable.get("pods")),
        scalars_max={
            name: quantity.to_bytes(text) for name, text in allocatable.items() if name not in _NATIVE
        },
        pods=(),
        cpu=0,
        memory=0,
        storage=0,
        scalars=_EMPTY,
        nonzero_cpu=0,
        nonzero_memory=0,
        ports=(),
        groups={},
        with_rules=(),
    )


@lru_cache(maxsize=1024)
def _milli(text: Any) -> int:
    return 0 if text is None else quantity.to_milli(text)


@lru_cache(maxsize=1024)
def _whole(text: Any) -> int:
    return 0 if text is None else quantity.to_bytes(text)


class NodeCache:
    """Summed-up nodes, kept in copy-on-write tables and made anew when a node or its pods have changed."""

    __slots__ = ("_nodes", "_pods", "_store")

    def __init__(self, store: Store, nodes: Table[str, NodeInfo], pods: Table[str, PodInfo]) -> None:
        self._store = store
        self._nodes = nodes
        self._pods = pods

    def pod(self, pod: Object) -> PodInfo:
        """Return what is known of a pod, read afresh if it has changed."""
        uid = pod["metadata"].get("uid") or ""
        found = self._pods.get(uid)
        if found is not None:
            if found.is_of(pod):
                return found
            if found.is_bound_by(pod):
                info = replace(found, pod=pod)
                self._pods[uid] = info
                return info
        info = pod_info(pod)
        self._pods[uid] = info
        return info

    def newest(self, pod: Object) -> PodInfo:
        """Return what is known of a pod, with this very version of the object (its status may be newer)."""
        info = self.pod(pod)
        return info if info.pod is pod else replace(info, pod=pod)

    def forget_pod(self, uid: str) -> None:
        """Drop a pod that is gone."""
        self._pods.pop(uid)

    def forget_node(self, name: str) -> None:
        """Sum a node up again when it is next asked for."""
        self._nodes.pop(name)

    def nodes(self) -> list[NodeInfo]:
        """Return every node, sorted by name."""
        return [self._summed(node) for node in self._store.list("nodes")]

    def _summed(self, node: Object) -> NodeInfo:
        name = node["metadata"]["name"]
        refs = self._store.refs("node", name)
        found = self._nodes.get(name)
        if found is not None and found.node is node:
            if found.refs is refs:
                return found
            if refs and refs[:-1] == found.refs:
                pod = self._store.get(*refs[-1])
                if pod is not None and not is_finished(pod):
                    info = found.plus(self.pod(pod), refs)
                    self._nodes[name] = info
                    return info
        base = found if found is not None and found.node is node else _empty_node(node)
        pods = tuple(self.pod(pod) for pod in self._store.indexed("node", name) if not is_finished(pod))
        info = replace(base.with_pods(pods), refs=refs)
        self._nodes[name] = info
        return info
