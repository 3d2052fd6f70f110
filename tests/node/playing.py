"""Recorded pods played in a whole cluster, with the pods, objects and node controls on which they depend."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.node.images import parse_reference
from env_core.node.node_status import NETWORK_PROBLEM, RUNTIME_PROBLEM
from env_core.world import Object
from tests.node.lab import CREATED_MS, Lab

Record = Mapping[str, Any]
SETTLE_MS = 12_000
"""For how long a cluster stands before the first pod: its namespaces have their accounts and root certificates."""
_QUIET = ("(exited)", "(sandbox died)", "ExecSync")
"""Calls of the recorded runtime that tell nothing of when the kubelet worked on a pod."""
_LEFT = {
    "memAvailMi": ("memory_bytes", 1 << 20),
    "fsAvailGi": ("disk_bytes", 1 << 30),
    "inodesFree": ("inodes", 1),
}
STARTED_MS = 325
_pulled = re.compile(r'Successfully pulled image "([^"]+)" in ([\dhms.]+) ').match
DEFAULT_CONFIG: Record = {"capacity": {"cpu": "8", "memory": "32Gi", "pods": "250"}}


def _span_ms(text: str) -> int:
    """Milliseconds of a duration as Go prints it."""
    units = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
    return int(sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(ms|[smh])", text)))


def _moments(record: Record, start_ms: int) -> list[int]:
    """When the recorded kubelet did something for a pod."""
    events = [
        each["t"]
        for each in record["events"]
        if (each.get("source") or {}).get("component") == "kubelet" and each["reason"] != "Unhealthy"
    ]
    calls = [each["t"] for each in record["cri"] if each["call"] not in _QUIET]
    return sorted({start_ms + int(at_ms) for at_ms in (*events, *calls)})


class Play:
    """One recorded pod and what it depends on, on one clock. Offsets count from the pod's creation.

    `cases` are all records by name: neighbours that are not among them were kept apart and do not play.
    """

    def __init__(self, record: Record, cases: Mapping[str, Record], seed: int = 7) -> None:
        self.record = record
        self.name: str = record["manifest"]["metadata"]["name"]
        self.pod: Object | None = None
        self.error = ""
        self._cases = cases
        self._plan: list[tuple[int, int, Callable[[], None]]] = []
        self._nodes: dict[str, Record] = {}
        self._played: set[str] = set()
        self._left: dict[str, dict[str, int]] = {}
        self._add(record)
        first = min((each[0] for each in self._plan), default=0)
        self.start_ms = CREATED_MS
        self.world = Lab(CREATED_MS - SETTLE_MS - max(record["posted_ms"] - first, 0), seed)
        for name in sorted(self._nodes):
            self.world.join(name, self._nodes[name], self._round_ms(name))
        for case in self._played:
            own = record if case == record["name"] else cases[case]
            pod_name = own["manifest"]["metadata"]["name"]
            begun_ms = self.start_ms + own["posted_ms"] - record["posted_ms"]
            self.world.starts[pod_name] = [
                begun_ms + int(each["t"]) for each in own["cri"] if each["call"] == "StartContainer"
            ]
            self._learn_pulls(own)
            self.world.moments[pod_name] = _moments(
                own, self.start_ms + own["posted_ms"] - record["posted_ms"]
            )
        self._plan.sort(key=lambda each: each[:2])
        before = [each for each in self._plan if each[0] < record["posted_ms"]]
        self._plan = self._plan[len(before) :]
        for each in before:
            self._perform(each)
        self.world.loop.run_until(self.start_ms)
        self.world.is_watching = True

    def _round_ms(self, node: str) -> int | None:
        """When the recorded node's eviction manager looked, within its ten seconds, if something tells."""
        for case in sorted(self._played):
            own = self._cases.get(case, self.record)
            for each in own["events"]:
                if (
                    own["node"] == node
                    and each["reason"] == "Evicted"
                    and "had condition" not in each["message"]
                ):
                    return int(self.start_ms + own["posted_ms"] - self.record["posted_ms"] + each["t"])
        return None

    def _learn_pulls(self, record: Record) -> None:
        """Let registries take as long as the recorder's did: the images are scripted, their pulls were measured."""
        for each in record["events"]:
            found = _pulled(each["message"]) if each["reason"] == "Pulled" else None
            reference = parse_reference(found[1]) if found is not None else None
            if found is not None and reference is not None:
                self.world.images.took.setdefault(reference.name, []).append(_span_ms(found[2]))

    @property
    def late_ms(self) -> int:
        """By how much the recorded pod started later than ours (README: "now and then takes 1 s longer")."""
        made = [each["t"] for each in self.record["cri"] if each["call"] == "RunPodSandbox"]
        return max(int(made[0]) - STARTED_MS, 0) if made else 0

    def _at(self, at_ms: int, act: Callable[[], None]) -> None:
        self._plan.append((at_ms, len(self._plan), act))

    def _node(self, name: str | None, config: Record | None) -> None:
        if name and (name not in self._nodes or (config and "kubelet" in config)):
            self._nodes[name] = config or DEFAULT_CONFIG

    def _add(self, record: Record) -> None:
        """Plan a record: its objects, its pod, its actions, and what it depends on."""
        if record["name"] in self._played:
            return
        self._played.add(record["name"])
        self._node(record["node"] or "node-1", record["node_config"])
        # That one was there in every recording: without it, a node that goes down would be the last.
        self._node("node-1", None)
        posted_ms = record["posted_ms"]
        for body in record["objects"]:
            self._at(posted_ms - 1_000, lambda body=body: self._create(body))
        self._at(posted_ms, lambda: self._post(record))
        for action in record["actions"]:
            self._at(posted_ms + action["at_ms"], lambda action=action: self._act(record, action["action"]))
        script = record["script"]
        if script.get("sandboxDieMs"):
            self._at(posted_ms + script["sandboxDieMs"] + 320, lambda: self._act(record, ["end_sandbox"]))
        for each in record["depends_on"]:
            if "control" in each:
                self._node(each["node"], None)
                self._at(each["at_ms"], lambda each=each: self._control(each["node"], each["control"]))
            elif "object" in each and each["object"]["kind"] == "Node":
                body = each["object"]
                taints = (body.get("spec") or {}).get("taints") or ()
                self._node(body["metadata"]["name"], {**DEFAULT_CONFIG, "taints": taints})
            elif "object" in each:
                self._at(each["at_ms"], lambda each=each: self._create(each["object"]))
            elif each["case"] in self._cases:
                self._add(self._cases[each["case"]])

    def _perform(self, planned: tuple[int, int, Callable[[], None]]) -> None:
        at_ms, _, act = planned
        self.world.loop.run_until(max(self.start_ms + at_ms - self.record["posted_ms"], self.world.now_ms))
        act()

    def run_to(self, offset_ms: int) -> None:
        """Play on to a moment."""
        while self._plan and self._plan[0][0] <= self.record["posted_ms"] + offset_ms:
            self._perform(self._plan.pop(0))
        self.world.loop.run_until(max(self.start_ms + offset_ms, self.world.now_ms))

    def _create(self, body: Object) -> None:
        kind = self.world.registry.by_gvk(body["apiVersion"], body["kind"])
        namespace = (
            body["metadata"].get("namespace", "default") if kind is not None and kind.is_namespaced else ""
        )
        if kind is None or self.world.store.get(kind.resource, namespace, body["metadata"]["name"]) is None:
            self.world.create(body)

    def _post(self, record: Record) -> None:
        pod = self.world.post(record)
        if record is self.record:
            self.pod = pod

    def _act(self, record: Record, action: list[Any]) -> None:
        metadata = record["manifest"]["metadata"]
        if action[0] == "set":
            self._control(action[1].split()[0], {"set": action[2]})
            return
        if action[0] == "unlink":
            return
        if action[0] == "va":
            self._attach(action[1], action[2])
            return
        if action[0] in ("killnode", "startnode"):
            node = action[1].split()[0]
            self._control(node, {"kill" if action[0] == "killnode" else "start": ""})
            return
        found = self.world.store.get("pods", metadata.get("namespace", "default"), metadata["name"])
        try:
            self.world.act(action, found if found is not None else record["manifest"])
        except StatusError:
            # README: "refused by the API server …: see `actions-errors.jsonl`".
            return

    def _attach(self, volume: str, status: Record) -> None:
        """Say of a volume's attachment what the recorded driver said."""
        for each in self.world.store.list("volumeattachments.storage.k8s.io"):
            if each["spec"]["source"]["persistentVolumeName"] == volume:
                self.world.client().update_status(
                    "volumeattachments.storage.k8s.io", "", {**each, "status": status}
                )

    def _control(self, node: str, control: Record) -> None:
        """Do to a node what was done to it in the recording."""
        kubelets = self.world.kubelets
        if "set" in control:
            self._set(node, control["set"])
        elif "kill" in control:
            if "kubelet only" in control["kill"] or self._nodes[node].get("runtime", "").startswith("own"):
                kubelets.stop_kubelet(node)
            else:
                kubelets.stop_node(node)
        elif "start" in control:
            kubelets.start_node(node)
        elif "kubectl" in control:
            self.world.kubectl(control["kubectl"])

    def _set(self, node: str, values: Record) -> None:
        kubelets = self.world.kubelets
        if "networkReady" in values:
            kubelets.set_network_problem(node, "" if values["networkReady"] else NETWORK_PROBLEM)
        if "runtimeReady" in values:
            kubelets.set_runtime_problem(node, "" if values["runtimeReady"] else RUNTIME_PROBLEM)
        left = {key: value for key, value in values.items() if key in _LEFT}
        if left:
            known = self._left.setdefault(node, {})
            known.update({_LEFT[key][0]: value * _LEFT[key][1] for key, value in left.items()})
            kubelets.set_free(node, **known)
