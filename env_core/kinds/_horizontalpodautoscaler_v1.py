"""Autoscalers in their two API forms: autoscaling/v2, and v1, which keeps what it has no field for in annotations.

Source: k8s.io/kubernetes pkg/apis/autoscaling/v1/conversion.go and annotations.go.
"""

from __future__ import annotations

from typing import Any

import orjson

from env_core.world import Object

V1 = "autoscaling/v1"
V2 = "autoscaling/v2"
KIND = "HorizontalPodAutoscaler"
_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS = f"{_PREFIX}metrics"
_CURRENT = f"{_PREFIX}current-metrics"
_BEHAVIOR = f"{_PREFIX}behavior"
_CONDITIONS = f"{_PREFIX}conditions"
_ANNOTATIONS = (_METRICS, _CURRENT, _BEHAVIOR, _CONDITIONS)
_FIELDS = {
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "External": "external",
}


def to_v1(obj: Object) -> Object:
    """Return an autoscaling/v2 autoscaler as autoscaling/v1 shows it."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    kept = {key: value for key, value in spec.items() if key not in ("metrics", "behavior")}
    more: dict[str, Any] = {}
    others = []
    for metric in spec.get("metrics") or ():
        utilization = _cpu(metric, "target", "averageUtilization")
        if utilization is None:
            others.append(_metric_to_v1(metric, "target"))
        else:
            kept.setdefault("targetCPUUtilizationPercentage", utilization)
    if others:
        more[_METRICS] = others
    current = status.get("currentMetrics") or ()
    if current:
        more[_CURRENT] = [_metric_to_v1(metric, "current") for metric in current]
    if spec.get("behavior") is not None:
        more[_BEHAVIOR] = _sorted_behavior(spec["behavior"])
    if status.get("conditions"):
        more[_CONDITIONS] = status["conditions"]
    shown = {key: value for key, value in status.items() if key not in ("currentMetrics", "conditions")}
    for metric in current:
        utilization = _cpu(metric, "current", "averageUtilization")
        if utilization is not None:
            shown["currentCPUUtilizationPercentage"] = utilization
    shown = {**shown, "currentReplicas": status.get("currentReplicas", 0)}
    shown["desiredReplicas"] = status.get("desiredReplicas", 0)
    metadata = obj.get("metadata") or {}
    if more:
        texts = {key: orjson.dumps(value).decode() for key, value in more.items()}
        metadata = {**metadata, "annotations": {**(metadata.get("annotations") or {}), **texts}}
    return {**obj, "apiVersion": V1, "kind": KIND, "metadata": metadata, "spec": kept, "status": shown}


def from_v1(obj: Object) -> Object:
    """Return an autoscaling/v1 autoscaler as autoscaling/v2 has it; annotations that do not parse are dropped."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in spec.items() if key != "targetCPUUtilizationPercentage"}
    metrics: list[Object] = []
    utilization = spec.get("targetCPUUtilizationPercentage")
    if utilization is not None:
        metrics.append(_cpu_metric("target", utilization))
    metrics += [_metric_from_v1(each, "target") for each in _parsed(annotations, _METRICS, list)]
    if metrics:
        kept["metrics"] = metrics
    behavior = _parsed(annotations, _BEHAVIOR, dict)
    if behavior:
        kept["behavior"] = behavior
    shown = {key: value for key, value in status.items() if key != "currentCPUUtilizationPercentage"}
    current = [_metric_from_v1(each, "current") for each in _parsed(annotations, _CURRENT, list)]
    if not current and status.get("currentCPUUtilizationPercentage") is not None:
        current = [_cpu_metric("current", status["currentCPUUtilizationPercentage"])]
    if current:
        shown["currentMetrics"] = current
    conditions = _parsed(annotations, _CONDITIONS, list)
    if conditions:
        shown["conditions"] = conditions
    left = {key: value for key, value in annotations.items() if key not in _ANNOTATIONS}
    if len(left) != len(annotations):
        metadata = {key: value for key, value in metadata.items() if key != "annotations"}
        if left:
            metadata["annotations"] = left
    made = {**obj, "apiVersion": V2, "kind": KIND, "metadata": metadata, "spec": kept}
    if shown:
        made["status"] = shown
    return made


