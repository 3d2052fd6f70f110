"""Plays by rules: reads the namespace, looks for contradictions between objects, repairs each where it is declared.

It knows Kubernetes and nothing of any scenario: every name that it uses comes out of an observation.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubedrill.models import KubeObservation
from kubedrill.policies import _evidence
from kubedrill.policies._evidence import WIRING, WORKLOADS, Evidence
from kubedrill.policies._planning import PlannedPolicy
from kubedrill.policies._repairs import repairs, restart, undo
from kubedrill.policies._running import Pod, Running, read_pods

_ROUNDS_MAX = 3
_BROKEN = frozenset(
    {
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "ErrImagePull",
        "CreateContainerConfigError",
        "RunContainerError",
    }
)


class HeuristicPolicy(PlannedPolicy):
    """One episode's worth of reading, comparing and repairing."""

    name = "heuristic"

    last = None

    def __init__(self) -> None:
        super().__init__()
        self.reasons: list[str] = []
        """Why each repair was made, in order."""

    def _moves(self, first: KubeObservation) -> Iterator[str]:
        yield _evidence.READ_NAMESPACES
        names = [line.split()[0] for line in _summary(first, "pods") if line.split()]
        namespace = _evidence.namespace_of(self._output, names) or _busiest(self._output)
        made: set[str] = set()
        restarted: set[str] = set()
        for _ in range(_ROUNDS_MAX):
            objects = yield from self._read(_evidence.read_objects(namespace, f"{WIRING},{WORKLOADS}"))
            evidence = Evidence.parsed(namespace, objects)
            stale: list[str] = []
            is_fresh = False
            for repair in repairs(evidence, first.incident_brief):
                if repair.command not in made:
                    made.add(repair.command)
                    self.reasons.append(repair.reason)
                    is_fresh = True
                    stale += [workload for workload in repair.stale if workload not in stale]
                    yield repair.command
            for workload in stale:
                restarted.add(workload)
                yield restart(evidence, workload)
            if is_fresh:
                yield from self._waits(evidence)
                continue
            yield from self._pods(evidence, restarted)
        # What is left of the budget goes to looking: it costs nothing, and slow repairs may still take hold.
        while True:
            yield f"kubectl -n {namespace} get events --sort-by=.lastTimestamp"

    def _waits(self, evidence: Evidence) -> Iterator[str]:
        for workload in sorted(evidence.workloads):
            if not self._is_available(workload):
                yield f"kubectl -n {evidence.namespace} rollout status {evidence.kinds[workload]} {workload} --timeout=60s"

    def _is_available(self, workload: str) -> bool:
        for line in _summary(self._seen, "deployments"):
            words = line.split()
            if len(words) == 2 and words[0] == workload:
                available, _, desired = words[1].partition("/")
                return available == desired
        return True

    def _pods(self, evidence: Evidence, restarted: set[str]) -> Iterator[str]:
        """Nothing contradicts anything any more, and still it does not work: look at what runs."""
        running = Running.parsed((yield from self._read(read_pods(evidence.namespace))))
        for workload in sorted(evidence.workloads):
            is_broken = any(self._is_broken(workload, pod) for pod in running.of(workload))
            if is_broken and workload not in restarted:
                restarted.add(workload)
                self.reasons.append(f"the pods of {workload} do not start since its last change")
                yield undo(evidence, workload)
                return
        for reference in evidence.references():
            for workload in reference.workloads:
                if workload not in restarted:
                    restarted.add(workload)
                    self.reasons.append(f"the pods of {workload} may be older than their configuration")
                    yield restart(evidence, workload)

    def _is_broken(self, workload: str, pod: Pod) -> bool:
        # Between two attempts a container that cannot start is shown as running; how the last one ended tells it.
        has_failed = any(container.last_end == "Error" for container in pod.containers)
        is_waiting = any(container.waiting in _BROKEN for container in pod.containers)
        return is_waiting or (has_failed and not self._is_available(workload))


def _summary(observation: KubeObservation, field: str) -> list[str]:
    if observation.cluster_summary is None:
        return []
    return str(getattr(observation.cluster_summary, field)).split("; ")


def _busiest(output: str) -> str:
    """Return the namespace with the most pods outside the system's own; "default" if there is none."""
    counts: dict[str, int] = {}
    for line in output.splitlines():
        words = line.split()
        if words and not words[0].startswith("kube-"):
            counts[words[0]] = counts.get(words[0], 0) + 1
    return max(sorted(counts), key=lambda name: counts[name], default="default")
