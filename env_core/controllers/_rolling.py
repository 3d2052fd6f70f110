"""The arithmetic of Deployments: how many pods more, how many fewer, and when a rollout is over.

Source: k8s.io/kubernetes pkg/controller/deployment/util; tests/golden/l0/deployment_math.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from env_core.objects import conditions
from env_core.objects.int_or_percent import IntOrPercentError, scaled_value
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
PROGRESSING = "Progressing"
NEW_AVAILABLE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
UNLIMITED = 2**31 - 1


def fenceposts(
    max_surge: int | str | None, max_unavailable: int | str | None, replicas: int
) -> tuple[int, int]:
    """Return surge (rounded up) and unavailable (rounded down) in pods; never both 0."""
    surge = scaled_value(max_surge if max_surge is not None else 0, replicas, round_up=True)
    unavailable = scaled_value(
        max_unavailable if max_unavailable is not None else 0, replicas, round_up=False
    )
    if surge == 0 and unavailable == 0:
        # Zero surge can only mean a small percentage; without one pod unavailable nothing would ever move.
        unavailable = 1
    return surge, unavailable


def is_rolling(deployment: Object) -> bool:
    """Say whether the strategy is RollingUpdate."""
    return bool((deployment["spec"].get("strategy") or {}).get("type") == "RollingUpdate")


def _posts(deployment: Object) -> tuple[int, int]:
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    try:
        return fenceposts(rolling.get("maxSurge"), rolling.get("maxUnavailable"), wanted_replicas(deployment))
    except IntOrPercentError:
        return 0, 0


def wanted_replicas(obj: Object) -> int:
    """Return `spec.replicas`, 1 when it is not said."""
    number: int = obj["spec"].get("replicas", 1)
    return number


def max_surge(deployment: Object) -> int:
    """Return how many pods a rollout may have above the wanted number."""
    return _posts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    """Return how many pods a rollout may have fewer than wanted."""
    replicas = wanted_replicas(deployment)
    if not is_rolling(deployment) or replicas == 0:
        return 0
    return min(_posts(deployment)[1], replicas)


def spec_sum(replicasets: Iterable[Object]) -> int:
    """Return how many pods the replica sets are to have."""
    return sum(wanted_replicas(replicaset) for replicaset in replicasets)


def status_count(replicaset: Object, field: str) -> int:
    """Return a count of a replica set's status."""
    number: int = (replicaset.get("status") or {}).get(field) or 0
    return number


def status_sum(replicasets: Iterable[Object], field: str) -> int:
    """Return a count of the replica sets' status, summed."""
    return sum(status_count(replicaset, field) for replicaset in replicasets)


def new_replicas(deployment: Object, total: int, current: int) -> int:
    """Return what the newest replica set is to grow to, of `current`, when all together are to have `total`."""
    wanted = wanted_replicas(deployment)
    if not is_rolling(deployment):
        return wanted
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    surge = scaled_value(rolling.get("maxSurge", 0), wanted, round_up=True)
    room = wanted + surge - total
    if room <= 0:
        return current
    return current + min(room, wanted - current)


def proportion(replicaset: Object, deployment: Object, to_add: int, added: int) -> int:
    """Return this replica set's share of `to_add` replicas (negative: to take away), of which `added` are dealt."""
    if wanted_replicas(replicaset) == 0 or to_add in (0, added):
        return 0
    share = _fraction(replicaset, deployment)
    allowed = to_add - added
    return min(share, allowed) if to_add > 0 else max(share, allowed)


def _fraction(replicaset: Object, deployment: Object) -> int:
    size = wanted_replicas(replicaset)
    if wanted_replicas(deployment) == 0:
        return -size
    now = wanted_replicas(deployment) + max_surge(deployment)
    before = _annotated(replicaset, MAX_REPLICAS)
    if not before:
        before = (deployment.get("status") or {}).get("replicas") or 0
    if not before:
        return 0
    return _rounded(size * now / before) - size


def _rounded(number: float) -> int:
    return math.ceil(number - 0.5) if number < 0 else math.floor(number + 0.5)


def _annotated(replicaset: Object, annotation: str) -> int | None:
    text = (replicaset["metadata"].get("annotations") or {}).get(annotation)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def desired_before(replicaset: Object) -> int | None:
    """Return the deployment's size when this replica set was last scaled; None if that is not noted."""
    return _annotated(replicaset, DESIRED_REPLICAS)


def is_saturated(deployment: Object, replicaset: Object | None) -> bool:
    """Say whether the replica set has all the deployment's pods, and they are available."""
    if replicaset is None:
        return False
    wanted = wanted_replicas(deployment)
    return (
        wanted_replicas(replicaset) == wanted
        and desired_before(replicaset) == wanted
        and status_count(replicaset, "availableReplicas") == wanted
    )


def is_complete(deployment: Object, status: Object) -> bool:
    """Say whether all pods are new and available, and no old ones run."""
    wanted = wanted_replicas(deployment)
    return bool(
        status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
        and status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    )


def is_progressing(old: Object, new: Object) -> bool:
    """Say whether the new status is nearer to the end than the old one."""

    def outdated(status: Object) -> int:
        count: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
        return count

    return (
        new.get("updatedReplicas", 0) > old.get("updatedReplicas", 0)
        or outdated(new) < outdated(old)
        or new.get("readyReplicas", 0) > old.get("readyReplicas", 0)
        or new.get("availableReplicas", 0) > old.get("availableReplicas", 0)
    )


def progress_deadline_s(deployment: Object) -> int | None:
    """Return the progress deadline in seconds, None when there is none."""
    seconds: int | None = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds in (None, UNLIMITED) else seconds


def has_timed_out(deadline_s: int | None, known: Sequence[Object], now_ms: int) -> bool:
    """Say whether the rollout made no progress within its deadline (seconds)."""
    if deadline_s is None:
        return False
    condition = conditions.find(known, PROGRESSING)
    if condition is None or condition.get("reason") == NEW_AVAILABLE:
        return False
    if condition.get("reason") == TIMED_OUT:
        return True
    return parse_ms(condition["lastUpdateTime"]) + deadline_s * 1000 < now_ms
