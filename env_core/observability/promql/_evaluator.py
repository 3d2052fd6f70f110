"""Expressions evaluated at one moment after the other.

Source: github.com/prometheus/prometheus promql/engine.go.
"""

from __future__ import annotations

import math
from typing import Final

from env_core.observability.promql import _aggregation, _binary
from env_core.observability.promql import _vector_functions as vectors
from env_core.observability.promql._calendar import CALENDAR
from env_core.observability.promql._elementwise import ELEMENTWISE, clamped, rounded
from env_core.observability.promql._errors import EvaluationError
from env_core.observability.promql._labels import EMPTY, NAME, Labels, value_of, without_name
from env_core.observability.promql._nodes import (
    SCALAR,
    SET_OPERATORS,
    Aggregate,
    Binary,
    Call,
    Expr,
    MatrixSelector,
    Number,
    Paren,
    String,
    Subquery,
    Unary,
    VectorSelector,
)
from env_core.observability.promql._range_functions import (
    ANCHORED_SAFE,
    KEEPING_NAME,
    RANGE_FUNCTIONS,
    SMOOTHED_SAFE,
    predicted,
)
from env_core.observability.promql._rates import Window, extended_samples
from env_core.observability.promql._selecting import Selecting, Vector
from env_core.observability.promql._sums import quantile

SUBQUERY_STEP_MS: Final = 60_000
_COUNTER_ENDINGS: Final = ("_total", "_sum", "_count", "_bucket")
_SAME_LABELS: Final = "vector cannot contain metrics with the same labelset"


