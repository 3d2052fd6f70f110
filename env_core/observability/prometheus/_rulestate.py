"""Groups and alerts as the HTTP API shows them.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/#rules; recorded in tests/golden/promql/rules.jsonl.gz.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from env_core.observability.prometheus._evaluation import INACTIVE, Alert, GroupEvaluation, RuleState
from env_core.sim.timefmt import rfc3339
from env_core.world import Object


class EvaluatedRules:
    """The state of groups after their last evaluation."""

    def __init__(self, groups: Sequence[GroupEvaluation], file: str) -> None:
        self._groups = groups
        self._file = file

    def groups(self, kind: str) -> list[Object]:
        """Return the groups; `kind` is "", "alert" or "record"."""
        return [
            {
                "name": each.group.name,
                "file": self._file,
                "rules": [
                    _rule(state)
                    for state in each.rules
                    if not kind or state.rule.is_alert == (kind == "alert")
                ],
                "interval": _seconds(each.interval_ms),
                "limit": each.group.limit,
                "evaluationTime": _EVALUATION_SECONDS,
                "lastEvaluation": _moment(max((state.last_ms for state in each.rules), default=0)),
            }
            for each in self._groups
        ]

    def alerts(self) -> list[Object]:
        """Return the alerts that are pending or firing."""
        return [
            _alert(alert)
            for each in self._groups
            for state in each.rules
            for alert in state.alerts
            if alert.state != INACTIVE
        ]


_EVALUATION_SECONDS = 0.000412
"""How long an evaluation takes: nothing in the simulator depends on it."""


def _seconds(duration_ms: int) -> int | float:
    return duration_ms // 1000 if duration_ms % 1000 == 0 else duration_ms / 1000


def _moment(at_ms: int) -> str:
    text = rfc3339(at_ms)
    fraction = at_ms % 1000
    return text if not fraction else text.removesuffix("Z") + f".{fraction:03d}".rstrip("0") + "Z"


def exponent_text(value: float) -> str:
    """Return a number as Go's 'e' format has it, with the shortest digits."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    for precision in range(17):
        text = f"{value:.{precision}e}"
        if float(text) == value:
            return text
    return f"{value:.16e}"


def _alert(alert: Alert) -> Object:
    shown: Object = {
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "state": alert.state,
        "activeAt": _moment(alert.active_ms),
        "value": exponent_text(alert.value),
    }
    if alert.keep_since_ms is not None:
        shown["keepFiringSince"] = _moment(alert.keep_since_ms)
    return shown


def _rule(state: RuleState) -> Object:
    rule = state.rule
    common: Object = {"health": "err" if state.problem else "ok"}
    if state.problem:
        common["lastError"] = state.problem
    common["evaluationTime"] = _EVALUATION_SECONDS
    common["lastEvaluation"] = _moment(state.last_ms)
    head: Object = {"name": rule.name, "query": state.expr}
    labels = dict(sorted(rule.labels.items()))
    if not rule.is_alert:
        return {**head, "labels": labels, **common, "type": "recording"}
    return {
        "state": state.state,
        **head,
        "duration": _seconds(rule.for_ms),
        "keepFiringFor": _seconds(rule.keep_firing_ms),
        "labels": labels,
        "annotations": dict(sorted(rule.annotations.items())),
        "alerts": [_alert(alert) for alert in state.alerts if alert.state != INACTIVE],
        **common,
        "type": "alerting",
    }
