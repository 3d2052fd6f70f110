"""Which taints a pod tolerates, and for how long.

Source: k8s.io/component-helpers scheduling/corev1 Toleration.ToleratesTaint; tests/golden/l0/taints_affinity.
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.objects.node_matching import tolerates
from env_core.world import Object


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