class Evaluator(Selecting):
    """Evaluates every kind of expression."""

    # Values by type

    def vector(self, expr: Expr, at_ms: int) -> Vector:
        """Return an instant vector; a number counts as an element without labels."""
        if isinstance(expr, Paren):
            return self.vector(expr.expr, at_ms)
        if expr.type == SCALAR:
            return [(EMPTY, self.scalar(expr, at_ms))]
        if isinstance(expr, VectorSelector):
            return [(labels, value) for labels, _, value in self._instants(expr, at_ms)]
        if isinstance(expr, Unary):
            return self._negated(expr, at_ms)
        if isinstance(expr, Binary):
            return _distinct(self._binary(expr, at_ms))
        if isinstance(expr, Aggregate):
            return self._aggregated(expr, at_ms)
        assert isinstance(expr, Call)
        return _distinct(self._called(expr, at_ms))

    def scalar(self, expr: Expr, at_ms: int) -> float:
        """Return a number."""
        if isinstance(expr, Number):
            return expr.value
        if isinstance(expr, Paren):
            return self.scalar(expr.expr, at_ms)
        if isinstance(expr, Unary):
            value = self.scalar(expr.expr, at_ms)
            return -value if expr.op == "-" else value
        if isinstance(expr, Binary):
            left, right = self.scalar(expr.left, at_ms), self.scalar(expr.right, at_ms)
            return _binary.scalar_operation(expr.op, left, right)
        assert isinstance(expr, Call)
        if expr.name == "time":
            return at_ms / 1000
        if expr.name == "pi":
            return math.pi
        return vectors.only_value(self.vector(expr.args[0], at_ms))

    def matrix(self, expr: Expr, at_ms: int) -> list[tuple[Labels, list[int], list[float]]]:
        """Return a range vector as it is shown."""
        found = []
        for labels, window in self.windows(expr, at_ms):
            times, values = list(window.times), list(window.values)
            if window.extension:
                times, values = extended_samples(window)
            if times:
                found.append((labels, times, values))
        return found

    # Windows

    def windows(self, expr: Expr, at_ms: int) -> list[tuple[Labels, Window]]:
        """Return the series of a range vector with their samples, those without samples left out."""
        if isinstance(expr, Paren):
            return self.windows(expr.expr, at_ms)
        if isinstance(expr, Subquery):
            return self._subquery(expr, at_ms)
        assert isinstance(expr, MatrixSelector)
        selector = expr.selector
        end_ms = self._moment_ms(selector.moment, at_ms)
        start_ms = end_ms - self._duration(expr.range)
        low = start_ms - (self._lookback_ms if selector.extension else 0)
        high = end_ms + (self._lookback_ms if selector.extension == "smoothed" else 0)
        found = []
        for each in self._series(selector, low, high):
            times, values = each.between(low, high)
            self._count(len(times) + 1)
            if times:
                found.append((each.labels, Window(times, values, start_ms, end_ms, selector.extension)))
        return found

    def _subquery(self, expr: Subquery, at_ms: int) -> list[tuple[Labels, Window]]:
        end_ms = self._moment_ms(expr.moment, at_ms)
        start_ms = end_ms - self._duration(expr.range)
        step_ms = SUBQUERY_STEP_MS if expr.step is None else self._duration(expr.step)
        if step_ms <= 0:
            raise EvaluationError("zero or negative query resolution step widths are not accepted")
        collected: dict[Labels, tuple[list[int], list[float]]] = {}
        moment_ms = start_ms // step_ms * step_ms + step_ms
        while moment_ms <= end_ms:
            key = (id(expr), moment_ms)
            inner = self._inner.get(key)
            if inner is None:
                self._count(1)
                inner = self._inner[key] = self.vector(expr.expr, moment_ms)
            self._count(len(inner))
            for labels, value in inner:
                times, values = collected.setdefault(labels, ([], []))
                times.append(moment_ms)
                values.append(value)
            moment_ms += step_ms
        return [
            (labels, Window(times, values, start_ms, end_ms)) for labels, (times, values) in collected.items()
        ]

    # Operators

    def _negated(self, expr: Unary, at_ms: int) -> Vector:
        vector = self.vector(expr.expr, at_ms)
        if expr.op == "+":
            return vector
        return _distinct([(without_name(labels), -value) for labels, value in vector])

    def _binary(self, expr: Binary, at_ms: int) -> Vector:
        if expr.left.type == SCALAR:
            scalar = self.scalar(expr.left, at_ms)
            return _binary.mixed_operation(expr, self.vector(expr.right, at_ms), scalar, is_swapped=True)
        left = self.vector(expr.left, at_ms)
        if expr.right.type == SCALAR:
            scalar = self.scalar(expr.right, at_ms)
            return _binary.mixed_operation(expr, left, scalar, is_swapped=False)
        right = self.vector(expr.right, at_ms)
        if expr.op in SET_OPERATORS:
            return _binary.set_operation(expr.op, expr.matching, left, right)
        return _binary.vector_operation(expr, left, right)

    def _aggregated(self, expr: Aggregate, at_ms: int) -> Vector:
        vector = self.vector(expr.expr, at_ms)
        if expr.op == "count_values":
            assert expr.parameter is not None
            return _aggregation.counted_values(expr, vector, _text(expr.parameter))
        parameter = math.nan
        if expr.parameter is not None:
            parameter = self.scalar(expr.parameter, at_ms)
            if expr.op == "quantile":
                self.annotations.invalid_quantile(parameter, expr.parameter.span.start)
        return _aggregation.reduced(expr, vector, parameter)

    # Calls

    def _called(self, expr: Call, at_ms: int) -> Vector:
        name, args = expr.name, expr.args
        if name in RANGE_FUNCTIONS or name in ("quantile_over_time", "predict_linear"):
            return self._over_range(expr, at_ms)
        if name in ELEMENTWISE:
            function = ELEMENTWISE[name]
            return [(without_name(labels), function(value)) for labels, value in self.vector(args[0], at_ms)]
        if name in CALENDAR:
            return self._calendar(expr, at_ms)
        if name in ("sort", "sort_desc"):
            return self._sorted(expr, at_ms)
        if name in ("clamp", "clamp_min", "clamp_max", "round"):
            return self._bounded(expr, at_ms)
        if name == "timestamp":
            return self._timestamps(args[0], at_ms)
        if name == "vector":
            return [(EMPTY, self.scalar(args[0], at_ms))]
        if name == "absent":
            return [] if self.vector(args[0], at_ms) else [(vectors.absent_labels(_bare(args[0])), 1.0)]
        if name == "absent_over_time":
            return [] if self.windows(args[0], at_ms) else [(vectors.absent_labels(_bare(args[0])), 1.0)]
        if name == "label_replace":
            texts = [_text(arg) for arg in args[1:]]
            return vectors.label_replace(self.vector(args[0], at_ms), texts[0], texts[1], texts[2], texts[3])
        if name == "label_join":
            target, separator, *sources = (_text(arg) for arg in args[1:])
            return vectors.label_join(self.vector(args[0], at_ms), target, separator, tuple(sources))
        if name == "histogram_quantile":
            fraction = self.scalar(args[0], at_ms)
            self.annotations.invalid_quantile(fraction, args[0].span.start)
            return vectors.histogram_quantile(
                fraction, self.vector(args[1], at_ms), self.annotations, args[1].span.start, at_ms
            )
        if name == "histogram_fraction":
            lower, upper = self.scalar(args[0], at_ms), self.scalar(args[1], at_ms)
            return vectors.histogram_fraction(
                lower, upper, self.vector(args[2], at_ms), self.annotations, args[2].span.start
            )
        # The rest asks for parts of native histograms, of which there are none.
        self.vector(args[0], at_ms)
        return []

    def _over_range(self, expr: Call, at_ms: int) -> Vector:
        name, args = expr.name, expr.args
        ranged = args[1] if name == "quantile_over_time" else args[0]
        bare = _bare(ranged)
        if isinstance(bare, MatrixSelector):
            _check_extension(name, bare.selector.extension)
        parameter = math.nan
        if len(args) > 1:
            parameter = self.scalar(args[0] if name == "quantile_over_time" else args[1], at_ms)
        windows = self.windows(ranged, at_ms)
        if name == "quantile_over_time" and windows:
            self.annotations.invalid_quantile(parameter, args[0].span.start)
        out: Vector = []
        for labels, window in windows:
            if name == "quantile_over_time":
                result: float | None = quantile(parameter, window.values)
            elif name == "predict_linear":
                result = predicted(window, parameter, at_ms)
            else:
                result = RANGE_FUNCTIONS[name](window)
            if result is None:
                continue
            metric = value_of(labels, NAME)
            if name in ("rate", "increase") and metric and not metric.endswith(_COUNTER_ENDINGS):
                # Upstream evaluates a subquery first and then points at nowhere.
                position = 0 if isinstance(bare, Subquery) else bare.span.start
                self.annotations.inform(
                    f'metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "{metric}"',
                    position,
                )
            out.append((labels if name in KEEPING_NAME else without_name(labels), result))
        return out

    def _calendar(self, expr: Call, at_ms: int) -> Vector:
        function = CALENDAR[expr.name]
        if not expr.args:
            return [(EMPTY, float(function(at_ms // 1000)))]
        return [
            (without_name(labels), float(function(_whole_seconds(value))))
            for labels, value in self.vector(expr.args[0], at_ms)
        ]

    def _sorted(self, expr: Call, at_ms: int) -> Vector:
        if self._start_ms != self._end_ms:
            text = "sort is ineffective for range queries since results are always ordered by labels"
            self.annotations.warn(text, expr.span.start)
        return vectors.ordered(self.vector(expr.args[0], at_ms), is_descending=expr.name == "sort_desc")

    def _bounded(self, expr: Call, at_ms: int) -> Vector:
        vector = self.vector(expr.args[0], at_ms)
        numbers = [self.scalar(arg, at_ms) for arg in expr.args[1:]]
        if expr.name == "round":
            nearest = numbers[0] if numbers else 1.0
            return [(without_name(labels), rounded(value, nearest)) for labels, value in vector]
        low, high = -math.inf, math.inf
        if expr.name != "clamp_max":
            low = numbers[0]
        if expr.name != "clamp_min":
            high = numbers[-1]
        if high < low:
            return []
        return [(without_name(labels), clamped(value, low, high)) for labels, value in vector]

    def _timestamps(self, expr: Expr, at_ms: int) -> Vector:
        bare = _bare(expr)
        if isinstance(bare, VectorSelector):
            found = [(labels, time) for labels, time, _ in self._instants(bare, at_ms)]
        else:
            found = [(labels, at_ms) for labels, _ in self.vector(expr, at_ms)]
        return [(without_name(labels), time / 1000) for labels, time in found]


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Paren):
        expr = expr.expr
    return expr


def _text(expr: Expr) -> str:
    bare = _bare(expr)
    assert isinstance(bare, String)
    return bare.value


def _distinct(vector: Vector) -> Vector:
    if len({labels for labels, _ in vector}) != len(vector):
        raise EvaluationError(_SAME_LABELS)
    return vector


def _whole_seconds(value: float) -> int:
    return int(value) if math.isfinite(value) and abs(value) < 2**63 else -(2**63)


def _check_extension(function: str, extension: str) -> None:
    for word, safe in (("anchored", ANCHORED_SAFE), ("smoothed", SMOOTHED_SAFE)):
        if extension == word and function not in safe:
            raise EvaluationError(
                f"{word} modifier can only be used with: {', '.join(safe)} - not with {function}"
            )
