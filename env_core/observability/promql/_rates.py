"""Rates of counters and changes of gauges over a range.

Source: github.com/prometheus/prometheus promql/functions.go (extrapolatedRate, extendedRate, instantValue).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """The samples of one series in a range. `extension` is that of the selector."""

    times: Sequence[int]
    values: Sequence[float]
    start_ms: int
    end_ms: int
    extension: str = ""

    @property
    def seconds(self) -> float:
        """The length of the range."""
        return (self.end_ms - self.start_ms) / 1000


def extrapolated(window: Window, *, is_counter: bool, is_rate: bool) -> float | None:
    """Return the change over the range, extrapolated to its ends; None from fewer than two samples."""
    if window.extension:
        return _extended(window, is_counter=is_counter, is_rate=is_rate)
    times, values = window.times, window.values
    if len(values) < 2:
        return None
    result = values[-1] - values[0]
    if is_counter:
        for before, after in pairwise(values):
            if after < before:
                result += before
    to_start = (times[0] - window.start_ms) / 1000
    to_end = (window.end_ms - times[-1]) / 1000
    sampled = (times[-1] - times[0]) / 1000
    spacing = sampled / (len(values) - 1)
    threshold = spacing * 1.1
    if to_start >= threshold:
        to_start = spacing / 2
    if is_counter and result > 0 and values[0] >= 0:
        # A counter was not below zero: where the line through zero begins, the series begins.
        to_start = min(to_start, sampled * (values[0] / result))
    if to_end >= threshold:
        to_end = spacing / 2
    factor = (sampled + to_start + to_end) / sampled
    if is_rate:
        factor /= window.seconds
    return result * factor


def instant(window: Window, *, is_rate: bool) -> float | None:
    """Return the difference of the last two samples, per second for `irate`."""
    times, values = window.times, window.values
    if len(values) < 2 or times[-1] == times[-2]:
        return None
    is_reset = is_rate and values[-1] < values[-2]
    result = values[-1] if is_reset else values[-1] - values[-2]
    return result / ((times[-1] - times[-2]) / 1000) if is_rate else result


def _between(window: Window, index: int, at_ms: int, *, is_counter: bool) -> float:
    """Return the value at a time between the samples `index` and `index + 1`."""
    times, values = window.times, window.values
    first, second = values[index], values[index + 1]
    if is_counter and second < first:
        first = 0.0
    return first + (second - first) * (at_ms - times[index]) / (times[index + 1] - times[index])


def _edges(window: Window, *, is_counter: bool) -> tuple[int, int, float, float] | None:
    """Return the first and last sample that count and the values at the ends of the range."""
    times, values = window.times, window.values
    if not times:
        return None
    is_smoothed = window.extension == "smoothed"
    last = len(times) - 1
    first = max(0, bisect_right(times, window.start_ms, 0, last) - 1)
    if is_smoothed:
        last = bisect_left(times, window.end_ms, 0, last)
    if times[last] <= window.start_ms or (is_smoothed and times[first] > window.end_ms):
        return None
    left, right = values[first], values[last]
    if is_smoothed and times[first] < window.start_ms:
        left = _between(window, first, window.start_ms, is_counter=is_counter)
    if is_smoothed and last > 0 and times[last] > window.end_ms:
        right = _between(window, last - 1, window.end_ms, is_counter=is_counter)
    if times[first] <= window.start_ms:
        first += 1
    if times[last] >= window.end_ms:
        last -= 1
    return first, last, left, right


def _extended(window: Window, *, is_counter: bool, is_rate: bool) -> float | None:
    found = _edges(window, is_counter=is_counter)
    if found is None:
        return None
    first, last, left, right = found
    result = right - left
    if is_counter:
        before = left
        for value in (*window.values[first : last + 1], right):
            if value < before:
                result += before
            before = value
    return result / window.seconds if is_rate else result


def extended_samples(window: Window) -> tuple[list[int], list[float]]:
    """Return the samples of an anchored or smoothed range, with one at each end of it."""
    found = _edges(window, is_counter=False)
    if found is None:
        return [], []
    first, last, left, right = found
    inner = slice(first, max(last + 1, first))
    return (
        [window.start_ms, *window.times[inner], window.end_ms],
        [left, *window.values[inner], right],
    )


def anchored(window: Window) -> Sequence[float]:
    """Return the values that `changes` and `resets` compare."""
    if window.extension != "anchored":
        return window.values
    before = bisect_right(window.times, window.start_ms) - 1
    return () if before + 1 >= len(window.times) else window.values[max(before, 0) :]
