"""Quantiles and fractions of classic histograms.

Source: github.com/prometheus/prometheus promql/quantile.go.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final, NamedTuple

_FLOAT: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)\Z", re.IGNORECASE
)
_TOLERANCE: Final = 1e-12
_SMALLEST_NORMAL: Final = 2.2250738585072014e-308


class Bucket(NamedTuple):
    """How many observations (`total`) were at most `bound`."""

    bound: float
    total: float


class Forced(NamedTuple):
    """Which buckets had to be raised to those below them, and by how much at most."""

    low: float
    high: float
    difference: float


def upper_bound(text: str) -> float | None:
    """Return the number in a `le` label, or None."""
    return float(text) if _FLOAT.match(text) else None


def _coalesced(buckets: Iterable[Bucket]) -> list[Bucket]:
    counts: dict[float, float] = {}
    for bound, count in sorted(buckets, key=lambda bucket: bucket.bound):
        counts[bound] = counts[bound] + count if bound in counts else count
    return [Bucket(bound, count) for bound, count in counts.items()]


def _almost_equal(first: float, second: float) -> bool:
    if math.isnan(first) and math.isnan(second):
        return True
    if first == second:
        return True
    total, difference = abs(first) + abs(second), abs(first - second)
    if first == 0 or second == 0 or total < _SMALLEST_NORMAL:
        return difference < _TOLERANCE * _SMALLEST_NORMAL
    return difference / min(total, 1.7976931348623157e308) < _TOLERANCE


def _monotonic(buckets: list[Bucket]) -> tuple[list[Bucket], Forced | None]:
    low, high, difference = math.inf, -math.inf, 0.0
    before = buckets[0].total
    out = [buckets[0]]
    for bound, count in buckets[1:]:
        if count == before or _almost_equal(before, count):
            count = before
        elif count < before:
            low, high = min(low, bound), max(high, bound)
            difference = max(difference, before - count)
            count = before
        before = count
        out.append(Bucket(bound, count))
    return out, Forced(low, high, difference) if high > -math.inf else None


def bucket_quantile(fraction: float, found: Iterable[Bucket]) -> tuple[float, Forced | None]:
    """Return the quantile, interpolated within its bucket."""
    if math.isnan(fraction):
        return math.nan, None
    if not 0 <= fraction <= 1:
        return math.copysign(math.inf, fraction - 0.5), None
    buckets = _coalesced(found)
    if buckets[-1].bound != math.inf:
        return math.nan, None
    buckets, forced = _monotonic(buckets)
    if len(buckets) < 2 or buckets[-1].total == 0:
        return math.nan, forced
    rank = fraction * buckets[-1].total
    index = bisect_left(buckets, rank, 0, len(buckets) - 1, key=lambda bucket: bucket.total)
    if index == len(buckets) - 1:
        return buckets[-2].bound, forced
    if index == 0 and buckets[0].bound <= 0:
        return buckets[0].bound, forced
    start, count = 0.0, buckets[index].total
    if index > 0:
        start = buckets[index - 1].bound
        count -= buckets[index - 1].total
        rank -= buckets[index - 1].total
    share = rank / count if count else math.nan
    return start + (buckets[index].bound - start) * share, forced


def bucket_fraction(lower: float, upper: float, found: Iterable[Bucket]) -> float:
    """Return the share of observations between two values."""
    buckets = _coalesced(found)
    total = buckets[-1].total
    if buckets[-1].bound != math.inf or total == 0 or math.isnan(lower) or math.isnan(upper):
        return math.nan
    if lower >= upper:
        return 0.0

    def rank_of(value: float) -> float:
        rank = 0.0
        start = 0.0 if buckets[0].bound > 0 else -math.inf
        for bound, count in buckets:
            if start >= value:
                return rank
            if bound > value:
                if start == -math.inf:
                    return count
                return rank + (count - rank) * (value - start) / (bound - start)
            rank, start = count, bound
        return total

    return (min(rank_of(upper), total) - min(rank_of(lower), total)) / total
