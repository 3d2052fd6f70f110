"""Queries at a moment and over a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from env_core.observability.promql._errors import InvalidQuery
from env_core.observability.promql._evaluator import Evaluator
from env_core.observability.promql._labels import Labels
from env_core.observability.promql._nodes import DOCUMENTED, MATRIX, SCALAR, STRING, VECTOR, String
from env_core.observability.promql._parser import parse
from env_core.observability.promql._series import Source

LOOKBACK_MS: Final = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a query gave.

    `value` is, by `type`: (time, number) for scalar, (time, text) for string, [(labels, time, number)] for vector,
    [(labels, times, numbers)] for matrix. Times are in milliseconds.
    """

    type: str
    value: Any
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()


class Engine:
    """Evaluates queries over a source of series."""

    __slots__ = ("_lookback_ms", "_source")

    def __init__(self, source: Source, lookback_ms: int = LOOKBACK_MS) -> None:
        self._source = source
        self._lookback_ms = lookback_ms

    def instant(self, query: str, at_ms: int) -> Result:
        """Evaluate a query at one moment.

        Raises:
            InvalidQuery: if it is no PromQL.
            EvaluationError: if it cannot be evaluated over these series.
        """
        expr = parse(query)
        evaluator = Evaluator(
            query,
            self._source,
            start_ms=at_ms,
            end_ms=at_ms,
            step_ms=0,
            lookback_ms=self._lookback_ms,
        )
        evaluator.check_durations(expr)
        value: Any
        if expr.type == STRING:
            while not isinstance(expr, String):
                expr = expr.expr  # type: ignore[union-attr]
            value = (at_ms, expr.value)
        elif expr.type == SCALAR:
            value = (at_ms, evaluator.scalar(expr, at_ms))
        elif expr.type == VECTOR:
            value = [(labels, at_ms, number) for labels, number in evaluator.vector(expr, at_ms)]
        else:
            value = sorted(evaluator.matrix(expr, at_ms))
        return _result(expr.type, value, evaluator)

    def range(self, query: str, start_ms: int, end_ms: int, step_ms: int) -> Result:
        """Evaluate a query at every step of a range.

        Raises:
            InvalidQuery: if it is no PromQL, or a text or range vector as a whole.
            EvaluationError: if it cannot be evaluated over these series.
        """
        expr = parse(query)
        if expr.type not in (SCALAR, VECTOR):
            raise InvalidQuery(
                f'invalid expression type "{DOCUMENTED[expr.type]}" for range query, '
                "must be Scalar or instant Vector"
            )
        evaluator = Evaluator(
            query,
            self._source,
            start_ms=start_ms,
            end_ms=end_ms,
            step_ms=step_ms,
            lookback_ms=self._lookback_ms,
        )
        evaluator.check_durations(expr)
        found: dict[Labels, tuple[list[int], list[float]]] = {}
        for at_ms in range(start_ms, end_ms + 1, step_ms):
            for labels, number in evaluator.vector(expr, at_ms):
                times, numbers = found.setdefault(labels, ([], []))
                times.append(at_ms)
                numbers.append(number)
        value = [(labels, *found[labels]) for labels in sorted(found)]
        return _result(MATRIX, value, evaluator)


def _result(kind: str, value: Any, evaluator: Evaluator) -> Result:
    return Result(
        type=kind,
        value=value,
        warnings=tuple(evaluator.annotations.warnings()),
        infos=tuple(evaluator.annotations.infos()),
    )
