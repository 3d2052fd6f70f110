"""Which pods a replica set gives up first.

Source: k8s.io/kubernetes pkg/controller ActivePodsWithRanks, pkg/controller/replicaset getPodsToDelete;
tests/golden/l0/pod_order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from env_core.objects import conditions, meta
from env_core.objects.gosort import go_sorted
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}
_NANOSECONDS_IN_MS = 1_000_000
_INT32_MAX = 2**31 - 1


class _Rank(NamedTuple):
    """What decides about one pod, read once."""

    pod: Object
    drawn: str
    is_assigned: bool
    phase: int
    is_ready: bool
    cost: int
    neighbours: int
    ready_ms: int
    restarts: int
    sidecar_restarts: int
    created_ms: int


def victims_first(pods: Sequence[Object], neighbours: Sequence[int], now_ms: int) -> list[Object]:
    """Return the pods in the order in which they are deleted.

    `neighbours[i]` counts the active pods of related replica sets on the node of `pods[i]`.
    """
    ranks = [_rank(pod, count) for pod, count in zip(pods, neighbours, strict=True)]

    def less(left: _Rank, right: _Rank) -> bool:
        return _precedes(left, right, now_ms)

    return [rank.pod for rank in go_sorted(ranks, less)]


def drawn(pod: Object) -> str:
    """Return what decides between pods of about one age: the uid, which is drawn."""
    return meta.uid(pod)


def _rank(pod: Object, neighbours: int) -> _Rank:
    status = pod.get("status") or {}
    ready = conditions.find(status.get("conditions"), "Ready")
    is_ready = ready is not None and ready.get("status") == conditions.TRUE
    restarts, sidecar_restarts = _restarts(pod, status)
    return _Rank(
        pod,
        drawn(pod),
        bool(pod["spec"].get("nodeName")),
        _PHASE_ORDER.get(status.get("phase") or "", 0),
        is_ready,
        deletion_cost(pod),
        neighbours,
        (conditions.transition_ms(ready) or 0) if is_ready and ready is not None else 0,
        restarts,
        sidecar_restarts,
        meta.creation_ms(pod),
    )


def deletion_cost(pod: Object) -> int:
    """Return the pod's deletion cost; 0 when it is missing or no 32-bit number."""
    text = meta.annotation(pod, DELETION_COST)
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or (len(digits) > 1 and digits[0] == "0"):
        return 0
    number = int(text)
    return number if -_INT32_MAX - 1 <= number <= _INT32_MAX else 0


def _restarts(pod: Object, status: Object) -> tuple[int, int]:
    regular = max((row.get("restartCount", 0) for row in status.get("containerStatuses") or ()), default=0)
    sidecars = {
        row["name"] for row in pod["spec"].get("initContainers") or () if row.get("restartPolicy") == "Always"
    }
    if not sidecars:
        return regular, 0
    counts = (
        row.get("restartCount", 0)
        for row in status.get("initContainerStatuses") or ()
        if row.get("name") in sidecars
    )
    return regular, max(counts, default=0)


def _precedes(left: _Rank, right: _Rank, now_ms: int) -> bool:
    if left.is_assigned != right.is_assigned:
        return not left.is_assigned
    if left.phase != right.phase:
        return left.phase < right.phase
    if left.is_ready != right.is_ready:
        return not left.is_ready
    if left.cost != right.cost:
        return left.cost < right.cost
    if left.neighbours != right.neighbours:
        return left.neighbours > right.neighbours
    if left.is_ready and left.ready_ms != right.ready_ms:
        return _is_younger(left, right, left.ready_ms, right.ready_ms, now_ms)
    if left.restarts != right.restarts:
        return left.restarts > right.restarts
    if left.sidecar_restarts != right.sidecar_restarts:
        return left.sidecar_restarts > right.sidecar_restarts
    if left.created_ms != right.created_ms:
        return _is_younger(left, right, left.created_ms, right.created_ms, now_ms)
    return False


def _is_younger(left: _Rank, right: _Rank, left_ms: int, right_ms: int, now_ms: int) -> bool:
    # Ages are compared by their binary logarithm, so that pods of about one age go in random (uid) order.
    if not left_ms or not right_ms:
        return not left_ms or left_ms > right_ms
    difference = _magnitude(now_ms - left_ms) - _magnitude(now_ms - right_ms)
    return left.drawn < right.drawn if difference == 0 else difference < 0


def _magnitude(age_ms: int) -> int:
    return int(math.log2(age_ms * _NANOSECONDS_IN_MS)) if age_ms > 0 else -1


def created_first(objects: Sequence[Object]) -> list[Object]:
    """Return the objects by age, oldest first; by name where that is equal."""
    return sorted(objects, key=lambda obj: (_created(obj), obj["metadata"]["name"]))


def _created(obj: Object) -> int:
    return parse_ms(obj["metadata"]["creationTimestamp"])
