"""Clocks, percentiles, resident memory, profiles: what every row measures with."""

from __future__ import annotations

import cProfile
import gc
import io
import math
import os
import pstats
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PLACES = 4


def rounded(value: float) -> float:
    """Return a number with four significant digits."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, _PLACES - 1 - math.floor(math.log10(abs(value))))


def timed_ms(action: Callable[[], object]) -> float:
    """Return how many milliseconds `action` takes."""
    started = perf_counter()
    action()
    return (perf_counter() - started) * 1_000


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the median, the 95th percentile, the extremes and the count."""
    return {
        "p50": rounded(statistics.median(values)),
        "p95": rounded(percentile(values, 0.95)),
        "min": rounded(min(values)),
        "max": rounded(max(values)),
        "n": len(values),
    }


def resident_kib() -> float:
    """Return this process's resident memory in KiB."""
    with open("/proc/self/statm", encoding="ascii") as source:
        return int(source.read().split()[1]) * _PAGE_BYTES / 1_024


@contextmanager
def collected() -> Iterator[None]:
    """Begin without garbage, so that a measurement does not pay for the one before it."""
    gc.collect()
    yield


class Profile:
    """Collects profiles by row; a run without one costs nothing."""

    def __init__(self, *, is_on: bool, lines: int = 25) -> None:
        self.is_on = is_on
        self._lines = lines
        self.texts: dict[str, str] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Profile a block, when profiles are asked for."""
        if not self.is_on:
            yield
            return
        profiler = cProfile.Profile()
        profiler.enable()
        try:
            yield
        finally:
            profiler.disable()
            stats = pstats.Stats(profiler)
            parts = "\n".join(f"{share:7.1%}  {part}" for part, share in _parts(stats)[: self._lines])
            tables = [_table(profiler, order, self._lines) for order in ("tottime", "cumulative")]
            self.texts[name] = "\n".join(("own time by module", parts, *tables))


def _parts(stats: pstats.Stats) -> list[tuple[str, float]]:
    """Return the share of own time by module, built-in functions counted where they are called."""
    own: Counter[str] = Counter()
    for function, (_calls, _primitive, spent, _total, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if function[0] == "~":
            for caller, (_c, _p, spent_there, _t) in callers.items():
                own[_module(caller[0])] += spent_there
        else:
            own[_module(function[0])] += spent
    total = sum(own.values())
    return [(part, spent / total) for part, spent in own.most_common()]


def _module(path: str) -> str:
    return path.removeprefix(f"{os.getcwd()}/") if path != "~" else "built in"


def _table(profiler: cProfile.Profile, order: str, lines: int) -> str:
    target = io.StringIO()
    pstats.Stats(profiler, stream=target).sort_stats(order).print_stats(lines)
    here = f"{os.getcwd()}/"
    rows = [line.replace(here, "") for line in target.getvalue().splitlines() if line.strip()]
    return "\n".join(rows)
