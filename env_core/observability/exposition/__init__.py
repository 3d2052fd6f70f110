"""The text formats in which programs expose metrics."""

from env_core.observability.exposition._linting import lint
from env_core.observability.exposition._model import (
    COUNTER,
    GAUGE,
    HISTOGRAM,
    SUMMARY,
    UNTYPED,
    Distribution,
    ExpositionError,
    Family,
    Metric,
)
from env_core.observability.exposition._parsing import parse_text
from env_core.observability.exposition._writing import to_openmetrics, to_text

__all__ = [
    "COUNTER",
    "GAUGE",
    "HISTOGRAM",
    "SUMMARY",
    "UNTYPED",
    "Distribution",
    "ExpositionError",
    "Family",
    "Metric",
    "lint",
    "parse_text",
    "to_openmetrics",
    "to_text",
]
