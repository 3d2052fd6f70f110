"""The conditions of a Job: why it ends, and whether it is suspended.

Source: k8s.io/kubernetes pkg/controller/job job_controller.go; tests/golden/l2/flows (ids job-).
"""

from __future__ import annotations

from collections.abc import Sequence

from env_core.objects import conditions
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

COMPLETE, FAILED, SUSPENDED = "Complete", "Failed", "Suspended"
SUCCESS_CRITERIA_MET, FAILURE_TARGET = "SuccessCriteriaMet", "FailureTarget"
"""What says that a job is going to be complete or failed, before the last of its pods is counted."""
REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")
BACK_OFF = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
DEADLINE = ("DeadlineExceeded", "Job was active longer than specified deadline")
MAX_FAILED_INDEXES = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
FAILED_INDEXES = ("FailedIndexes", "Job has failed indexes")


def condition(type_: str, reason: str, message: str, now_ms: int, status: str = conditions.TRUE) -> Object:
    """Return a condition of now."""
    stamp = rfc3339(now_ms)
    return {
        "type": type_,
        "status": status,
        "lastProbeTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def ensured(known: Sequence[Object], wanted: Object) -> list[Object]:
    """Return the conditions with one like `wanted`; that something is not so is only said where it was."""
    for index, each in enumerate(known):
        if each["type"] == wanted["type"]:
            is_same = all(each.get(key) == wanted[key] for key in ("status", "reason", "message"))
            return list(known) if is_same else [*known[:index], wanted, *known[index + 1 :]]
    return [*known, wanted] if wanted["status"] != conditions.FALSE else list(known)


def find_true(known: Sequence[Object], type_: str) -> Object | None:
    """Return the condition of that type if it holds."""
    found = conditions.find(known, type_)
    return found if found is not None and found["status"] == conditions.TRUE else None


def is_finished(job: Object) -> bool:
    """Say whether the job is complete or has failed."""
    known = conditions.conditions_of(job)
    return any(find_true(known, type_) is not None for type_ in (COMPLETE, FAILED))
