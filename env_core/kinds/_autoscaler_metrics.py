"""Validation of an autoscaler's metrics and of references to scalable objects.

Source: k8s.io/kubernetes pkg/apis/autoscaling/validation; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._field_rules import unsupported
from env_core.objects import names, quantity
from env_core.objects.label_rules import invalid_each, selector_problems
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.world import Object

_TYPES = ("ContainerResource", "External", "Object", "Pods", "Resource")
_FIELDS = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TARGETS = ("Utilization", "Value", "AverageValue")
_NO_RAW = "must set either a target raw value or a target utilization"
_NO_VALUE = "must set either a target value for metric or a per-pod target"


def reference_problems(reference: Object, field: str, *, is_version_checked: bool) -> list[Problem]:
    """Check a reference to an object of any kind."""
    found: list[Problem] = []
    for key in ("kind", "name"):
        text = reference.get(key)
        if not text:
            found.append(required(f"{field}.{key}"))
        else:
            found += invalid_each(f"{field}.{key}", text, names.is_path_segment_name(text))
    if not is_version_checked:
        return found
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1:
        found.append(invalid(f"{field}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    elif "/" not in version and not (version == "v1" and reference.get("kind") == "ReplicationController"):
        found.append(invalid(f"{field}.apiVersion", version, "apiVersion must specify API group"))
    return found


def metric_problems(metric: Object, field: str) -> list[Problem]:
    """Check one metric."""
    found: list[Problem] = []
    kind = metric.get("type") or ""
    if not kind:
        found.append(required(f"{field}.type", "must specify a metric source type"))
    if kind not in _TYPES:
        found.append(unsupported(f"{field}.type", kind, _TYPES))
    present = [key for key in _FIELDS.values() if metric.get(key) is not None]
    if present:
        found += _source_problems(present[0], metric[present[0]], f"{field}.{present[0]}")
    expected = _FIELDS.get(kind, "")
    if expected and expected not in present:
        text = "must populate information for the given metric source"
        found.append(required(f"{field}.{expected}", text))
    if len(present) != 1:
        found += [
            forbidden(f"{field}.{key}", "must populate the given metric source only")
            for key in sorted(present)
            if key != expected
        ]
    return found


def _source_problems(key: str, source: Object, field: str) -> list[Problem]:
    target = source.get("target") or {}
    found: list[Problem] = []
    if key in ("resource", "containerResource"):
        if not source.get("name"):
            found.append(required(f"{field}.name", "must specify a resource name"))
        if key == "containerResource" and not source.get("container"):
            found.append(required(f"{field}.container", "must specify a container"))
        found += _target_problems(target, f"{field}.target")
        utilization, average = target.get("averageUtilization"), target.get("averageValue")
        if utilization is None and average is None:
            found.append(required(f"{field}.target.averageUtilization", _NO_RAW))
        if utilization is not None and average is not None:
            text = "may not set both a target raw value and a target utilization"
            found.append(forbidden(f"{field}.target.averageValue", text))
        return found
    if key == "object":
        described = source.get("describedObject") or {}
        found += reference_problems(described, f"{field}.describedObject", is_version_checked=False)
    found += _identifier_problems(source.get("metric") or {}, f"{field}.metric")
    found += _target_problems(target, f"{field}.target")
    value, average = target.get("value"), target.get("averageValue")
    if key == "pods":
        if average is None or quantity.from_value(average).sign() <= 0:
            text = "must specify a positive target averageValue"
            found.append(required(f"{field}.target.averageValue", text))
        return found
    if value is None and average is None:
        found.append(required(f"{field}.target.averageValue", _NO_VALUE))
    if key == "external" and value is not None and average is not None:
        text = "may not set both a target value for metric and a per-pod target"
        found.append(forbidden(f"{field}.target.value", text))
    return found


def _identifier_problems(metric: Object, field: str) -> list[Problem]:
    name = metric.get("name")
    if not name:
        return [required(f"{field}.name", "must specify a metric name")]
    found = invalid_each(f"{field}.name", name, names.is_path_segment_name(name))
    return found + selector_problems(metric.get("selector"), f"{field}.selector")


def _target_problems(target: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    kind = target.get("type") or ""
    if not kind:
        found.append(required(f"{field}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        found.append(invalid(f"{field}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for key in ("value", "averageValue"):
        text = target.get(key)
        if text is not None and quantity.from_value(text).sign() <= 0:
            found.append(invalid(f"{field}.{key}", quantity.canonical(text), "must be positive"))
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        found.append(invalid(f"{field}.averageUtilization", utilization, "must be greater than 0"))
    return found
