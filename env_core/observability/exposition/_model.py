"""Metric families as client libraries hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.observability.promql import general
from env_core.observability.promql._numbers import quote

COUNTER: Final = "counter"
GAUGE: Final = "gauge"
SUMMARY: Final = "summary"
HISTOGRAM: Final = "histogram"
UNTYPED: Final = "untyped"
TYPES: Final = (COUNTER, GAUGE, SUMMARY, HISTOGRAM, UNTYPED)


class ExpositionError(Exception):
    """What cannot be written, or read; the text is Prometheus's.

    `written` is what stands before the fault.
    """

    def __init__(self, text: str, written: str = "") -> None:
        super().__init__(text)
        self.written = written


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A summary's or histogram's numbers; `steps` are (quantile, value) or (upper bound, cumulative count)."""

    count: float = 0
    sum: float = 0.0
    steps: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One member of a family. `kind` is the type of its own value."""

    kind: str
    value: float | Distribution
    labels: tuple[tuple[str, str], ...] = ()
    timestamp_ms: int | None = None

    def described(self) -> str:
        """Return the metric in protobuf's text form, as errors show it."""
        parts = [f"label:{{name:{quote(name)} value:{quote(value)}}}" for name, value in self.labels]
        if not isinstance(self.value, Distribution):
            parts.append(f"{self.kind}:{{value:{general(self.value)}}}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Metrics of one name. Without `help` there is no HELP line."""

    name: str
    type: str
    help: str | None = None
    metrics: tuple[Metric, ...] = ()

    def described(self) -> str:
        """Return the family in protobuf's text form, as errors show it."""
        parts = [f"name:{quote(self.name)}"] if self.name else []
        parts += [f"help:{quote(self.help)}"] if self.help is not None else []
        parts.append(f"type:{self.type.upper()}")
        parts += [f"metric:{{{metric.described()}}}" for metric in self.metrics]
        return " ".join(parts)
