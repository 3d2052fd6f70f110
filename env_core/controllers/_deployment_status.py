"""The status of a Deployment: counts and conditions.

Source: k8s.io/kubernetes pkg/controller/deployment sync.go, progress.go; tests/golden/l2/flows (ids deploy-),
l2/facts/condition_texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.controllers import _rolling
from env_core.objects import conditions
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

FAILURE = "ReplicaFailure"
_PROGRESSING = _rolling.PROGRESSING


def condition(type_: str, status: str, reason: str, message: str, now_ms: int) -> Object:
    """Return a condition that begins now."""
    stamp = rfc3339(now_ms)
    return {
        "type": type_,
        "status": status,
        "lastUpdateTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def with_condition(known: Sequence[Object], new: Object) -> list[Object]:
    """Return the conditions with one set; it goes to the end unless status and reason are what they were."""
    current = conditions.find(known, new["type"])
    if current is not None and current["status"] == new["status"]:
        if current.get("reason") == new["reason"]:
            return list(known)
        new = {**new, "lastTransitionTime": current["lastTransitionTime"]}
    return [*without_condition(known, new["type"]), new]


def without_condition(known: Sequence[Object], type_: str) -> list[Object]:
    """Return the conditions of other types."""
    return [entry for entry in known if entry["type"] != type_]


def known_conditions(deployment: Object) -> list[Object]:
    """Return the deployment's conditions; do not change the list."""
    found: list[Object] = (deployment.get("status") or {}).get("conditions") or []
    return found


def calculated(deployment: Object, replicasets: Sequence[Object], new: Object | None, now_ms: int) -> Object:
    """Return the status that the replica sets add up to, with the condition Available."""
    available = _rolling.status_sum(replicasets, "availableReplicas")
    counts = {
        "observedGeneration": deployment["metadata"].get("generation", 0),
        "replicas": _rolling.status_sum(replicasets, "replicas"),
        "updatedReplicas": _rolling.status_count(new, "replicas") if new is not None else 0,
        "readyReplicas": _rolling.status_sum(replicasets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(_rolling.spec_sum(replicasets) - available, 0),
    }
    status: Object = {field: count for field, count in counts.items() if count}
    old = deployment.get("status") or {}
    if all("terminatingReplicas" in (replicaset.get("status") or {}) for replicaset in replicasets):
        status["terminatingReplicas"] = _rolling.status_sum(replicasets, "terminatingReplicas")
    if "collisionCount" in old:
        status["collisionCount"] = old["collisionCount"]
    is_available = available >= _rolling.wanted_replicas(deployment) - _rolling.max_unavailable(deployment)
    availability = (
        ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        if is_available
        else ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    )
    status["conditions"] = with_condition(
        known_conditions(deployment), condition("Available", *availability, now_ms)
    )
    return status


def with_progress(
    deployment: Object, status: Object, replicasets: Sequence[Object], new: Object | None, now_ms: int
) -> Object:
    """Return the status with the conditions Progressing and ReplicaFailure brought up to date."""
    known = status["conditions"]
    deadline_s = _rolling.progress_deadline_s(deployment)
    current = conditions.find(known_conditions(deployment), _PROGRESSING)
    if deadline_s is None:
        known = without_condition(known, _PROGRESSING)
    else:
        is_over = (
            status.get("replicas", 0) == status.get("updatedReplicas", 0)
            and current is not None
            and current.get("reason") == _rolling.NEW_AVAILABLE
        )
        if not is_over:
            known = _with_progressing(deployment, {**status, "conditions": known}, new, current, now_ms)
    failure = _failure(replicasets, new)
    known = with_condition(known, failure) if failure is not None else without_condition(known, FAILURE)
    return {**status, "conditions": known}


def _with_progressing(
    deployment: Object, status: Object, new: Object | None, current: Object | None, now_ms: int
) -> list[Object]:
    known: list[Object] = status["conditions"]
    subject = (
        f'ReplicaSet "{new["metadata"]["name"]}"'
        if new is not None
        else f'Deployment "{deployment["metadata"]["name"]}"'
    )
    if _rolling.is_complete(deployment, status):
        text = f"{subject} has successfully progressed."
        return with_condition(known, condition(_PROGRESSING, "True", _rolling.NEW_AVAILABLE, text, now_ms))
    if _rolling.is_progressing(deployment.get("status") or {}, status):
        entry = condition(_PROGRESSING, "True", "ReplicaSetUpdated", f"{subject} is progressing.", now_ms)
        if current is not None:
            # The update time must move even when status and reason do not: the deadline counts from it.
            if current["status"] == "True":
                entry["lastTransitionTime"] = current["lastTransitionTime"]
            known = without_condition(known, _PROGRESSING)
        return with_condition(known, entry)
    if _rolling.has_timed_out(_rolling.progress_deadline_s(deployment), known, now_ms):
        text = f"{subject} has timed out progressing."
        return with_condition(known, condition(_PROGRESSING, "False", _rolling.TIMED_OUT, text, now_ms))
    return known


def _failure(replicasets: Sequence[Object], new: Object | None) -> Object | None:
    for replicaset in ([new] if new is not None else []) + list(replicasets):
        found = conditions.get(replicaset, FAILURE)
        if found is not None:
            return {
                "type": FAILURE,
                "status": found["status"],
                "lastUpdateTime": found["lastTransitionTime"],
                "lastTransitionTime": found["lastTransitionTime"],
                "reason": found.get("reason", ""),
                "message": found.get("message", ""),
            }
    return None


def deadline_wait_ms(deployment: Object, status: Object, now_ms: int) -> int | None:
    """Return when to look whether the progress deadline has passed, None when it cannot pass."""
    deadline_s = _rolling.progress_deadline_s(deployment)
    current = conditions.find(known_conditions(deployment), _PROGRESSING)
    if deadline_s is None or current is None:
        return None
    if current.get("reason") == _rolling.TIMED_OUT or _rolling.is_complete(deployment, status):
        return None
    left_ms = parse_ms(current["lastUpdateTime"]) + deadline_s * 1000 - now_ms
    if left_ms >= 1000:
        return left_ms + 1000
    # Upstream retries with growing pauses from here on. What was available once cannot time out while its pods are
    # the newest ones, so there is nothing to wait for; otherwise the next look that matters is just past the deadline.
    return max(left_ms, 0) + 1 if left_ms >= 0 else None
