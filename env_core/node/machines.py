"""The machines under the nodes, as those who run them see them: a broken path to the pods, and repair or replacement.

A node whose pods' packets are lost is ready all the same: its kubelet speaks to the API server by the machine's own address, and its
probes never leave the machine.

Source of what retires a node with its machine: k8s.io/cloud-provider controllers/nodelifecycle (node_lifecycle_controller.go).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from env_core.apiserver.component import Component
from env_core.apiserver.request import Identity
from env_core.dataplane.connecting import LOST
from env_core.node import nodes, power
from env_core.node._host import Host
from env_core.node.conditions import is_terminal
from env_core.world import Object

HANDLER: Final = "machine"
REPAIR_MS: Final = 100_000
REPLACE_MS: Final = 150_000
RUNNING, REPAIRING, REPLACING = "running", "repairing", "replacing"
_RETIRES: Final = Identity("system:cloud-controller-manager", ("system:masters", "system:authenticated"))
_OWN_LABELS: Final = ("kubernetes.io/", "beta.kubernetes.io/")


class Refused(Exception):
    """What the operators of the machines do not do, with the reason."""


class _Template(NamedTuple):
    """What a machine that takes another's place is like."""

    name: str
    cpu: str
    memory: str
    labels: dict[str, str]
    taints: tuple[Object, ...]


class Machines:
    """The machines of one cluster. Agenda key: ("done", node), when work on a machine is finished."""

    __slots__ = ("_host", "_lost", "_mended", "_work")

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lost = host.state.table(LOST)
        self._mended = host.state.table("machines/mended")
        self._work = host.state.table("machines/work")

    def lose_packets(self, node: str) -> None:
        """Let a machine lose the packets of its pods from now on.

        Raises:
            KeyError: when no such node joined.
        """
        self._lost[self._host.nodes[node].name] = True

    def loses_packets(self, node: str) -> bool:
        """Whether a machine loses the packets of its pods."""
        return node in self._lost

    def mended_ms(self, node: str) -> int | None:
        """Return when a machine that lost packets was set right or retired; None when it never was."""
        found: int | None = self._mended.get(node)
        return found

    def state(self, node: str) -> str:
        """Return what goes on with a machine: RUNNING, REPAIRING or REPLACING."""
        if node not in self._work:
            return RUNNING
        return REPAIRING if self._work[node] is None else REPLACING

    def repair(self, node: str) -> None:
        """Begin to repair a machine: it is switched off, set right, and comes back as the same node.

        Raises:
            Refused: when it still serves.
        """
        self._begin(node)
        self._work[node] = None
        self._host.loop.wake(self._host.now_ms + REPAIR_MS, HANDLER, ("done", node))

    def replace(self, node: str) -> str:
        """Begin to replace a machine by a new one like it; returns the name of the new node.

        Raises:
            Refused: when it still serves.
        """
        found = self._begin(node)
        template = self._template(found)
        self._work[node] = template
        actor = Component(self._host.server, self._host.state, "cloud-node-lifecycle-controller", _RETIRES)
        actor.recorder.event(found, "Normal", "DeletingNode", f"Deleting node {node} because it does not exist in the cloud provider")  # fmt: skip
        actor.api.delete("nodes", "", node)
        self._host.loop.wake(self._host.now_ms + REPLACE_MS, HANDLER, ("done", node))
        return template.name

    def handle(self, key: Hashable) -> None:
        """Do what an agenda entry says."""
        assert isinstance(key, tuple)
        node = key[1]
        template: _Template | None = self._work[node]
        self._work.pop(node)
        if self._lost.pop(node):
            self._mended[node] = self._host.now_ms
        if template is None:
            power.start(self._host, self._host.nodes[node])
            return
        nodes.join(
            self._host, template.name, cpu=template.cpu, memory=template.memory, labels=template.labels, taints=template.taints, is_new=True
        )  # fmt: skip

    def _begin(self, node: str) -> Object:
        found = self._host.store.get("nodes", "", node)
        record = self._host.node(node)
        if found is None or record is None:
            raise Refused(f"no machine has the node {node}")
        if node in self._work:
            raise Refused(f"{node} is {self.state(node)}")
        if not found["spec"].get("unschedulable"):
            raise Refused(f"{node} is in service: cordon and drain it first")
        left = self._serving(node)
        if left:
            raise Refused(f"{node} still runs {len(left)} pods ({', '.join(left[:3])}): drain it first")
        power.stop(self._host, record, is_down=True)
        return found

    def _serving(self, node: str) -> list[str]:
        """Return the pods of a node that a drain would evict."""
        return [
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            for pod in self._host.store.indexed("node", node)
            if not is_terminal((pod.get("status") or {}).get("phase", ""))
            and not any(owner["kind"] in ("DaemonSet", "Node") for owner in pod["metadata"].get("ownerReferences") or ())
        ]  # fmt: skip

    def _template(self, node: Object) -> _Template:
        metadata, capacity = node["metadata"], node["status"]["capacity"]
        name = metadata["name"]
        number = 2
        while f"{name}-{number}" in self._host.nodes:
            number += 1
        labels = {
            key: text
            for key, text in (metadata.get("labels") or {}).items()
            if not key.startswith(_OWN_LABELS)
        }
        taints = tuple(
            taint for taint in node["spec"].get("taints") or () if not taint["key"].startswith("node.kubernetes.io/")
        )  # fmt: skip
        return _Template(f"{name}-{number}", capacity["cpu"], capacity["memory"], labels, taints)
