"""Which taints a pod tolerates, and for how long.

Source: k8s.io/component-helpers scheduling/corev1 Toleration.ToleratesTaint; tests/golden/l0/taints_affinity.
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.world import Object


def tolerates(toleration: Object, taint: Object) -> bool:
    """Say whether a toleration matches a taint."""
    effect = toleration.get("effect")
    if effect and effect != taint.get("effect"):
        return False
    key = toleration.get("key")
    if key and key != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    mine, other = toleration.get("value") or "", taint.get("value") or ""
    if operator == "Equal":
        return bool(mine == other)
    if operator in ("Lt", "Gt"):
        try:
            return int(other) < int(mine) if operator == "Lt" else int(other) > int(mine)
        except ValueError:
            return False
    return False


def used_tolerations(pod: Object, taints: Sequence[Object]) -> list[Object] | None:
    """Return the first matching toleration of each taint; None when a taint is not tolerated."""
    tolerations = pod["spec"].get("tolerations") or ()
    used = []
    for taint in taints:
        for toleration in tolerations:
            if tolerates(toleration, taint):
                used.append(toleration)
                break
        else:
            return None
    return used


def toleration_ms(used: Sequence[Object]) -> int | None:
    """Return the shortest time, in milliseconds, for which tolerations hold; None if they hold for ever."""
    seconds = [entry["tolerationSeconds"] for entry in used if entry.get("tolerationSeconds") is not None]
    return max(min(seconds), 0) * 1000 if seconds else None
