"""Samples of selectors, at moments that offsets and @ move.

Source: github.com/prometheus/prometheus promql/engine.go.
"""

from __future__ import annotations

from typing import Final

from env_core.observability.promql._annotations import Annotations
from env_core.observability.promql._durations import duration_ms
from env_core.observability.promql._errors import EvaluationError
from env_core.observability.promql._labels import Labels
from env_core.observability.promql._nodes import (
    Duration,
    Expr,
    MatrixSelector,
    Moment,
    Subquery,
    VectorSelector,
    parts_of,
)
from env_core.observability.promql._series import Series, Source

Vector = list[tuple[Labels, float]]
SAMPLES_MAX: Final = 4_000_000
"""Upstream's default is 50 million; a simulator's patience is shorter."""


class Selecting:
    """One query being evaluated: from `start_ms` to `end_ms`, every `step_ms`."""

    def __init__(
        self,
        query: str,
        source: Source,
        *,
        start_ms: int,
        end_ms: int,
        step_ms: int,
        lookback_ms: int,
    ) -> None:
        self.annotations = Annotations(query)
        self._source = source
        self._start_ms, self._end_ms, self._step_ms = start_ms, end_ms, step_ms
        self._lookback_ms = lookback_ms
        self._selected: dict[int, tuple[int, int, list[Series]]] = {}
        self._durations: dict[int, int] = {}
        self._inner: dict[tuple[int, int], Vector] = {}
        self._samples = 0

    def _moment_ms(self, moment: Moment, at_ms: int) -> int:
        if moment.at_edge:
            at_ms = self._start_ms if moment.at_edge == "start" else self._end_ms
        elif moment.at_ms is not None:
            at_ms = moment.at_ms
        if moment.offset is None:
            return at_ms
        return at_ms - self._duration(moment.offset, may_be_negative=True)

    def check_durations(self, expr: Expr) -> None:
        """Work out every range, step and offset of an expression.

        Raises:
            InvalidQuery: if one is no duration that can be used.
        """
        if isinstance(expr, (VectorSelector, Subquery)) and expr.moment.offset is not None:
            self._duration(expr.moment.offset, may_be_negative=True)
        if isinstance(expr, (MatrixSelector, Subquery)):
            self._duration(expr.range)
        if isinstance(expr, Subquery) and expr.step is not None:
            self._duration(expr.step)
        for part in parts_of(expr):
            self.check_durations(part)

    def _duration(self, duration: Duration, *, may_be_negative: bool = False) -> int:
        known = self._durations.get(id(duration))
        if known is None:
            known = self._durations[id(duration)] = self._worked_out(
                duration, may_be_negative=may_be_negative
            )
        return known

    def _worked_out(self, duration: Duration, *, may_be_negative: bool) -> int:
        return duration_ms(
            duration,
            step_ms=self._step_ms,
            range_ms=self._end_ms - self._start_ms,
            may_be_negative=may_be_negative,
        )

    def _series(self, selector: VectorSelector, start_ms: int, end_ms: int) -> list[Series]:
        key = id(selector)
        known = self._selected.get(key)
        if known is None or start_ms < known[0] or end_ms > known[1]:
            # One selection for all steps: they move by no more than the query's own length.
            length = self._end_ms - self._start_ms
            low, high = start_ms - length, end_ms + length
            if known is not None:
                low, high = min(low, known[0]), max(high, known[1])
            known = self._selected[key] = (low, high, list(self._source.select(selector.matchers, low, high)))
        return known[2]

    def _count(self, samples: int) -> None:
        self._samples += samples
        if self._samples > SAMPLES_MAX:
            raise EvaluationError(
                "query processing would load too many samples into memory in query execution"
            )

    def _instants(self, selector: VectorSelector, at_ms: int) -> list[tuple[Labels, int, float]]:
        moment_ms = self._moment_ms(selector.moment, at_ms)
        lookback_ms = self._lookback_ms
        found = []
        series = self._series(selector, moment_ms - lookback_ms, moment_ms + lookback_ms)
        self._count(len(series))
        for each in series:
            sample = each.latest(moment_ms, lookback_ms)
            if selector.extension == "smoothed":
                sample = self._smoothed(each, moment_ms)
            if sample is not None:
                found.append((each.labels, *sample))
        return found

    def _smoothed(self, series: Series, at_ms: int) -> tuple[int, float] | None:
        times, values = series.between(at_ms - self._lookback_ms, at_ms + self._lookback_ms)
        after = next((index for index, each in enumerate(times) if each >= at_ms), len(times))
        if after < len(times) and times[after] == at_ms:
            return at_ms, values[after]
        if after == 0:
            return None
        if after == len(times):
            return at_ms, values[-1]
        low, high = values[after - 1], values[after]
        share = (at_ms - times[after - 1]) / (times[after] - times[after - 1])
        return at_ms, low + (high - low) * share
