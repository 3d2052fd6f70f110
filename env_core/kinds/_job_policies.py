"""Validation of a job's policies: which failures count, when it has succeeded, when pods are replaced.

Source: k8s.io/kubernetes pkg/apis/batch/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._field_rules import non_negative, unsupported
from env_core.kinds._internal_types import internal_text
from env_core.objects import names
from env_core.objects.label_rules import invalid_each
from env_core.objects.problems import INVALID, Problem, duplicate, invalid, quoted, required, too_many
from env_core.world import Object

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_RULES_MAX = 20
_CODES_MAX = 255


def _without_value(field: str, text: str) -> Problem:
    # Upstream leaves the value out here: "Invalid value: <text>".
    return Problem(INVALID, field, text, "")


def failure_policy_problems(spec: Object, policy: Object, field: str) -> list[Problem]:
    """Check the rules that say what a failed pod means."""
    found: list[Problem] = []
    policy_rules = policy.get("rules") or []
    if len(policy_rules) > _RULES_MAX:
        found.append(too_many(f"{field}.rules", len(policy_rules), _RULES_MAX))
    pod_spec = (spec.get("template") or {}).get("spec") or {}
    containers = [
        container.get("name")
        for key in ("containers", "initContainers")
        for container in pod_spec.get(key) or ()
    ]
    for index, rule in enumerate(policy_rules):
        path = f"{field}.rules[{index}]"
        found += _action_problems(spec, rule.get("action") or "", f"{path}.action")
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
        if codes is not None:
            found += _exit_code_problems(codes, containers, f"{path}.onExitCodes")
        for place, pattern in enumerate(conditions):
            found += _condition_problems(pattern, f"{path}.onPodConditions[{place}]")
        if codes is not None and conditions:
            text = "specifying both OnExitCodes and OnPodConditions is not supported"
            found.append(_without_value(path, text))
        if codes is None and not conditions:
            text = "specifying one of OnExitCodes and OnPodConditions is required"
            found.append(_without_value(path, text))
    return found


def _listed(options: tuple[str, ...]) -> str:
    return "valid values: [" + " ".join(quoted(option) for option in options) + "]"


def _action_problems(spec: Object, action: str, field: str) -> list[Problem]:
    if not action:
        return [required(field, _listed(_ACTIONS))]
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        return [invalid(field, action, "requires the backoffLimitPerIndex to be set")]
    return [] if action in _ACTIONS else [unsupported(field, action, _ACTIONS)]


def _exit_code_problems(rule: Object, containers: list[str | None], field: str) -> list[Problem]:
    found: list[Problem] = []
    operator, values, name = rule.get("operator") or "", rule.get("values") or [], rule.get("containerName")
    if not operator:
        found.append(required(f"{field}.operator", _listed(_OPERATORS)))
    elif operator not in _OPERATORS:
        found.append(unsupported(f"{field}.operator", operator, _OPERATORS))
    if name is not None and name not in containers:
        text = "must be one of the container or initContainer names in the pod template"
        found.append(invalid(f"{field}.containerName", name, text))
    if not values:
        found.append(invalid(f"{field}.values", rule.get("values"), "at least one value is required"))
    elif len(values) > _CODES_MAX:
        found.append(too_many(f"{field}.values", len(values), _CODES_MAX))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            found.append(invalid(f"{field}.values[{index}]", value, "must not be 0 for the In operator"))
        if value in values[:index]:
            found.append(duplicate(f"{field}.values[{index}]", value))
    if values != sorted(values):
        found.append(invalid(f"{field}.values", values, "must be ordered"))
    return found


def _condition_problems(pattern: Object, field: str) -> list[Problem]:
    kind, status = pattern.get("type") or "", pattern.get("status") or ""
    found = invalid_each(f"{field}.type", kind, names.is_qualified_name(kind))
    if not status:
        found.append(required(f"{field}.status", _listed(_STATUSES)))
    elif status not in _STATUSES:
        found.append(unsupported(f"{field}.status", status, _STATUSES))
    return found


def pod_replacement_problems(spec: Object, field: str) -> list[Problem]:
    """Check when failed pods are replaced."""
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return []
    options = ("Failed", "TerminatingOrFailed") if spec.get("podFailurePolicy") is None else ("Failed",)
    return [] if policy in options else [unsupported(field, policy, options)]


def success_policy_problems(spec: Object, policy: Object, field: str) -> list[Problem]:
    """Check the rules that say when an indexed job has succeeded."""
    if spec.get("completionMode") != "Indexed":
        text = internal_text("SuccessPolicy", policy)
        return [Problem(INVALID, field, text, "requires indexed completion mode")]
    policy_rules = policy.get("rules") or []
    if not policy_rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        return [required(f"{field}.rules", text)]
    found: list[Problem] = []
    if len(policy_rules) > _RULES_MAX:
        found.append(too_many(f"{field}.rules", len(policy_rules), _RULES_MAX))
    completions = spec.get("completions") or 0
    for index, rule in enumerate(policy_rules):
        found += _success_rule_problems(rule, completions, f"{field}.rules[{index}]")
    return found


def _success_rule_problems(rule: Object, completions: int, field: str) -> list[Problem]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        return [required(field, text)]
    found: list[Problem] = []
    total = -1
    if indexes is not None:
        total, why = _count_indexes(indexes, completions)
        if why:
            text = f"error parsing succeededIndexes: {why}"
            found.append(invalid(f"{field}.succeededIndexes", indexes, text))
            total = -1
    if count is not None:
        path = f"{field}.succeededCount"
        found += non_negative(rule, ("succeededCount",), field)
        if count > completions:
            text = f"must be less than or equal to {completions} (the number of specified completions)"
            found.append(invalid(path, count, text))
        if indexes is not None and 0 <= total < count:
            text = (
                f"must be less than or equal to {total} "
                "(the number of indexes in the specified succeededIndexes field)"
            )
            found.append(invalid(path, count, text))
    return found


def _count_indexes(text: str, completions: int) -> tuple[int, str]:
    """Return how many indexes a list such as "0,2-4" names, or what is wrong with it."""
    if not text:
        return 0, ""
    total, last = 0, -1
    for part in text.split(","):
        limits = part.split("-")
        if len(limits) > 2:
            rule = (
                "violates the requirement that an index interval can have at most two parts separated by '-'"
            )
            return 0, f"the fragment {quoted(part)} {rule}"
        numbers: list[int] = []
        for limit in limits:
            if not limit.isdigit():
                return 0, f"cannot convert string to integer for index: {quoted(limit)}"
            if int(limit) >= completions:
                return 0, f"too large index: {quoted(limit)}"
            numbers.append(int(limit))
            if numbers[-1] <= last:
                return 0, f"non-increasing order, previous: {last}, current: {numbers[-1]}"
            last = numbers[-1]
        total += numbers[-1] - numbers[0] + 1
    return total, ""
