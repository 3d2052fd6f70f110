"""Defaults, preparation and validation of horizontal pod autoscalers.

Source: k8s.io/kubernetes pkg/apis/autoscaling; recorded in tests/golden/l0.
"""

from __future__ import annotations

from env_core.kinds._autoscaler_metrics import metric_problems, reference_problems
from env_core.kinds._field_rules import unsupported
from env_core.objects import quantity
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.world import Object

_WINDOW_MAX = 3600
_PERIOD_MAX = 1800
_CPU: Object = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
_PERCENT: Object = {"type": "Percent", "value": 100, "periodSeconds": 15}
_UP: Object = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, _PERCENT],
}
_DOWN: Object = {"selectPolicy": "Max", "policies": [_PERCENT]}


def default(obj: Object) -> Object:
    """Fill in an autoscaler's defaults."""
    spec = obj.get("spec") or {}
    changes: Object = {}
    if spec.get("minReplicas") is None:
        changes["minReplicas"] = 1
    if not spec.get("metrics"):
        changes["metrics"] = [_CPU]
    behavior = spec.get("behavior")
    if behavior is not None:
        filled = {
            "scaleUp": _filled(behavior.get("scaleUp"), _UP),
            "scaleDown": _filled(behavior.get("scaleDown"), _DOWN),
        }
        if filled != behavior:
            changes["behavior"] = filled
    return {**obj, "spec": {**spec, **changes}} if changes else obj


def _filled(rules: Object | None, defaults: Object) -> Object:
    if not rules:
        return defaults
    return {**defaults, **{key: value for key, value in rules.items() if value is not None}}


def prepare_create(obj: Object) -> Object:
    """Start with an empty status."""
    return {**obj, "status": {"currentMetrics": None, "desiredReplicas": 0}}


def prepare_update(new: Object, _old: Object) -> Object:
    """Keep what was asked for."""
    return new


def validate(obj: Object) -> list[Problem]:
    """Check an autoscaler."""
    spec = obj.get("spec") or {}
    found: list[Problem] = []
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 0:
        found.append(invalid("spec.minReplicas", least, "must be greater than or equal to 0"))
    if least is not None and most < least:
        text = "must be greater than or equal to `minReplicas`"
        found.append(invalid("spec.maxReplicas", most, text))
    found += reference_problems(
        spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef", is_version_checked=True
    )
    metrics = spec.get("metrics") or []
    for index, metric in enumerate(metrics):
        found += metric_problems(metric, f"spec.metrics[{index}]")
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        text = "must specify at least one Object or External metric to support scaling to zero replicas"
        found.append(forbidden("spec.metrics", text))
    behavior = spec.get("behavior") or {}
    for key in ("scaleUp", "scaleDown"):
        if behavior.get(key) is not None:
            found += _scaling_problems(behavior[key], f"spec.behavior.{key}")
    if most == 0:
        # Declarative validation reports after the handwritten one.
        found.append(required("spec.maxReplicas"))
    return found


def _scaling_problems(rules: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    window = rules.get("stabilizationWindowSeconds")
    path = f"{field}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        found.append(invalid(path, window, "must be greater than or equal to zero"))
    if window is not None and window > _WINDOW_MAX:
        found.append(invalid(path, window, f"must be less than or equal to {_WINDOW_MAX}"))
    select = rules.get("selectPolicy")
    if select is not None and select not in ("Disabled", "Max", "Min"):
        found.append(unsupported(f"{field}.selectPolicy", select, ("Disabled", "Max", "Min")))
    policies = rules.get("policies") or []
    if not policies:
        found.append(required(f"{field}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        found += _policy_problems(policy, f"{field}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and quantity.from_value(tolerance).sign() < 0:
        shown = quantity.canonical(tolerance)
        found.append(invalid(f"{field}.tolerance", shown, "must be greater than or equal to 0"))
    return found


def _policy_problems(policy: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    kind, value, period = policy.get("type") or "", policy.get("value") or 0, policy.get("periodSeconds") or 0
    if kind not in ("Percent", "Pods"):
        found.append(unsupported(f"{field}.type", kind, ("Percent", "Pods")))
    if value <= 0:
        found.append(invalid(f"{field}.value", value, "must be greater than zero"))
    if period <= 0:
        found.append(invalid(f"{field}.periodSeconds", period, "must be greater than zero"))
    if period > _PERIOD_MAX:
        found.append(
            invalid(f"{field}.periodSeconds", period, f"must be less than or equal to {_PERIOD_MAX}")
        )
    return found


def validate_update(new: Object, _old: Object) -> list[Problem]:
    """Check a changed autoscaler."""
    return validate(new)


def validate_status(new: Object, _old: Object) -> list[Problem]:
    """Check a status write."""
    status = new.get("status") or {}
    text = "must be greater than or equal to 0"
    return [
        invalid(f"status.{key}", status[key], text)
        for key in ("currentReplicas", "desiredReplicas")
        if (status.get(key) or 0) < 0
    ]