def _cpu(metric: Object, values: str, key: str) -> int | None:
    """Return the CPU utilization of a metric, None for any other metric."""
    source = metric.get("resource") or {}
    if metric.get("type") != "Resource" or source.get("name") != "cpu":
        return None
    found: int | None = (source.get(values) or {}).get(key)
    return found


def _cpu_metric(values: str, utilization: int) -> Object:
    value: Object = {"averageUtilization": utilization}
    if values == "target":
        value = {"type": "Utilization", **value}
    return {"type": "Resource", "resource": {"name": "cpu", values: value}}


def _parsed(annotations: Object, key: str, wanted: type) -> Any:
    try:
        found = orjson.loads(annotations[key])
    except (KeyError, orjson.JSONDecodeError):
        return wanted()
    return found if isinstance(found, wanted) else wanted()


def _sorted_behavior(behavior: Object) -> Object:
    return {key: behavior[key] for key in ("scaleUp", "scaleDown") if behavior.get(key) is not None}


def _metric_to_v1(metric: Object, values: str) -> Object:
    """Return one metric with v1's flat field names; `values` is "target" or "current"."""
    field = _FIELDS.get(metric.get("type", ""), "")
    source = metric.get(field) or {}
    value = source.get(values) or {}
    name = source.get("metric") or {}
    flat: Object = {}
    if field in ("resource", "containerResource"):
        flat["name"] = source.get("name", "")
        if value.get("averageUtilization") is not None:
            flat[f"{values}AverageUtilization"] = value["averageUtilization"]
        if value.get("averageValue") is not None:
            flat[f"{values}AverageValue"] = value["averageValue"]
        if field == "containerResource":
            flat["container"] = source.get("container", "")
    elif field:
        if field == "object":
            flat["target"] = source.get("describedObject") or {}
        flat["metricName"] = name.get("name", "")
        selector = "metricSelector" if field == "external" else "selector"
        if name.get("selector") is not None:
            flat[selector] = name["selector"]
        if field != "pods" and value.get("value") is not None:
            flat[f"{values}Value"] = value["value"]
        if value.get("averageValue") is not None:
            flat["averageValue" if field == "object" else f"{values}AverageValue"] = value["averageValue"]
    return {"type": metric.get("type", ""), field: flat} if field else {"type": metric.get("type", "")}


def _metric_from_v1(metric: Object, values: str) -> Object:
    field = _FIELDS.get(metric.get("type", ""), "")
    flat = metric.get(field) or {}
    value: Object = {}
    for key in ("averageUtilization", "averageValue", "value"):
        given = flat.get(f"{values}{key[0].upper()}{key[1:]}")
        if key == "averageValue" and field == "object":
            given = flat.get("averageValue")
        if given is not None:
            value[key] = given
    if values == "target":
        kind = {"averageUtilization": "Utilization", "averageValue": "AverageValue", "value": "Value"}
        named = next((kind[key] for key in kind if key in value), "")
        value = {"type": named, **value}
    if field in ("resource", "containerResource"):
        source: Object = {"name": flat.get("name", ""), values: value}
        if field == "containerResource":
            source["container"] = flat.get("container", "")
        return {"type": metric.get("type", ""), field: source}
    name: Object = {"name": flat.get("metricName", "")}
    selector = flat.get("metricSelector" if field == "external" else "selector")
    if selector is not None:
        name["selector"] = selector
    source = {"metric": name, values: value}
    if field == "object":
        source["describedObject"] = flat.get("target") or {}
    return {"type": metric.get("type", ""), field: source} if field else {"type": metric.get("type", "")}
