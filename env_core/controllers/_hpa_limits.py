"""How fast and how far an autoscaler may go: bounds, rates, and what was recommended before.

Source: k8s.io/kubernetes pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicas,
normalizeDesiredReplicasWithBehaviors); tests/golden/l0/hpa_math.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from env_core.world import Object

DOWNSCALE_STABILIZATION_MS = 300_000
"""Source: kube-controller-manager --horizontal-pod-autoscaler-downscale-stabilization."""
_KEPT_MAX: Final = 400
_UNBOUNDED: Final = 2**31 - 1
_IN_RANGE: Final = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_MANY: Final = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW: Final = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_UP_LIMIT: Final = (
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
)
_DOWN_LIMIT: Final = (
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
)
_READY: Final = ("ReadyForNewScale", "recommended size matches current size")
_UP_STABILIZED: Final = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_DOWN_STABILIZED: Final = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)


class Past(NamedTuple):
    """What an autoscaler remembers, newest last: what was recommended, and by how much it scaled."""

    recommendations: tuple[tuple[int, int], ...] = ()
    """(replicas, time)."""
    ups: tuple[tuple[int, int], ...] = ()
    """(change, time)."""
    downs: tuple[tuple[int, int], ...] = ()

    def recommended(self, replicas: int, now_ms: int) -> Past:
        """Return the past with one recommendation more."""
        return self._replace(recommendations=(*self.recommendations[-_KEPT_MAX:], (replicas, now_ms)))

    def scaled(self, before: int, after: int, now_ms: int) -> Past:
        """Return the past with one change more."""
        if after > before:
            return self._replace(ups=(*self.ups[-_KEPT_MAX:], (after - before, now_ms)))
        return self._replace(downs=(*self.downs[-_KEPT_MAX:], (before - after, now_ms)))


class Limited(NamedTuple):
    """A number within the limits, and the reasons and texts of the conditions AbleToScale and ScalingLimited."""

    replicas: int
    able: tuple[str, str]
    limited: tuple[str, str]
    is_limited: bool
    past: Past


def limited(
    behavior: Object | None,
    past: Past,
    *,
    current: int,
    desired: int,
    minimum: int,
    maximum: int,
    now_ms: int,
) -> Limited:
    """Return the desired replicas within all limits."""
    if behavior is None:
        stable, able = _plainly_stable(past, desired, now_ms)
        replicas, reason = within_bounds(current, stable, minimum, maximum)
    else:
        stable, able = _stable(behavior, past, current, desired, now_ms)
        replicas, reason = _within_rates(behavior, past, current, stable, minimum, maximum, now_ms)
    return Limited(replicas, able, reason, replicas != stable, past.recommended(desired, now_ms))


def _plainly_stable(past: Past, desired: int, now_ms: int) -> tuple[int, tuple[str, str]]:
    cutoff = now_ms - DOWNSCALE_STABILIZATION_MS
    stable = max([desired, *(each for each, at_ms in past.recommendations if at_ms >= cutoff)])
    return stable, _READY if stable == desired else _DOWN_STABILIZED


def within_bounds(current: int, desired: int, minimum: int, maximum: int) -> tuple[int, tuple[str, str]]:
    """Return the desired replicas within the bounds and the fixed rate, and the reason and text for it."""
    fastest = max(2 * current, 4)
    most, reason = (fastest, _UP_LIMIT) if maximum > fastest else (maximum, _TOO_MANY)
    if desired < minimum:
        return minimum, _TOO_FEW
    if desired > most:
        return most, reason
    return desired, _IN_RANGE


def _window_ms(rules: Object, default_ms: int) -> int:
    seconds = rules.get("stabilizationWindowSeconds")
    return default_ms if seconds is None else int(seconds) * 1000


def _stable(
    behavior: Object, past: Past, current: int, desired: int, now_ms: int
) -> tuple[int, tuple[str, str]]:
    up_cutoff = now_ms - _window_ms(behavior.get("scaleUp") or {}, 0)
    down_cutoff = now_ms - _window_ms(behavior.get("scaleDown") or {}, DOWNSCALE_STABILIZATION_MS)
    lowest = min([desired, *(each for each, at_ms in past.recommendations if at_ms > up_cutoff)])
    highest = max([desired, *(each for each, at_ms in past.recommendations if at_ms > down_cutoff)])
    stable = min(max(current, lowest), highest)
    if stable == desired:
        return stable, _READY
    return stable, _UP_STABILIZED if desired >= current else _DOWN_STABILIZED


def _changed(events: Iterable[tuple[int, int]], seconds: int, now_ms: int) -> int:
    return sum(change for change, at_ms in events if at_ms > now_ms - seconds * 1000)


def _within_rates(
    behavior: Object, past: Past, current: int, desired: int, minimum: int, maximum: int, now_ms: int
) -> tuple[int, tuple[str, str]]:
    if desired > current:
        fastest = max(_most(behavior.get("scaleUp") or {}, past, current, now_ms), current)
        most, reason = (fastest, _UP_LIMIT) if maximum > fastest else (maximum, _TOO_MANY)
        if desired > most:
            return most, reason
    elif desired < current:
        slowest = min(_least(behavior.get("scaleDown") or {}, past, current, now_ms), current)
        least, reason = (slowest, _DOWN_LIMIT) if minimum < slowest else (minimum, _TOO_FEW)
        if desired < least:
            return least, reason
    return desired, _IN_RANGE


def _proposals(rules: Object, past: Past, current: int, now_ms: int, *, is_up: bool) -> list[int]:
    found = []
    for policy in rules.get("policies") or ():
        seconds, value = policy["periodSeconds"], policy["value"]
        begun = current - _changed(past.ups, seconds, now_ms) + _changed(past.downs, seconds, now_ms)
        if policy["type"] == "Pods":
            found.append(begun + value if is_up else begun - value)
        elif is_up:
            # In whole numbers: rounded up, lest nothing should change at all.
            found.append(-(-begun * (100 + value) // 100))
        else:
            found.append(int(begun * (1 - value / 100)))
    return found


def _most(rules: Object, past: Past, current: int, now_ms: int) -> int:
    policy = rules.get("selectPolicy")
    if policy == "Disabled":
        return current
    found = _proposals(rules, past, current, now_ms, is_up=True)
    return min(found, default=_UNBOUNDED) if policy == "Min" else max(found, default=0)


def _least(rules: Object, past: Past, current: int, now_ms: int) -> int:
    policy = rules.get("selectPolicy")
    if policy == "Disabled":
        return current
    found = _proposals(rules, past, current, now_ms, is_up=False)
    return max(found, default=0) if policy == "Min" else min(found, default=_UNBOUNDED)
