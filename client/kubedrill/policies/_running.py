"""What runs: the pods of a namespace, the revisions of its workloads, and the nodes, as plain values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kubedrill.policies._evidence import Json, json_object, json_value

_POD = (
    r'.items[]|["pod",.metadata.name,(.metadata|{labels,owner:.ownerReferences[0].name}|tojson),.status.phase,.metadata.creationTimestamp,'
    r"([.status.containerStatuses[]?|{name,ready,restartCount,waiting:.state.waiting.reason,"
    r"reason:.lastState.terminated.reason,finished:.lastState.terminated.finishedAt}]|tojson),"
    r'([.status.conditions[]?|select(.type=="PodScheduled" and .status=="False")|.message]|join(" "))]|join("\t")'
)
_NODE = r'.items[]|["node",.metadata.name,(.spec|{unschedulable,taints}|tojson)]|join("\t")'
READ_NODES = f"kubectl get nodes -o json | jq -r '{_NODE}'"
_REVISION = (
    r"[.items[]|{of:.metadata.ownerReferences[0].name,"
    r'number:((.metadata.annotations["deployment.kubernetes.io/revision"]//.revision)|tostring),'
    r"made:.metadata.creationTimestamp,template:(.spec.template//.data.spec.template|{labels:.metadata.labels,spec}|"
    r"del(.spec.containers[]?|.terminationMessagePath,.terminationMessagePolicy,.imagePullPolicy))}]"
    r"|group_by(.of)[]|select(length>1)[]"
)
_HASHES = ("pod-template-hash", "controller-revision-hash")


def read_pods(namespace: str) -> str:
    """Return the command that prints the pods of a namespace, one a line."""
    return f"kubectl -n {namespace} get pods -o json | jq -r '{_POD}'"


def read_revisions(namespace: str) -> str:
    """Return the command that prints the revisions of every workload that has had more than one, one a line."""
    return f"kubectl -n {namespace} get replicasets,controllerrevisions -o json | jq -c '{_REVISION}'"


class Container(NamedTuple):
    """One container of a pod, as its status tells of it."""

    is_ready: bool
    restarts: int
    waiting: str
    last_end: str
    last_end_at: str


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod."""

    name: str
    owner: str
    """The workload that it is of."""
    phase: str
    made: str
    containers: tuple[Container, ...]
    unscheduled: str
    """Why no node takes it; empty if one did."""

    @property
    def is_unwell(self) -> bool:
        """Whether it should run and does not."""
        is_ready = bool(self.containers) and all(container.is_ready for container in self.containers)
        return self.phase not in ("Succeeded", "Failed") and not is_ready

    def is_failing_since(self, time: str) -> bool:
        """Whether it has tried to run and could not, or may not even try, or is not ready though it was made before that."""
        tried = any(container.waiting or container.restarts for container in self.containers)
        return self.is_unwell and (tried or bool(self.unscheduled) or self.made < time)

    def restarted_since(self, time: str) -> int:
        """Return how often its containers have been restarted, if the last time was after that."""
        return sum(each.restarts for each in self.containers if each.last_end_at > time)

    def killed_for_memory_since(self, time: str) -> bool:
        """Whether a container was last ended for its memory, after that time."""
        return any(each.last_end == "OOMKilled" and each.last_end_at > time for each in self.containers)


@dataclass(frozen=True, slots=True)
class Node:
    """One node: whether it takes pods, and whose."""

    name: str
    is_cordoned: bool
    taints: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a workload's pods."""

    number: int
    made: str
    template: Json


class Release(NamedTuple):
    """The last change of a workload's pods that was more than a restart."""

    number_before: int
    made: str
    changed: dict[str, tuple[Any, Any]]
    """What was and is there, by path in the pod's template: None where there was, or is, nothing."""

    def touches(self, *words: str) -> bool:
        """Whether one of these fields was changed."""
        return any(set(path.split("/")) & set(words) for path in self.changed)

    def drops(self, *words: str) -> bool:
        """Whether one of these fields was taken away."""
        gone = [path for path, (_, now) in self.changed.items() if now is None]
        return any(set(path.split("/")) & set(words) for path in gone)


@dataclass(frozen=True, slots=True)
class Running:
    """What runs in one namespace, and where it could."""

    pods: list[Pod] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    revisions: dict[str, list[Revision]] = field(default_factory=dict)
    """By workload, the oldest first."""

    @classmethod
    def parsed(cls, output: str) -> Running:
        """Return what the outputs of `read_pods`, `READ_NODES` and `read_revisions` say; rubbish is left out."""
        running = cls()
        for line in output.splitlines():
            columns = line.split("\t")
            if columns[0] == "pod" and len(columns) == 7:
                running.pods.append(_pod(columns))
            elif columns[0] == "node" and len(columns) == 3:
                spec = json_object(columns[2])
                running.nodes.append(
                    Node(columns[1], bool(spec.get("unschedulable")), tuple(spec.get("taints") or ()))
                )
            elif line.startswith("{"):
                entry = json_object(line)
                if entry.get("of") and str(entry.get("number")).isdecimal():
                    revision = Revision(int(entry["number"]), entry["made"], entry["template"])
                    running.revisions.setdefault(entry["of"], []).append(revision)
        for own in running.revisions.values():
            own.sort(key=lambda revision: revision.number)
        return running

    def of(self, workload: str) -> list[Pod]:
        """Return the pods of a workload."""
        return [pod for pod in self.pods if pod.owner == workload]

    def latest(self, workload: str) -> Release | None:
        """Return what the newest revision of a workload changed; None if it changed nothing."""
        own = self.revisions.get(workload, [])[-2:]
        changed = _differences(own[0].template, own[-1].template) if own else {}
        return Release(own[0].number, own[-1].made, changed) if changed else None

    def release(self, workload: str) -> Release | None:
        """Return the last release of a workload, restarts left aside; None if it has always been what it is."""
        own = self.revisions.get(workload, [])
        for before, after in reversed(list(itertools.pairwise(own))):
            changed = _differences(before.template, after.template)
            if changed:
                return Release(before.number, after.made, changed)
        return None


def _pod(columns: list[str]) -> Pod:
    containers = tuple(
        Container(
            bool(entry.get("ready")),
            int(entry.get("restartCount") or 0),
            entry.get("waiting") or "",
            entry.get("reason") or "",
            entry.get("finished") or "",
        )
        for entry in _list(columns[5])
    )
    metadata = json_object(columns[2])
    owner, labels = str(metadata.get("owner") or ""), metadata.get("labels") or {}
    # What stands between a Deployment and its pods is named after both.
    workload = owner.removesuffix(f"-{labels.get('pod-template-hash', '')}")
    return Pod(columns[1], workload, columns[3], columns[4], containers, columns[6])


def _differences(before: Json, after: Json) -> dict[str, tuple[Any, Any]]:
    old, new = dict(_leaves(before)), dict(_leaves(after))
    return {
        path: (old.get(path), new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    }


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf with its path; entries of lists go by their names where they have any."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key not in _HASHES:
                yield from _leaves(entry, f"{path}/{key}")
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            name = entry.get("name", index) if isinstance(entry, dict) else index
            yield from _leaves(entry, f"{path}/{name}")
    elif value is not None:
        yield path, value


def _list(text: str) -> list[Json]:
    value = json_value(text)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
