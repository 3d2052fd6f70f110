"""Status conditions: finding and setting them, and what a pod's say about readiness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from env_core.objects import meta
from env_core.sim.timefmt import parse_ms, rfc3339
from env_core.world import Object

TRUE = "True"
FALSE = "False"
UNKNOWN = "Unknown"


def find(conditions: Sequence[Object] | None, type_: str) -> Object | None:
    """Return the condition of that type in a list, None if there is none."""
    for condition in conditions or ():
        if condition.get("type") == type_:
            return condition
    return None


def conditions_of(obj: Object) -> list[Object]:
    """Return an object's conditions; do not change the list."""
    return (obj.get("status") or {}).get("conditions") or []


def get(obj: Object, type_: str) -> Object | None:
    """Return an object's condition of that type, None if there is none."""
    return find(conditions_of(obj), type_)


def status_of(obj: Object, type_: str) -> str:
    """Return a condition's status: True, False, Unknown, or "" if the object has no such condition."""
    condition = get(obj, type_)
    text: str = condition.get("status", "") if condition is not None else ""
    return text


def is_true(obj: Object, type_: str) -> bool:
    """Say whether the object has the condition and it is True."""
    return status_of(obj, type_) == TRUE


def transition_ms(condition: Object) -> int | None:
    """Return when the status last changed, in milliseconds since the epoch; None if it is not said."""
    text = condition.get("lastTransitionTime")
    return parse_ms(text) if text else None


def set_in(
    conditions: Sequence[Object] | None,
    type_: str,
    status: str,
    reason: str = "",
    message: str = "",
    *,
    now_ms: int,
    **extra: Any,
) -> list[Object]:
    """Return the list with the condition set: in its old place, or at the end.

    The transition time moves only when the status does. An empty reason or message is left out, as Go's
    omitempty does; `extra` are further fields (lastUpdateTime, lastProbeTime, observedGeneration).
    """
    current = find(conditions, type_)
    changed_at: Any = rfc3339(now_ms)
    if current is not None and current.get("status") == status and current.get("lastTransitionTime"):
        changed_at = current["lastTransitionTime"]
    condition: Object = {"type": type_, "status": status, "lastTransitionTime": changed_at, **extra}
    if reason:
        condition["reason"] = reason
    if message:
        condition["message"] = message
    if current is None:
        return [*(conditions or ()), condition]
    return [condition if item is current else item for item in conditions or ()]


def set_condition(
    obj: Object,
    type_: str,
    status: str,
    reason: str = "",
    message: str = "",
    *,
    now_ms: int,
    **extra: Any,
) -> Object:
    """Return a copy of the object with the condition set (see `set_in`); itself if nothing changes."""
    conditions = conditions_of(obj)
    changed = set_in(conditions, type_, status, reason, message, now_ms=now_ms, **extra)
    if changed == conditions:
        return obj
    return {**obj, "status": {**(obj.get("status") or {}), "conditions": changed}}


def set_meta_condition(
    conditions: Sequence[Object] | None, type_: str, state: tuple[str, str, str], generation: int, now_ms: int
) -> list[Object]:
    """Return the list with a metav1.Condition set: `state` is status, reason and message, which is there even empty."""
    status, reason, message = state
    current = find(conditions, type_)
    since = (
        current["lastTransitionTime"]
        if current is not None and current["status"] == status
        else rfc3339(now_ms)
    )
    entry = {
        "type": type_,
        "status": status,
        "observedGeneration": generation,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }
    known = list(conditions or ())
    return [entry if row is current else row for row in known] if current is not None else [*known, entry]


def remove_condition(obj: Object, type_: str) -> Object:
    """Return a copy of the object without conditions of that type; itself if it has none."""
    conditions = conditions_of(obj)
    others = [condition for condition in conditions if condition.get("type") != type_]
    if len(others) == len(conditions):
        return obj
    return {**obj, "status": {**obj["status"], "conditions": others}}


def is_pod_ready(pod: Object) -> bool:
    """Say whether the pod's Ready condition is True."""
    return is_true(pod, "Ready")


def is_pod_available(pod: Object, min_ready_seconds: int, now_ms: int) -> bool:
    """Say whether the pod has been ready for at least that long.

    Source: k8s.io/kubernetes pkg/api/v1/pod IsPodAvailable.
    """
    ready = get(pod, "Ready")
    if ready is None or ready.get("status") != TRUE:
        return False
    if min_ready_seconds == 0:
        return True
    since_ms = transition_ms(ready)
    return since_ms is not None and since_ms + min_ready_seconds * 1000 <= now_ms


def pod_phase(pod: Object) -> str:
    """Return the pod's phase, "" if it has none yet."""
    text: str = (pod.get("status") or {}).get("phase") or ""
    return text


def is_pod_active(pod: Object) -> bool:
    """Say whether the pod counts for its controller: neither finished nor being deleted.

    Source: k8s.io/kubernetes pkg/controller IsPodActive.
    """
    return pod_phase(pod) not in ("Succeeded", "Failed") and not meta.is_terminating(pod)
