"""Shares of successes: their intervals, and whether two differ."""

from __future__ import annotations

import math


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's score interval of a share; (0, 1) for none."""
    if not n:
        return 0.0, 1.0
    share, extra = successes / n, z * z / n
    middle = (share + extra / 2) / (1 + extra)
    half = z * math.sqrt(share * (1 - share) / n + extra / (4 * n)) / (1 + extra)
    return max(0.0, middle - half), min(1.0, middle + half)


def z_of(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return z of the difference of two shares, given as successes and number, with the pooled variance."""
    (a, m), (b, n) = before, after
    pooled = (a + b) / (m + n)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / m + 1 / n))
    return (b / n - a / m) / spread if spread else 0.0
