"""What a query reads: series of samples, some of them markers of staleness."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from env_core.observability.promql._labels import Labels, value_of
from env_core.observability.promql._nodes import Matcher

STALE: Final = None
"""The value of a sample that ends a series."""


class Series(NamedTuple):
    """One series; `times` rise, in milliseconds."""

    labels: Labels
    times: Sequence[int]
    values: Sequence[float | None]

    def latest(self, at_ms: int, lookback_ms: int) -> tuple[int, float] | None:
        """Return the newest sample at or before `at_ms` that is less than `lookback_ms` old, unless it is stale."""
        index = bisect_right(self.times, at_ms) - 1
        if index < 0 or self.times[index] <= at_ms - lookback_ms:
            return None
        value = self.values[index]
        return None if value is STALE else (self.times[index], value)

    def between(self, after_ms: int, until_ms: int) -> tuple[list[int], list[float]]:
        """Return the samples in (after, until], without stale ones."""
        first, last = bisect_right(self.times, after_ms), bisect_right(self.times, until_ms)
        times: list[int] = []
        values: list[float] = []
        for index in range(first, last):
            value = self.values[index]
            if value is not STALE:
                times.append(self.times[index])
                values.append(value)
        return times, values


class Source(Protocol):
    """Where series come from."""

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Sequence[Series]:
        """Return the series that match and may have samples in [start, end], in a fixed order."""


def fulfils(labels: Labels, matchers: Iterable[Matcher]) -> bool:
    """Whether a label set fulfils every matcher."""
    return all(matcher.matches(value_of(labels, matcher.name)) for matcher in matchers)


class StaticSource:
    """Series in memory."""

    def __init__(self, series: Iterable[Series]) -> None:
        self.series = tuple(series)

    def select(self, matchers: Sequence[Matcher], start_ms: int, end_ms: int) -> Sequence[Series]:
        """Return the series that match and have samples in [start, end]."""
        return [
            each
            for each in self.series
            if each.times
            and each.times[0] <= end_ms
            and each.times[-1] >= start_ms
            and fulfils(each.labels, matchers)
        ]
