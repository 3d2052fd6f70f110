"""From what held when to samples: one per scrape, and a marker of staleness at the first scrape without it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from env_core.observability.promql import STALE, Labels, Series, labels_of
from env_core.observability.series._timeline import Version
from env_core.world import Object

SCRAPE_MS: Final = 15_000


class Row(NamedTuple):
    """One sample of an exposition, without the target's labels."""

    name: str
    labels: Mapping[str, str]
    value: float


RowsOf = Callable[[Object], Iterable[Row]]


def scrapes(start_ms: int, end_ms: int) -> range:
    """Return when targets are scraped in [start, end]."""
    return range(-(-start_ms // SCRAPE_MS) * SCRAPE_MS, end_ms + 1, SCRAPE_MS)


class Sampler:
    """Collects the series of one window of scrapes."""

    def __init__(self, times: range, target: Mapping[str, str]) -> None:
        self._times = times
        self._all = list(times)
        self._target = dict(target)
        self._found: dict[Labels, tuple[list[int], list[float | None]]] = {}
        self._ends: dict[Labels, int] = {}

    def __len__(self) -> int:
        """Return how many scrapes there are."""
        return len(self._all)

    def indexes(self, from_ms: int, until_ms: int) -> tuple[int, int]:
        """Return the scrapes in [from, until) as a half-open range of indexes."""
        return bisect_left(self._times, from_ms), bisect_left(self._times, until_ms)

    def times(self, first: int, last: int) -> list[int]:
        """Return when these scrapes are."""
        return self._all[first:last]

    def add(self, row: Row, first: int, last: int) -> None:
        """Add a row that holds in a range of scrapes; ranges of one series rise."""
        self.add_values(row.name, row.labels, first, [row.value] * (last - first))

    def add_values(
        self, name: str, labels: Mapping[str, str], first: int, values: Sequence[float | None]
    ) -> None:
        """Add a series' values from one scrape on."""
        if not values:
            return
        key = labels_of({**self._target, **labels, "__name__": name})
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = ([], [])
        elif self._ends[key] < first:
            found[0].append(self._all[self._ends[key]])
            found[1].append(STALE)
        found[0].extend(self._all[first : first + len(values)])
        found[1].extend(values)
        self._ends[key] = first + len(values)

    def series(self) -> list[Series]:
        """Return the series, sorted by labels."""
        count = len(self._all)
        for key, end in self._ends.items():
            if end < count:
                times, values = self._found[key]
                times.append(self._all[end])
                values.append(STALE)
        return [Series(key, *self._found[key]) for key in sorted(self._found)]


def sample_objects(sampler: Sampler, objects: Iterable[Sequence[Version]], rows_of: RowsOf) -> None:
    """Add the rows of every version of every object."""
    for versions in objects:
        for version in versions:
            first, last = sampler.indexes(version.from_ms, version.until_ms)
            if first < last:
                for row in rows_of(version.object):
                    sampler.add(row, first, last)
