"""Binary operators between vectors: which elements are paired, and what becomes of their labels.

Source: github.com/prometheus/prometheus promql/engine.go (VectorBinop, VectorAnd, VectorOr, VectorUnless, resultMetric).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from env_core.observability.promql._elementwise import ARITHMETIC, COMPARING
from env_core.observability.promql._errors import EvaluationError
from env_core.observability.promql._labels import (
    NAME,
    Labels,
    dropping,
    keeping,
    labels_text,
    value_of,
    with_label,
    without_name,
)
from env_core.observability.promql._nodes import Binary, Matching

Vector = list[tuple[Labels, float]]


def _signature(matching: Matching) -> Callable[[Labels], Labels]:
    if matching.is_on:
        return lambda labels: keeping(labels, matching.labels)
    ignored = (NAME, *matching.labels)
    return lambda labels: dropping(labels, ignored)


def set_operation(op: str, matching: Matching, left: Vector, right: Vector) -> Vector:
    """Return `and`, `or` or `unless` of two vectors."""
    signature = _signature(matching)
    if op == "or":
        known = {signature(labels) for labels, _ in left}
        return [*left, *(each for each in right if signature(each[0]) not in known)]
    known = {signature(labels) for labels, _ in right}
    return [each for each in left if (signature(each[0]) in known) == (op == "and")]


def vector_operation(expr: Binary, left: Vector, right: Vector) -> Vector:
    """Return an arithmetic operation or comparison of two vectors.

    Raises:
        EvaluationError: if elements are paired in more than one way.
    """
    matching = expr.matching
    if not left or not right:
        return []
    is_swapped = matching.card == "1:n"
    many, one = (right, left) if is_swapped else (left, right)
    signature = _signature(matching)
    ones = _unique(one, matching, signature)
    seen: dict[Labels, set[Labels]] = {}
    out: Vector = []
    for labels, value in many:
        key = signature(labels)
        if key not in ones:
            continue
        other_labels, other = ones[key]
        result, is_kept = _applied(expr.op, *((other, value) if is_swapped else (value, other)))
        if expr.returns_bool:
            result = 1.0 if is_kept else 0.0
        metric = _result_labels(expr, labels, other_labels)
        paired = seen.setdefault(key, set())
        if matching.card == "1:1" and paired:
            raise EvaluationError(
                "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
            )
        if metric in paired:
            raise EvaluationError("multiple matches for labels: grouping labels must ensure unique matches")
        paired.add(metric)
        if is_kept or expr.returns_bool:
            out.append((metric, result))
    return out


def _unique(
    one: Vector, matching: Matching, signature: Callable[[Labels], Labels]
) -> dict[Labels, tuple[Labels, float]]:
    found: dict[Labels, tuple[Labels, float]] = {}
    for each in one:
        key = signature(each[0])
        if key in found:
            group = keeping(each[0], matching.labels) if matching.is_on else key
            first, second = sorted((labels_text(each[0]), labels_text(found[key][0])))
            side = "left" if matching.card == "1:n" else "right"
            raise EvaluationError(
                f"found duplicate series for the match group {labels_text(group)} on the {side} hand-side of the "
                f"operation: [{first}, {second}];many-to-many matching not allowed: matching labels must be unique on "
                "one side"
            )
        found[key] = each
    return found


def _result_labels(expr: Binary, labels: Labels, other: Labels) -> Labels:
    matching = expr.matching
    if expr.op in ARITHMETIC or expr.returns_bool:
        labels = without_name(labels)
    if matching.card == "1:1":
        if matching.is_on:
            labels = keeping(labels, matching.labels)
        else:
            labels = dropping(labels, matching.labels)
    for name in matching.include:
        labels = with_label(labels, name, value_of(other, name))
    return labels


def _applied(op: str, left: float, right: float) -> tuple[float, bool]:
    if op in ARITHMETIC:
        return ARITHMETIC[op](left, right), True
    return left, COMPARING[op](left, right)


def scalar_operation(op: str, left: float, right: float) -> float:
    """Return an operation of two numbers; comparisons give 0 or 1."""
    if op in ARITHMETIC:
        return ARITHMETIC[op](left, right)
    return 1.0 if COMPARING[op](left, right) else 0.0


def mixed_operation(
    expr: Binary, vector: Sequence[tuple[Labels, float]], scalar: float, *, is_swapped: bool
) -> Vector:
    """Return an operation of a vector and a number, which stands on the left if `is_swapped`."""
    out: Vector = []
    for labels, value in vector:
        result, is_kept = _applied(expr.op, *((scalar, value) if is_swapped else (value, scalar)))
        if expr.op in COMPARING:
            result = value
        if expr.returns_bool:
            result, is_kept = (1.0 if is_kept else 0.0), True
        if is_kept:
            keeps_name = expr.op in COMPARING and not expr.returns_bool
            out.append((labels if keeps_name else without_name(labels), result))
    return out
