"""Plays the repair suite by rules: what does not run, what contradicts what, and what was released last.

It knows Kubernetes and nothing of any fault: every name that it uses comes out of an observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from kubedrill.models import KubeObservation
from kubedrill.policies import _evidence
from kubedrill.policies._evidence import Evidence, PodLine, matches
from kubedrill.policies._repairs import repairs

SUBMIT = "submit"
ALL_IS_WELL = "submit --mechanism=none"
_REVISIONS = (
    r'{range .items[*]}{.metadata.creationTimestamp}{"\t"}{.metadata.ownerReferences[0].name}{"\t"}'
    r'{.metadata.annotations.deployment\.kubernetes\.io/revision}{"\n"}{end}'
)
_READ_NODES = r"""kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name}{"\t"}{.spec.unschedulable}{"\n"}{end}'"""
READ_HOSTS = (
    r"kubectl get ingresses -A -o jsonpath="
    r"""'{range .items[*]}{.metadata.namespace}{"\t"}{.spec.rules[*].host}{"\n"}{end}'"""
)
_URL = re.compile(r"https?://[^\s,;)\"']+")
_NAMESPACE = re.compile(r"\b(?:namespace|in|from|of) ([a-z0-9][-a-z0-9]*)")
_ROUNDS_MAX = 2
_MEMORY = re.compile(r"(\d+)Mi")


class RepairPolicy:
    """One episode's worth of looking, repairing and submitting."""

    name = "heuristic"

    def __init__(self) -> None:
        self._plan: Iterator[str] | None = None
        self._seen: KubeObservation | None = None
        self._made: set[str] = set()

    def act(self, observation: KubeObservation) -> str | None:
        """Return the next command; the last one submits."""
        self._seen = observation
        if self._plan is None:
            self._plan = self._moves(observation)
        if observation.steps_max and observation.step_count >= observation.steps_max - 1:
            return SUBMIT
        return next(self._plan, SUBMIT)

    @property
    def _output(self) -> str:
        assert self._seen is not None
        return self._seen.output if self._seen.exit_code == 0 else ""

    @property
    def _is_served(self) -> bool:
        assert self._seen is not None
        return all(level.is_served for level in self._seen.service_levels or ())

    def _moves(self, first: KubeObservation) -> Iterator[str]:
        yield READ_HOSTS
        namespace = namespace_of_page(first.incident_brief, self._output)
        for _ in range(_ROUNDS_MAX):
            yield _evidence.read_objects(namespace, _evidence.WIRING)
            wiring = self._output
            yield _evidence.read_objects(namespace, _evidence.WORKLOADS)
            evidence = Evidence.parsed(namespace, wiring + self._output)
            yield _evidence.read_pods(namespace)
            unwell = _unwell(evidence, _evidence.pods(self._output))
            if self._is_served and not unwell:
                break
            yield from self._contradictions(evidence, first.incident_brief)
            yield from self._nodes()
            yield from self._workloads(evidence, unwell)
            if not self._made:
                yield from self._last_release(evidence)
            yield "sleep 45"
            if self._is_served and not unwell:
                break
        yield SUBMIT if self._made else ALL_IS_WELL

    def _contradictions(self, evidence: Evidence, brief: str) -> Iterator[str]:
        """Repair what the objects themselves show to be wrong."""
        for repair in repairs(evidence, brief):
            if repair.command not in self._made:
                self._made.add(repair.command)
                yield repair.command
                for workload in repair.stale:
                    yield f"kubectl -n {evidence.namespace} rollout restart {evidence.kinds[workload]}/{workload}"

    def _nodes(self) -> Iterator[str]:
        """Bring nodes back that somebody has taken out and forgotten."""
        yield _READ_NODES
        for line in self._output.splitlines():
            name, _, is_cordoned = line.partition("\t")
            command = f"kubectl uncordon {name}"
            if is_cordoned == "true" and command not in self._made:
                self._made.add(command)
                yield command

    def _last_release(self, evidence: Evidence) -> Iterator[str]:
        """Take back what was released last: whatever is wrong began somewhere."""
        yield f"kubectl -n {evidence.namespace} get replicasets -o jsonpath='{_REVISIONS}'"
        lines = [line.split("\t") for line in self._output.splitlines()]
        later = [line for line in lines if len(line) == 3 and line[2] not in ("", "1")]
        if later:
            workload = max(later)[1]
            command = f"kubectl -n {evidence.namespace} rollout undo deployment/{workload}"
            self._made.add(command)
            yield command
            yield f"kubectl -n {evidence.namespace} rollout status deployment/{workload} --timeout=60s"

    def _workloads(self, evidence: Evidence, unwell: dict[str, PodLine]) -> Iterator[str]:
        """Give more memory to what is killed for it; take back the last release of what does not start."""
        for workload, pod in unwell.items():
            target = f"{evidence.kinds[workload]}/{workload}"
            if "OOMKilled" in pod.last_end:
                command = _more_memory(evidence, workload, target)
            else:
                command = f"kubectl -n {evidence.namespace} rollout undo {target}"
            if command and command not in self._made:
                self._made.add(command)
                yield command
                yield f"kubectl -n {evidence.namespace} rollout status {target} --timeout=60s"


def namespace_of_page(brief: str, output: str) -> str:
    """Return the namespace that the page is about: of the host in its URL, or the one that it names."""
    spaces: dict[str, str] = {}
    for line in output.splitlines():
        namespace, _, hosts = line.partition("\t")
        spaces.update(dict.fromkeys(hosts.split(), namespace))
    for url in _URL.findall(brief):
        host = urlsplit(url).hostname or ""
        if host in spaces:
            return spaces[host]
    named = [word for word in _NAMESPACE.findall(brief) if word in spaces.values()]
    return named[0] if named else next(iter(spaces.values()), "default")


def _unwell(evidence: Evidence, pods: list[PodLine]) -> dict[str, PodLine]:
    """Return the workloads with a pod that should run and does not, each with the first such pod."""
    found: dict[str, PodLine] = {}
    for workload in sorted(evidence.workloads):
        labels = evidence.workloads[workload].get("selector", {}).get("matchLabels") or {}
        own = [pod for pod in pods if pod.is_unwell and labels and matches(labels, pod.labels)]
        if own:
            found[workload] = own[0]
    return found


def _more_memory(evidence: Evidence, workload: str, target: str) -> str:
    container = evidence.containers(workload)[0]
    limit = _MEMORY.fullmatch(str(((container.get("resources") or {}).get("limits") or {}).get("memory", "")))
    if limit is None:
        return ""
    wanted = f"{int(limit[1]) * 2}Mi"
    return f"kubectl -n {evidence.namespace} set resources {target} -c {container['name']} --limits=memory={wanted}"
