"""How long a Job waits before it replaces failed pods.

Source: k8s.io/kubernetes pkg/controller/job backoff_utils.go; tests/golden/l0/job_math.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from env_core.controllers._job_indexes import absolute_failure_count
from env_core.objects import conditions, meta
from env_core.sim.timefmt import parse_ms
from env_core.world import Object

DELAY_MS = 10_000
DELAY_MAX_MS = 600_000
_DOUBLINGS_MAX = 16


class BackOff(NamedTuple):
    """The failures of a job since its last success."""

    failures: int = 0
    last_ms: int = 0


def delay_ms(failures: int, base_ms: int = DELAY_MS, max_ms: int = DELAY_MAX_MS) -> int:
    """Return the whole wait after so many failures in a row: it doubles with each, and has a ceiling."""
    return min(base_ms << min(failures - 1, _DOUBLINGS_MAX), max_ms) if failures else 0


def remaining_ms(back_off: BackOff, now_ms: int) -> int:
    """Return what is left of the wait."""
    if not back_off.failures:
        return 0
    return max(back_off.last_ms + delay_ms(back_off.failures) - now_ms, 0)


def index_remaining_ms(last_failed: Object | None, now_ms: int) -> int:
    """Return what is left of the wait of one index, from the pod that failed last (None if none did)."""
    if last_failed is None:
        return 0
    failures = absolute_failure_count(meta.annotations(last_failed)) + 1
    return remaining_ms(BackOff(failures, finished_ms(last_failed)), now_ms)


def after(back_off: BackOff, succeeded: Sequence[Object], failed: Sequence[Object]) -> BackOff:
    """Return the failures in a row after pods that ended since."""
    failed_ms = sorted(map(finished_ms, failed))
    if not succeeded:
        return BackOff(back_off.failures + len(failed), failed_ms[-1]) if failed else back_off
    success_ms = max(map(finished_ms, succeeded))
    since = [at_ms for at_ms in failed_ms if at_ms > success_ms]
    return BackOff(len(since), since[-1]) if since else BackOff()


def finished_ms(pod: Object) -> int:
    """Return when a pod ended: by its containers, else its readiness, its deletion, its creation."""
    status = pod.get("status") or {}
    sidecars = [
        row["name"] for row in pod["spec"].get("initContainers") or () if row.get("restartPolicy") == "Always"
    ]
    rows = list(status.get("containerStatuses") or ())
    rows += [row for row in status.get("initContainerStatuses") or () if row["name"] in sidecars]
    ends = [((row.get("state") or {}).get("terminated") or {}).get("finishedAt") for row in rows]
    if ends and all(ends):
        return max(map(parse_ms, ends))
    ready = conditions.get(pod, "Ready")
    if ready is not None and ready["status"] == conditions.FALSE and ready.get("lastTransitionTime"):
        return parse_ms(ready["lastTransitionTime"])
    deleted_ms = meta.deletion_ms(pod)
    if deleted_ms is not None:
        grace_s: int = pod["metadata"].get("deletionGracePeriodSeconds") or 0
        return deleted_ms - grace_s * 1000
    return meta.creation_ms(pod)
