"""Aggregations over labels.

Source: github.com/prometheus/prometheus promql/engine.go (aggregation, aggregationK, aggregationCountValues).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from env_core.observability.promql import _sums
from env_core.observability.promql._errors import EvaluationError
from env_core.observability.promql._labels import (
    EMPTY,
    NAME,
    Labels,
    dropping,
    is_label_name,
    keeping,
    with_label,
)
from env_core.observability.promql._nodes import Aggregate
from env_core.observability.promql._numbers import general, plain_number, quote

Vector = list[tuple[Labels, float]]

_REDUCERS: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "sum": _sums.compensated_sum,
    "avg": _sums.average,
    "count": lambda values: float(len(values)),
    "min": lambda values: _sums.extreme(values, lambda value, best: value < best),
    "max": lambda values: _sums.extreme(values, lambda value, best: value > best),
    "group": lambda _values: 1.0,
    "stdvar": _sums.plain_variance,
    "stddev": lambda values: math.sqrt(_sums.plain_variance(values)),
}


def group_labels(expr: Aggregate, labels: Labels) -> Labels:
    """Return the labels of the group that an element belongs to."""
    if expr.is_without:
        return dropping(labels, (NAME, *expr.grouping))
    return keeping(labels, expr.grouping) if expr.grouping else EMPTY


def _grouped(expr: Aggregate, vector: Vector) -> dict[Labels, Vector]:
    groups: dict[Labels, Vector] = {}
    for each in vector:
        groups.setdefault(group_labels(expr, each[0]), []).append(each)
    return groups


def reduced(expr: Aggregate, vector: Vector, parameter: float) -> Vector:
    """Return one element for each group, or for topk and bottomk the chosen elements.

    Raises:
        EvaluationError: if the parameter is no number that makes sense.
    """
    if expr.op in ("topk", "bottomk"):
        return _chosen(expr, vector, parameter)
    groups = _grouped(expr, vector)
    if expr.op == "quantile":
        return [
            (labels, _sums.quantile(parameter, [value for _, value in group]))
            for labels, group in groups.items()
        ]
    reducer = _REDUCERS[expr.op]
    return [(labels, reducer([value for _, value in group])) for labels, group in groups.items()]


def _chosen(expr: Aggregate, vector: Vector, parameter: float) -> Vector:
    if parameter < 1:
        return []
    if math.isnan(parameter):
        raise EvaluationError("Parameter value is NaN")
    if parameter >= 2.0**63:
        raise EvaluationError(f"Scalar value {general(parameter)} overflows int64")
    count = min(int(parameter), len(vector))
    sign = -1 if expr.op == "topk" else 1

    def rank(each: tuple[Labels, float]) -> tuple[bool, float]:
        return (True, 0.0) if math.isnan(each[1]) else (False, sign * each[1])

    return [each for group in _grouped(expr, vector).values() for each in sorted(group, key=rank)[:count]]


def counted_values(expr: Aggregate, vector: Vector, label: str) -> Vector:
    """Return how often each value occurs, the value being in a label.

    Raises:
        EvaluationError: if the label cannot have that name.
    """
    if not is_label_name(label):
        raise EvaluationError(f"invalid label name {quote(label)}")
    counts: dict[Labels, float] = {}
    for labels, value in vector:
        group = with_label(
            group_labels(expr, with_label(labels, label, plain_number(value))), label, plain_number(value)
        )
        counts[group] = counts.get(group, 0.0) + 1
    return list(counts.items())
