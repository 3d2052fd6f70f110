"""What a Job's policies make of failed pods and of indexes that succeeded.

Source: k8s.io/kubernetes pkg/controller/job pod_failure_policy.go, success_policy.go; tests/golden/l0/job_math.
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.controllers._job_indexes import Indexes, parse_indexes
from env_core.world import Object

IGNORE, COUNT, FAIL_JOB, FAIL_INDEX = "Ignore", "Count", "FailJob", "FailIndex"


class Verdict(NamedTuple):
    """What a rule says of a failed pod: why the job fails (if it does), whether the failure counts, the action."""

    message: str = ""
    is_counted: bool = True
    action: str = ""


def judge_failure(policy: Object | None, pod: Object) -> Verdict:
    """Return what the first rule that matches a failed pod says; without one the failure counts."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        cause = _cause(rule, pod)
        action = rule["action"]
        if not cause or action not in (IGNORE, COUNT, FAIL_JOB, FAIL_INDEX):
            continue
        message = f"{cause} matching FailJob rule at index {number}" if action == FAIL_JOB else ""
        return Verdict(message, action != IGNORE, action)
    return Verdict()


def _cause(rule: Object, pod: Object) -> str:
    """Return what of the pod a rule matches, in the words of the job's condition; "" if nothing."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    pod_name = f"{metadata['namespace']}/{metadata['name']}"
    if rule.get("onExitCodes") is not None:
        row = _exited(status, rule["onExitCodes"])
        if row is None:
            return ""
        code = row["state"]["terminated"]["exitCode"]
        return f"Container {row['name']} for pod {pod_name} failed with exit code {code}"
    patterns = [(each["type"], each.get("status")) for each in rule.get("onPodConditions") or ()]
    for condition in status.get("conditions") or ():
        if (condition["type"], condition.get("status")) in patterns:
            return f"Pod {pod_name} has condition {condition['type']}"
    return ""


def _exited(status: Object, requirement: Object) -> Object | None:
    for key in ("containerStatuses", "initContainerStatuses"):
        for row in status.get(key) or ():
            ended = (row.get("state") or {}).get("terminated")
            if ended is None or requirement.get("containerName") not in (None, row["name"]):
                continue
            code = ended.get("exitCode", 0)
            is_listed = code in requirement["values"]
            if code and (is_listed if requirement["operator"] == "In" else not is_listed):
                found: Object = row
                return found
    return None


def success_message(policy: Object | None, completions: int, succeeded: Indexes) -> str:
    """Return which rule of a success policy is met, "" if none is."""
    if policy is None or not succeeded:
        return ""
    for number, rule in enumerate(policy.get("rules") or ()):
        count, text = rule.get("succeededCount"), rule.get("succeededIndexes")
        if text is not None:
            required = parse_indexes(text, completions)
            is_met = bool(required) and _covers(required, succeeded, count)
        else:
            is_met = count is not None and succeeded.total() >= count
        if is_met:
            return f"Matched rules at index {number}"
    return ""


def _covers(required: Indexes, succeeded: Indexes, count: int | None) -> bool:
    found = sum(
        max(min(wanted.last, had.last) - max(wanted.first, had.first) + 1, 0)
        for wanted in required
        for had in succeeded
    )
    return found == required.total() or (count is not None and found >= count)
