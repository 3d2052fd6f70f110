"""The columns of horizontal pod autoscalers.

Source: kubernetes pkg/printers/internalversion formatHPAMetrics; tests/golden/l0/printers.jsonl.gz.
"""

from __future__ import annotations

from env_core.apiserver.kind import Column
from env_core.kinds._columns_workload import AGE, NAME, spec_count, status_count
from env_core.kinds._describe_hpa import UNKNOWN, amount
from env_core.kinds._describe_text import NONE
from env_core.world import Object

_SHOWN_MAX = 2


def _cell_reference(obj: Object, _now_ms: int) -> str:
    target = obj["spec"].get("scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _cell_targets(obj: Object, _now_ms: int) -> str:
    metrics = obj["spec"].get("metrics") or []
    if not metrics:
        return NONE
    current = (obj.get("status") or {}).get("currentMetrics") or []
    texts = [
        _target(metric, current[position] if position < len(current) else {})
        for position, metric in enumerate(metrics[:_SHOWN_MAX])
    ]
    more = len(metrics) - _SHOWN_MAX
    return ", ".join(texts) + (f" + {more} more..." if more > 0 else "")


def _target(metric: Object, current: Object) -> str:
    kind = metric.get("type", "")
    if kind in ("Resource", "ContainerResource"):
        key = "resource" if kind == "Resource" else "containerResource"
        return _resource(metric[key], current.get(key))
    if kind not in ("External", "Pods", "Object"):
        return "<unknown type>"
    key = kind.lower()
    target = metric[key]["target"]
    now = (current[key].get("current") or {}) if current.get(key) is not None else None
    if kind == "Pods":
        return f"{_shown(now, 'averageValue')}/{amount(target, 'averageValue')}"
    if target.get("averageValue") is not None:
        if kind == "External" and now is not None and now.get("averageValue") is None:
            now = None
        return f"{_shown(now, 'averageValue')}/{amount(target, 'averageValue')} (avg)"
    return f"{_shown(now, 'value')}/{amount(target, 'value')}"


def _resource(source: Object, current: Object | None) -> str:
    target = source["target"]
    now = (current.get("current") or {}) if current is not None else None
    if target.get("averageValue") is not None:
        return f"{source['name']}: {_shown(now, 'averageValue')}/{amount(target, 'averageValue')}"
    used = None if now is None else now.get("averageUtilization")
    wanted = target.get("averageUtilization")
    shown = UNKNOWN if used is None else f"{used}%"
    return f"{source['name']}: {shown}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _shown(now: Object | None, key: str) -> str:
    return UNKNOWN if now is None else amount(now, key)


def _cell_minimum(obj: Object, _now_ms: int) -> str:
    minimum = obj["spec"].get("minReplicas")
    return "<unset>" if minimum is None else str(minimum)


COLUMNS = (
    NAME,
    Column("Reference", _cell_reference),
    Column("Targets", _cell_targets),
    Column("MinPods", _cell_minimum),
    Column("MaxPods", spec_count("maxReplicas")),
    Column("Replicas", status_count("currentReplicas")),
    AGE,
)
