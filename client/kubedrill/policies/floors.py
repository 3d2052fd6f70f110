"""Policies that anything useful must beat: one does nothing, one acts at random, one reads manifests and never looks at what runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from kubedrill.models import KubeObservation
from kubedrill.policies._evidence import Evidence
from kubedrill.policies._planning import READ_PLACES, SUBMIT, Places, PlannedPolicy, addresses
from kubedrill.policies._repairs import repairs

_READ_WORKLOADS = (
    r"kubectl get deployments -A -o jsonpath="
    r"""'{range .items[*]}{.metadata.namespace}{" "}{.metadata.name}{"\n"}{end}'"""
)
_ACTIONS = (
    "kubectl -n {namespace} rollout restart deployment/{name}",
    "kubectl -n {namespace} rollout undo deployment/{name}",
    "kubectl -n {namespace} scale deployment/{name} --replicas=3",
    "kubectl -n {namespace} set resources deployment/{name} --limits=memory=1Gi,cpu=2",
    "kubectl -n {namespace} delete pods --all",
    "kubectl -n {namespace} set env deployment/{name} RETRY=1",
    "kubectl -n {namespace} delete networkpolicies --all",
    "kubectl uncordon node-a node-b node-c",
)
_TURNS = 4


class IdlePolicy:
    """Submits at once."""

    name = "no-op"

    def act(self, observation: KubeObservation) -> str | None:
        """Return the submission."""
        return SUBMIT


class RandomPolicy:
    """Does a few ordinary things to drawn workloads, then submits."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._turn = 0
        self._names: list[tuple[str, str]] = []

    def _draw(self, bound: int) -> int:
        self._turn += 1
        drawn = hashlib.blake2b(f"{self._seed}/{self._turn}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") % bound

    def act(self, observation: KubeObservation) -> str | None:
        """Return the next command; the last one submits."""
        if self._turn == 0:
            self._turn = 1
            return _READ_WORKLOADS
        if not self._names:
            lines = [line.split() for line in observation.output.splitlines()]
            self._names = [
                (line[0], line[1]) for line in lines if len(line) == 2 and line[0] != "kube-system"
            ]
        if self._turn > 2 * _TURNS or not self._names:
            return SUBMIT
        namespace, name = self._names[self._draw(len(self._names))]
        return _ACTIONS[self._draw(len(_ACTIONS))].format(namespace=namespace, name=name)


class StaticPolicy(PlannedPolicy):
    """Reads the manifests once, settles what contradicts what, and submits without a look at what runs."""

    name = "static"

    def _moves(self, first: KubeObservation) -> Iterator[str]:
        yield READ_PLACES
        places = Places(self._output)
        namespace = places.namespace_of(first.incident_brief)
        objects = yield from self._objects(namespace)
        evidence = Evidence.parsed(namespace, objects, places.edges)
        for repair in repairs(evidence, addresses(first)):
            yield repair.command
