"""Figures for operators. Counting is plain arithmetic; Prometheus's forms are made when somebody asks."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from server.sessions import SessionTable, resident_mb

_BOUNDS_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Latency:
    """A histogram of durations in seconds."""

    __slots__ = ("_counts", "sum_s")

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS_S) + 1)
        self.sum_s = 0.0

    def note(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(_BOUNDS_S, seconds)] += 1
        self.sum_s += seconds

    @property
    def count(self) -> int:
        """How many were counted."""
        return sum(self._counts)

    def buckets(self) -> list[tuple[str, float]]:
        """Return cumulative counts by upper bound."""
        total = 0
        result: list[tuple[str, float]] = []
        for bound, count in zip([*map(str, _BOUNDS_S), "+Inf"], self._counts, strict=True):
            total += count
            result.append((bound, total))
        return result


class Metrics(Collector):
    """What the server counts."""

    def __init__(self, table: SessionTable, episodes_max: int) -> None:
        self._table = table
        self._episodes_max = episodes_max
        self.resets = 0
        self.episodes_done = 0
        self.errors: Counter[str] = Counter()
        self.step = Latency()
        self.reset = Latency()
        self.call = Latency()
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield every figure in Prometheus's form."""
        yield GaugeMetricFamily("kubedrill_sessions", "Sessions that hold a slot.", value=len(self._table))
        yield GaugeMetricFamily("kubedrill_sessions_max", "Slots.", value=self._episodes_max)
        yield GaugeMetricFamily(
            "kubedrill_episodes_live", "Episodes that can still be played.", value=self._table.episodes_live
        )
        yield GaugeMetricFamily(
            "kubedrill_resident_bytes", "Resident memory.", value=resident_mb() * 1_048_576
        )
        yield CounterMetricFamily("kubedrill_resets", "Episodes begun.", value=self.resets)
        yield CounterMetricFamily("kubedrill_steps", "Steps taken.", value=self.step.count)
        yield CounterMetricFamily(
            "kubedrill_episodes_done", "Episodes played to their end.", value=self.episodes_done
        )
        yield CounterMetricFamily(
            "kubedrill_sessions_refused",
            "Resets and sockets refused for want of a slot.",
            value=self._table.refused,
        )
        yield CounterMetricFamily(
            "kubedrill_sessions_idle",
            "Sessions ended because nobody used them.",
            value=self._table.ended_idle,
        )
        errors = CounterMetricFamily(
            "kubedrill_errors", "Requests answered with an error, by its code.", labels=["code"]
        )
        for code, count in sorted(self.errors.items()):
            errors.add_metric([code], count)
        yield errors
        yield HistogramMetricFamily(
            "kubedrill_step_seconds",
            "Time to carry out a step.",
            buckets=self.step.buckets(),
            sum_value=self.step.sum_s,
        )
        yield HistogramMetricFamily(
            "kubedrill_call_seconds",
            "Time to answer a request to an episode's Kubernetes API.",
            buckets=self.call.buckets(),
            sum_value=self.call.sum_s,
        )
        yield HistogramMetricFamily(
            "kubedrill_reset_seconds",
            "Time to begin an episode.",
            buckets=self.reset.buckets(),
            sum_value=self.reset.sum_s,
        )

    def text(self) -> bytes:
        """Return the exposition."""
        return generate_latest(self._registry)
