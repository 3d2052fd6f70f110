"""Functions of instant vectors.

Source: github.com/prometheus/prometheus promql/functions.go.
"""

from __future__ import annotations

import math

from env_core.objects.re2 import Re2Error, compiled
from env_core.observability.promql._annotations import Annotations
from env_core.observability.promql._errors import EvaluationError
from env_core.observability.promql._histograms import Bucket, bucket_fraction, bucket_quantile, upper_bound
from env_core.observability.promql._labels import (
    EMPTY,
    NAME,
    Labels,
    dropping,
    is_label_name,
    labels_of,
    value_of,
    with_label,
    without_name,
)
from env_core.observability.promql._nodes import Expr, MatrixSelector, VectorSelector

Vector = list[tuple[Labels, float]]

BUCKET = "le"


def _by_series(vector: Vector, annotations: Annotations, position: int) -> dict[Labels, list[Bucket]]:
    found: dict[Labels, list[Bucket]] = {}
    for labels, value in vector:
        text = value_of(labels, BUCKET)
        bound = upper_bound(text)
        if bound is None:
            annotations.bad_bucket(text, position)
            continue
        found.setdefault(dropping(labels, (BUCKET,)), []).append(Bucket(bound, value))
    return found


def histogram_quantile(
    fraction: float, vector: Vector, annotations: Annotations, position: int, at_ms: int
) -> Vector:
    """Return the quantile of each histogram in a vector of buckets."""
    out: Vector = []
    for labels, buckets in _by_series(vector, annotations, position).items():
        result, forced = bucket_quantile(fraction, buckets)
        if forced is not None:
            annotations.forced_monotonicity(position, at_ms, *forced)
        out.append((without_name(labels), result))
    return out


def histogram_fraction(
    lower: float, upper: float, vector: Vector, annotations: Annotations, position: int
) -> Vector:
    """Return the share of observations between two values, for each histogram."""
    return [
        (without_name(labels), bucket_fraction(lower, upper, buckets))
        for labels, buckets in _by_series(vector, annotations, position).items()
    ]


def label_replace(vector: Vector, target: str, replacement: str, source: str, pattern: str) -> Vector:
    """Return the vector with a label set from a match of another.

    Raises:
        EvaluationError: if the pattern or the label's name is none.
    """
    try:
        regex = compiled(pattern, dot_all=True)
    except Re2Error:
        raise EvaluationError(f"invalid regular expression in label_replace(): {pattern}") from None
    if not is_label_name(target):
        raise EvaluationError(f"invalid destination label name in label_replace(): {target}")
    out: Vector = []
    for labels, value in vector:
        text = regex.expand(replacement, value_of(labels, source))
        out.append((labels if text is None else with_label(labels, target, text), value))
    return out


def label_join(vector: Vector, target: str, separator: str, sources: tuple[str, ...]) -> Vector:
    """Return the vector with a label joined from others.

    Raises:
        EvaluationError: if a label's name is none.
    """
    for source in sources:
        if not is_label_name(source):
            raise EvaluationError(f"invalid source label name in label_join(): {source}")
    if not is_label_name(target):
        raise EvaluationError(f"invalid destination label name in label_join(): {target}")
    return [
        (with_label(labels, target, separator.join(value_of(labels, name) for name in sources)), value)
        for labels, value in vector
    ]


def absent_labels(expr: Expr) -> Labels:
    """Return the labels that a selector demands, for the element that says that there is none."""
    if isinstance(expr, MatrixSelector):
        expr = expr.selector
    if not isinstance(expr, VectorSelector):
        return EMPTY
    found: dict[str, str] = {}
    seen: set[str] = set()
    for matcher in expr.matchers:
        if matcher.name == NAME:
            continue
        if matcher.operator == "=" and matcher.name not in seen:
            found[matcher.name] = matcher.value
            seen.add(matcher.name)
        else:
            found.pop(matcher.name, None)
    return labels_of(found)


def ordered(vector: Vector, *, is_descending: bool) -> Vector:
    """Return the vector sorted by value, NaN last."""
    sign = -1 if is_descending else 1

    def rank(each: tuple[Labels, float]) -> tuple[bool, float]:
        return (True, 0.0) if math.isnan(each[1]) else (False, sign * each[1])

    return sorted(vector, key=rank)


def only_value(vector: Vector) -> float:
    """Return the value of a vector's only element, NaN if it has another number of them."""
    return vector[0][1] if len(vector) == 1 else math.nan
