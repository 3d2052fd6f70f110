"""Functions of the samples of one series in a range.

Source: github.com/prometheus/prometheus promql/functions.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from env_core.observability.promql import _sums
from env_core.observability.promql._rates import Window, anchored, extrapolated, instant

ANCHORED_SAFE: Final = ("changes", "delta", "increase", "rate", "resets")
SMOOTHED_SAFE: Final = ("delta", "increase", "rate")
KEEPING_NAME: Final = ("last_over_time", "first_over_time")


def _changes(window: Window) -> float | None:
    values = anchored(window)
    if not values:
        return None
    return float(
        sum(
            after != before and not (math.isnan(after) and math.isnan(before))
            for before, after in pairwise(values)
        )
    )


def _resets(window: Window) -> float | None:
    values = anchored(window)
    return float(sum(after < before for before, after in pairwise(values))) if values else None


def _slope(window: Window) -> float | None:
    if len(window.values) < 2:
        return None
    return _sums.linear_regression(window.times, window.values, window.times[0])[0]


RANGE_FUNCTIONS: Final[dict[str, Callable[[Window], float | None]]] = {
    "avg_over_time": lambda window: _sums.average(window.values),
    "changes": _changes,
    "count_over_time": lambda window: float(len(window.values)),
    "delta": lambda window: extrapolated(window, is_counter=False, is_rate=False),
    "deriv": _slope,
    "first_over_time": lambda window: window.values[0],
    "idelta": lambda window: instant(window, is_rate=False),
    "increase": lambda window: extrapolated(window, is_counter=True, is_rate=False),
    "irate": lambda window: instant(window, is_rate=True),
    "last_over_time": lambda window: window.values[-1],
    "max_over_time": lambda window: _sums.extreme(window.values, lambda value, best: value > best),
    "min_over_time": lambda window: _sums.extreme(window.values, lambda value, best: value < best),
    "present_over_time": lambda _window: 1.0,
    "rate": lambda window: extrapolated(window, is_counter=True, is_rate=True),
    "resets": _resets,
    "stddev_over_time": lambda window: math.sqrt(_sums.variance(window.values)),
    "stdvar_over_time": lambda window: _sums.variance(window.values),
    "sum_over_time": lambda window: _sums.sum_over_time(window.values),
}


def predicted(window: Window, seconds: float, at_ms: int) -> float | None:
    """Return the value that the series would have `seconds` after `at_ms`."""
    if len(window.values) < 2:
        return None
    slope, intercept = _sums.linear_regression(window.times, window.values, at_ms)
    return slope * seconds + intercept
