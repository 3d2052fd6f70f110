"""Completion indexes of Jobs: sets of numbers, kept and written as intervals ("0,2-4").

Source: k8s.io/kubernetes pkg/controller/job indexed_job_utils.go; tests/golden/l0/job_math.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from env_core.objects.goint import INT32_MAX, IntegerError, atoi

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"


class Interval(NamedTuple):
    """The numbers from `first` to `last`."""

    first: int
    last: int


class Indexes(tuple[Interval, ...]):
    """Intervals in rising order. What was written by others may be out of order; it is kept as it is."""

    __slots__ = ()

    def __str__(self) -> str:
        texts = []
        for first, last in self:
            if last <= first:
                texts.append(f"{first}")
            else:
                texts.append(f"{first}{',' if last == first + 1 else '-'}{last}")
        return ",".join(texts)

    def total(self) -> int:
        """Return how many numbers the intervals hold."""
        return sum(last - first + 1 for first, last in self)

    def has(self, index: int) -> bool:
        """Say whether one of the intervals holds a number."""
        return any(first <= index <= last for first, last in self)

    def merged(self, others: Iterable[Interval]) -> Indexes:
        """Return these and other intervals; neighbours become one."""
        found: list[Interval] = []
        for first, last in sorted([*self, *others]):
            if not found or first > found[-1].last + 1:
                found.append(Interval(first, last))
            elif found[-1].last < last:
                found[-1] = Interval(found[-1].first, last)
        return Indexes(found)

    def with_numbers(self, numbers: Iterable[int]) -> Indexes:
        """Return these intervals with single numbers added."""
        return self.merged(Interval(number, number) for number in numbers)


NO_INDEXES = Indexes()


def parse_indexes(text: str, completions: int) -> Indexes:
    """Return what a status field says, as far as it lies below `completions`; what is no number is left out."""
    found: list[Interval] = []
    for part in text.split(",") if text else ():
        limits = part.split("-")
        first = _number(limits[0])
        if first is None:
            continue
        if first >= completions:
            break
        last = first if len(limits) == 1 else _number(limits[1])
        if last is None:
            continue
        last = min(last, completions - 1)
        if found and found[-1].last == first - 1:
            found[-1] = Interval(found[-1].first, last)
        else:
            found.append(Interval(first, last))
    return Indexes(found)


def _number(text: str) -> int | None:
    try:
        return atoi(text)
    except IntegerError:
        return None


def first_free(taken: Indexes, count: int, completions: int) -> list[int]:
    """Return the lowest `count` numbers below `completions` that are not taken."""
    found: list[int] = []
    candidate = 0
    for first, last in (*taken, Interval(completions, completions)):
        free = range(candidate, min(first, completions))
        found.extend(free[: count - len(found)])
        candidate = max(candidate, last + 1)
    return found


def index_of(annotations: Mapping[str, str]) -> int | None:
    """Return a pod's completion index, None if it has none that is valid."""
    number = _number(annotations.get(INDEX, ""))
    return number if number is not None and number >= 0 else None


def failure_count(annotations: Mapping[str, str], key: str = FAILURES) -> int:
    """Return how often an index had failed before a pod, 0 if that is not said or no 32-bit number."""
    number = _number(annotations.get(key, ""))
    return number if number is not None and 0 <= number <= INT32_MAX else 0


def absolute_failure_count(annotations: Mapping[str, str]) -> int:
    """Return how often an index had failed before a pod, with the failures that a policy ignored."""
    return failure_count(annotations) + failure_count(annotations, IGNORED_FAILURES)
