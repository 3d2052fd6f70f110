"""Pod disruption budgets."""

from __future__ import annotations

import orjson

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, write_events
from env_core.kinds._policy_rules import (
    NOT_NEGATIVE,
    kept_spec,
    kept_status,
    selector_problems,
    unsupported,
)
from env_core.objects import names, selectors
from env_core.objects.problems import INVALID, Problem, invalid
from env_core.world import Object

_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_NEW_STATUS: Object = dict.fromkeys(_COUNTS, 0)


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": _NEW_STATUS}


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    found: list[Problem] = []
    if least is not None and most is not None:
        text = "minAvailable and maxUnavailable cannot be both set"
        found.append(Problem(INVALID, "spec", _go_spec(spec), text))
    for field, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            found += _amount_problems(f"spec.{field}", value)
    found += selector_problems(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        found.append(unsupported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
    return found


def _go_spec(spec: Object) -> str:
    """Return the spec as the server's own struct prints in JSON."""
    selector = spec.get("selector")
    if selector is not None:
        selector = {key: selector[key] for key in ("matchLabels", "matchExpressions") if selector.get(key)}
        if "matchLabels" in selector:
            selector["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    fields = {
        "MinAvailable": spec.get("minAvailable"),
        "Selector": selector,
        "MaxUnavailable": spec.get("maxUnavailable"),
        "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
    }
    return orjson.dumps(fields).decode()


def _amount_problems(field: str, value: int | str) -> list[Problem]:
    if isinstance(value, int):
        return [] if value >= 0 else [invalid(field, value, NOT_NEGATIVE)]
    complaints = names.is_percent(value)
    if complaints:
        return [invalid(field, value, text) for text in complaints]
    return [invalid(field, value, "must not be greater than 100%")] if int(value[:-1]) > 100 else []


def _validate_update(new: Object, _old: Object) -> list[Problem]:
    return _validate(new)


def _validate_status(new: Object, _old: Object) -> list[Problem]:
    status = new.get("status") or {}
    return [
        invalid(f"status.{field}", status[field], NOT_NEGATIVE)
        for field in _COUNTS
        if (status.get(field) or 0) < 0
    ]


def _cell_least(obj: Object, _now_ms: int) -> str:
    value = (obj.get("spec") or {}).get("minAvailable")
    return "N/A" if value is None else str(value)


def _cell_most(obj: Object, _now_ms: int) -> str:
    value = (obj.get("spec") or {}).get("maxUnavailable")
    return "N/A" if value is None else str(value)


def _cell_allowed(obj: Object, _now_ms: int) -> int:
    return int((obj.get("status") or {}).get("disruptionsAllowed") or 0)


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    if spec.get("minAvailable") is not None:
        writer.line(0, f"Min available:\t{spec['minAvailable']}")
    elif spec.get("maxUnavailable") is not None:
        writer.line(0, f"Max unavailable:\t{spec['maxUnavailable']}")
    selector = spec.get("selector")
    writer.line(
        0, f"Selector:\t{'<unset>' if selector is None else selectors.format_label_selector(selector)}"
    )
    writer.line(0, "Status:")
    writer.line(2, f"Allowed disruptions:\t{status.get('disruptionsAllowed') or 0}")
    writer.line(2, f"Current:\t{status.get('currentHealthy') or 0}")
    writer.line(2, f"Desired:\t{status.get('desiredHealthy') or 0}")
    writer.line(2, f"Total:\t{status.get('expectedPods') or 0}")
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="policy",
    version="v1",
    kind="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    singular="poddisruptionbudget",
    short_names=("pdb",),
    has_generation=True,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    columns=(
        NAME,
        Column("Min Available", _cell_least),
        Column("Max Unavailable", _cell_most),
        Column("Allowed Disruptions", _cell_allowed, type="integer"),
        AGE,
    ),
    describe=_describe,
    source="k8s.io/api policy/v1 PodDisruptionBudget, 1.37; tests/golden/l0",
)
