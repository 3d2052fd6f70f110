"""`kubectl describe` of horizontal pod autoscalers."""

from __future__ import annotations

from env_core.apiserver.kind import Reader
from env_core.kinds._describe_text import (
    LineWriter,
    labels_and_annotations,
    name_lines,
    rfc1123z,
    write_events,
)
from env_core.objects import problems, quantity
from env_core.world import Object

UNKNOWN = "<unknown>"


def describe(obj: Object, reader: Reader, show_events: bool) -> str:
    """Return what `kubectl describe hpa` prints (autoscaling/v2).

    Source: k8s.io/kubectl pkg/describe HorizontalPodAutoscalerDescriber; tests/golden/l0/describe.jsonl.gz.
    """
    writer = LineWriter()
    spec = obj["spec"]
    status = obj.get("status") or {}
    target = spec.get("scaleTargetRef") or {}
    name_lines(writer, obj)
    labels_and_annotations(writer, obj)
    writer.line(0, f"CreationTimestamp:\t{rfc1123z(obj['metadata'].get('creationTimestamp'))}")
    writer.line(0, f"Reference:\t{target.get('kind', '')}/{target.get('name', '')}")
    writer.line(0, "Metrics:\t( current / target )")
    current = status.get("currentMetrics") or []
    for position, metric in enumerate(spec.get("metrics") or ()):
        writer.line(1, _metric(metric, current[position] if position < len(current) else {}))
    minimum = spec.get("minReplicas")
    writer.line(0, f"Min replicas:\t{'<unset>' if minimum is None else minimum}")
    writer.line(0, f"Max replicas:\t{spec.get('maxReplicas', 0)}")
    behavior = spec.get("behavior")
    if behavior is not None:
        writer.line(0, "Behavior:")
        _write_rules(writer, "Scale Up", behavior.get("scaleUp"))
        _write_rules(writer, "Scale Down", behavior.get("scaleDown"))
    writer.line(
        0,
        f"{target.get('kind', '')} pods:\t{status.get('currentReplicas', 0)} current / "
        f"{status.get('desiredReplicas', 0)} desired",
    )
    if status.get("conditions"):
        writer.line(0, "Conditions:")
        writer.line(1, "Type\tStatus\tReason\tMessage")
        writer.line(1, "----\t------\t------\t-------")
        for condition in status["conditions"]:
            cells = (condition.get(key, "") for key in ("type", "status", "reason", "message"))
            writer.line(1, "\t".join(cells))
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


def amount(values: Object, key: str) -> str:
    """Return a quantity of a metric's current or target value in canonical form, "0" when it is not there."""
    value = values.get(key)
    return "0" if value is None else quantity.canonical(str(value))


def _metric(metric: Object, current: Object) -> str:
    kind = metric.get("type", "")
    if kind == "External":
        return _external(metric["external"], current.get("external"))
    if kind == "Pods":
        source, now = metric["pods"], current.get("pods")
        shown = UNKNOWN if now is None else amount(now.get("current") or {}, "averageValue")
        return f"{_quoted(source)} on pods:\t{shown} / {amount(source['target'], 'averageValue')}"
    if kind == "Object":
        source = metric["object"]
        described = source.get("describedObject") or {}
        name = f'"{source["metric"]["name"]}" on {described.get("kind", "")}/{described.get("name", "")} '
        averaged = source["target"].get("type") == "AverageValue"
        return name + _value(source["target"], current.get("object"), averaged)
    if kind == "Resource":
        source = metric["resource"]
        return f"resource {source['name']} on pods" + _resource(source["target"], current.get("resource"))
    if kind == "ContainerResource":
        source = metric["containerResource"]
        name = f'resource {source["name"]} of container "{source.get("container", "")}" on pods'
        return name + _resource(source["target"], current.get("containerResource"))
    return f"<unknown metric type {problems.quoted(kind)}>"


def _quoted(source: Object) -> str:
    return problems.quoted(source["metric"]["name"])


def _external(source: Object, current: Object | None) -> str:
    averaged = source["target"].get("averageValue") is not None
    now = current
    if averaged and now is not None and (now.get("current") or {}).get("averageValue") is None:
        now = None
    return f"{_quoted(source)} " + _value(source["target"], now, averaged)


def _value(target: Object, current: Object | None, averaged: bool) -> str:
    key, title = ("averageValue", "target average value") if averaged else ("value", "target value")
    shown = UNKNOWN if current is None else amount(current.get("current") or {}, key)
    return f"({title}):\t{shown} / {amount(target, key)}"


def _resource(target: Object, current: Object | None) -> str:
    now = None if current is None else current.get("current") or {}
    if target.get("averageValue") is not None:
        shown = UNKNOWN if now is None else amount(now, "averageValue")
        return f":\t{shown} / {amount(target, 'averageValue')}"
    shown = UNKNOWN
    if now is not None and now.get("averageUtilization") is not None:
        shown = f"{now['averageUtilization']}% ({amount(now, 'averageValue')})"
    wanted = target.get("averageUtilization")
    return f"  (as a percentage of request):\t{shown} / {'<auto>' if wanted is None else f'{wanted}%'}"


def _write_rules(writer: LineWriter, title: str, rules: Object | None) -> None:
    if rules is None:
        return
    writer.line(1, f"{title}:")
    if rules.get("stabilizationWindowSeconds") is not None:
        writer.line(2, f"Stabilization Window: {rules['stabilizationWindowSeconds']} seconds")
    policies = rules.get("policies")
    if policies:
        writer.line(2, f"Select Policy: {rules.get('selectPolicy') or 'Max'}")
        writer.line(2, "Policies:")
        for policy in policies:
            writer.line(
                3,
                f"- Type: {policy.get('type', '')}\tValue: {policy.get('value', 0)}\t"
                f"Period: {policy.get('periodSeconds', 0)} seconds",
            )
