"""Plays the repair suite by rules: what does not run, what contradicts what, and what was released last.

It knows Kubernetes and nothing of any fault: every name that it uses comes out of an observation.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from urllib.parse import urlsplit

from kubedrill.models import KubeObservation
from kubedrill.policies._evidence import Evidence, read_statuses
from kubedrill.policies._planning import READ_PLACES, SUBMIT, Places, PlannedPolicy, addresses
from kubedrill.policies._remedies import remedies, services_asked, undo
from kubedrill.policies._repair import Repair
from kubedrill.policies._repairs import repairs
from kubedrill.policies._running import READ_NODES, Running, read_pods, read_revisions
from kubedrill.policies._wiring import needs

ALL_IS_WELL = f"{SUBMIT} --mechanism=none"
_READ_CLASSES = "kubectl get storageclasses --no-headers"
_SCALINGS = r'.items|sort_by(.lastTimestamp)[]|[.involvedObject.name,.message]|join("\t")'
_SCALED_AWAY = re.compile(r"from (\d+) to 0$")
_PAUSE = "sleep 45"
"""As long as what was repaired may take to serve again."""
_ROUNDS_MAX = 3
_LOOKS = 3
"""How often the ways in are looked at before they count as well."""


class RepairPolicy(PlannedPolicy):
    """One episode's worth of looking, repairing and submitting."""

    name = "heuristic"

    def __init__(self) -> None:
        super().__init__()
        self._made: set[str] = set()
        self._failed: set[str] = set()
        self._has_gone_back = False

    def act(self, observation: KubeObservation) -> str | None:
        """Return the next command; the last one submits."""
        self._failed |= {level.url for level in observation.service_levels or () if not level.is_served}
        return super().act(observation)

    def _moves(self, first: KubeObservation) -> Iterator[str]:
        yield READ_PLACES
        places = Places(self._output)
        namespace = places.namespace_of(first.incident_brief)
        asked = addresses(first)
        for number in range(_ROUNDS_MAX):
            evidence, running = yield from self._all(namespace, places)
            found = yield from self._found(evidence, running, asked)
            fresh = self._fresh(found)
            if not fresh and number == 0:
                yield from self._look()
            if not fresh and self._failed:
                fresh = self._fresh(self._last_resort(evidence, running))
            if not fresh:
                break
            for repair in fresh:
                self._made.add(_subject(repair))
                yield repair.command
                for workload in repair.stale:
                    yield f"kubectl -n {namespace} rollout restart {evidence.kinds[workload]}/{workload}"
            yield _PAUSE
            self._failed.clear()
            yield from self._look()
        yield SUBMIT if self._made else ALL_IS_WELL

    def _all(self, namespace: str, places: Places) -> Generator[str, None, tuple[Evidence, Running]]:
        objects = yield from self._objects(namespace)
        state = yield from self._read(f"({read_statuses(namespace)}; {read_pods(namespace)}; {READ_NODES})")
        revisions = yield from self._read(read_revisions(namespace))
        return Evidence.parsed(namespace, objects + state, places.edges), Running.parsed(state + revisions)

    def _fresh(self, found: list[Repair]) -> list[Repair]:
        return [repair for repair in found if _subject(repair) not in self._made]

    def _found(self, evidence: Evidence, running: Running, asked: str) -> Generator[str, None, list[Repair]]:
        """Return everything that speaks for itself."""
        counts = yield from self._counts(evidence)
        found = repairs(evidence, asked, counts)
        classes: tuple[str, ...] = ()
        if evidence.pending_claims():
            yield _READ_CLASSES
            classes = tuple(line.split()[0] for line in self._output.splitlines() if line.split())
        found += remedies(evidence, running, self._seen.now, classes)
        for namespace, _ in sorted(services_asked(evidence)):
            other = Evidence.parsed(namespace, (yield from self._objects(namespace)))
            counts = yield from self._counts(other)
            found += repairs(other, "", counts)
        return found

    def _counts(self, evidence: Evidence) -> Generator[str, None, dict[str, int]]:
        """Return how many replicas the workloads had that now have none, as far as events tell."""
        counts: dict[str, int] = {}
        if any(spec.get("replicas", 1) == 0 for spec in evidence.workloads.values()):
            events = f"kubectl -n {evidence.namespace} get events --field-selector reason=ScalingReplicaSet -o json"
            yield f"{events} | jq -r '{_SCALINGS}'"
            for line in self._output.splitlines():
                workload, _, message = line.partition("\t")
                found = _SCALED_AWAY.search(message)
                if found:
                    counts[workload] = int(found[1])
        return counts

    def _look(self) -> Iterator[str]:
        """Wait, and see whether the ways in are served all the time."""
        for _ in range(_LOOKS):
            yield "sleep 20"

    def _last_resort(self, evidence: Evidence, running: Running) -> list[Repair]:
        """Return what takes back the last release on the way of the failing requests: whatever is wrong began somewhere."""
        if self._has_gone_back:
            return []
        self._has_gone_back = True
        found = {workload: running.release(workload) for workload in _reached(evidence, self._failed)}
        known = {workload: release for workload, release in found.items() if release is not None}
        if not known:
            return []
        last = max(sorted(known), key=lambda workload: known[workload].made)
        return list(undo(evidence, running, last, known[last], "fails"))[:1]


def _subject(repair: Repair) -> str:
    """Return what a repair is about: nobody goes back and forth between revisions."""
    return repair.command.partition(" --to-revision=")[0]


def _reached(evidence: Evidence, urls: set[str]) -> set[str]:
    """Return the workloads that requests to these addresses reach, one through another."""
    asked = {(urlsplit(url).hostname, urlsplit(url).path) for url in urls}
    found: set[str] = set()
    for spec in evidence.ingresses.values():
        for rule in spec.get("rules") or ():
            for path in (rule.get("http") or {}).get("paths") or ():
                service = ((path.get("backend") or {}).get("service") or {}).get("name", "")
                is_asked = any(
                    rule.get("host") == host and way.startswith(path.get("path", "/").rstrip("/") or "/")
                    for host, way in asked
                )
                if is_asked and service in evidence.services:
                    found |= set(evidence.behind(service))
    wants = [(workload, target) for workload, target, _ in needs(evidence)]
    for _ in wants:
        found |= {target for workload, target in wants if workload in found}
    return found
