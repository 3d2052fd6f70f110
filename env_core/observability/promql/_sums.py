"""Sums with compensation, and what is made of them.

Source: github.com/prometheus/prometheus util/kahansum and promql/functions.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def added(amount: float, total: float, lost: float) -> tuple[float, float]:
    """Return a sum and what rounding has lost of it so far (Neumaier)."""
    result = total + amount
    if math.isinf(result):
        return result, 0.0
    if abs(total) >= abs(amount):
        return result, lost + ((total - result) + amount)
    return result, lost + ((amount - result) + total)


def compensated_sum(values: Sequence[float]) -> float:
    """Return the sum of at least one value."""
    total, lost = values[0], 0.0
    for value in values[1:]:
        total, lost = added(value, total, lost)
    return total + lost


def sum_over_time(values: Sequence[float]) -> float:
    """Return the sum of a range."""
    total = lost = 0.0
    for value in values:
        total, lost = added(value, total, lost)
    return total if math.isinf(total) else total + lost


def average(values: Sequence[float]) -> float:
    """Return the mean; from where the sum would overflow, it is carried as a running mean."""
    total, lost, mean = values[0], 0.0, 0.0
    is_running = False
    count = 1.0
    for count, value in enumerate(values[1:], start=2):
        if not is_running:
            new_total, new_lost = added(value, total, lost)
            if not math.isinf(new_total):
                total, lost = new_total, new_lost
                continue
            is_running = True
            mean = total / (count - 1)
            lost /= count - 1
        share = (count - 1) / count
        mean, lost = added(value / count, share * mean, share * lost)
    return mean + lost if is_running else total / count + lost / count


def variance(values: Sequence[float]) -> float:
    """Return the variance over a range."""
    mean = mean_lost = squares = squares_lost = 0.0
    for count, value in enumerate(values, start=1):
        delta = value - (mean + mean_lost)
        mean, mean_lost = added(delta / count, mean, mean_lost)
        squares, squares_lost = added(delta * (value - (mean + mean_lost)), squares, squares_lost)
    return (squares + squares_lost) / len(values)


def plain_variance(values: Sequence[float]) -> float:
    """Return the variance as the aggregations have it, without compensation."""
    mean, squares = values[0], 0.0
    if math.isnan(mean) or math.isinf(mean):
        squares = math.nan
    for count, value in enumerate(values[1:], start=2):
        delta = value - mean
        mean += delta / count
        squares += delta * (value - mean)
    return squares / len(values)


def quantile(fraction: float, values: Sequence[float]) -> float:
    """Return a quantile, interpolated; NaN sorts first."""
    if not values or math.isnan(fraction):
        return math.nan
    if fraction < 0:
        return -math.inf
    if fraction > 1:
        return math.inf
    ordered = sorted(values, key=ascending)
    rank = fraction * (len(ordered) - 1)
    lower = max(0, math.floor(rank))
    upper = min(len(ordered) - 1, lower + 1)
    weight = rank - math.floor(rank)
    return ordered[lower] * (1 - weight) + ordered[upper] * weight


def ascending(value: float) -> tuple[bool, float]:
    """Return a key that sorts NaN before everything."""
    return (False, 0.0) if math.isnan(value) else (True, value)


def extreme(values: Sequence[float], is_better: Callable[[float, float], bool]) -> float:
    """Return the largest or smallest value; NaN only if there is nothing else."""
    best = values[0]
    for value in values[1:]:
        if is_better(value, best) or math.isnan(best):
            best = value
    return best


def linear_regression(
    times: Sequence[int], values: Sequence[float], intercept_ms: int
) -> tuple[float, float]:
    """Return slope (per second) and intercept of the least-squares line."""
    if all(value == values[0] for value in values):
        if math.isinf(values[0]):
            return math.nan, math.nan
        return 0.0, values[0]
    count = float(len(values))
    sums = [(0.0, 0.0)] * 4
    for at_ms, value in zip(times, values, strict=True):
        x = (at_ms - intercept_ms) / 1e3
        parts = (x, value, x * value, x * x)
        sums = [added(part, *so_far) for part, so_far in zip(parts, sums, strict=True)]
    sum_x, sum_y, sum_xy, sum_xx = (total + lost for total, lost in sums)
    covariance = sum_xy - sum_x * sum_y / count
    spread = sum_xx - sum_x * sum_x / count
    slope = covariance / spread
    return slope, sum_y / count - slope * sum_x / count
