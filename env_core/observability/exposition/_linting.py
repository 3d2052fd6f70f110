"""What is unwise in an exposition.

Source: github.com/prometheus/client_golang prometheus/testutil/promlint; tests/golden/promql/promtool.jsonl.gz.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from env_core.observability.exposition._model import COUNTER, HISTOGRAM, SUMMARY, UNTYPED, Family

_CAMEL: Final = re.compile("[a-z][A-Z]")
_TYPES: Final = ("counter", "gauge", "summary", "histogram", "gauge_histogram")
_BASES: Final = (
    "amperes",
    "bytes",
    "celsius",
    "grams",
    "joules",
    "kelvin",
    "meters",
    "metres",
    "seconds",
    "volts",
)
_UNITS: Final = {
    **{base: base for base in _BASES},
    **dict.fromkeys(("minutes", "hours", "days", "weeks"), "seconds"),
    **{"kelvins": "kelvin", "fahrenheit": "celsius", "rankine": "celsius", "calories": "joules"},
    **dict.fromkeys(("inches", "yards", "miles"), "meters"),
    **{"bits": "bytes", "pounds": "grams", "ounces": "grams"},
}
_PREFIXES: Final = (
    *("pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo", "kibi"),
    *("mega", "mibi", "giga", "gibi", "tera", "tebi", "peta", "pebi", ""),
)
_ABBREVIATIONS: Final = ("s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d")


def lint(families: Iterable[Family]) -> list[tuple[str, str]]:
    """Return (metric, problem), sorted."""
    return sorted((family.name, problem) for family in families for problem in _problems(family))


def _has_part(name: str, part: str) -> bool:
    return f"_{part}_" in name or name.endswith(f"_{part}")


def _problems(family: Family) -> Iterator[str]:
    name, lower = family.name, family.name.lower()
    if family.help is None:
        yield "no help text"
    parts = set(name.split("_"))
    for unit, base in _UNITS.items():
        prefix = next((each for each in _PREFIXES if each + unit in parts), None)
        if prefix is not None:
            if prefix + unit != base:
                yield f'use base unit "{base}" instead of "{prefix}{unit}"'
            break
    if family.type != UNTYPED:
        yield from _reserved(family)
    for each in _TYPES:
        if _has_part(lower, each):
            yield f"metric name should not include type '{each}'"
    if ":" in name:
        yield "metric names should not contain ':'"
    if _CAMEL.search(name):
        yield "metric names should be written in 'snake_case' not 'camelCase'"
    for metric in family.metrics:
        for label, _ in metric.labels:
            if _CAMEL.search(label):
                yield "label names should be written in 'snake_case' not 'camelCase'"
    for each in _ABBREVIATIONS:
        if _has_part(lower, each):
            yield "metric names should not contain abbreviated units"


def _reserved(family: Family) -> Iterator[str]:
    name, type_ = family.name, family.type
    if type_ == COUNTER and not name.endswith("_total"):
        yield 'counter metrics should have "_total" suffix'
    if type_ != COUNTER and name.endswith("_total"):
        yield 'non-counter metrics should not have "_total" suffix'
    if type_ != HISTOGRAM and name.endswith("_bucket"):
        yield 'non-histogram metrics should not have "_bucket" suffix'
    for ending in ("_count", "_sum"):
        if type_ not in (HISTOGRAM, SUMMARY) and name.endswith(ending):
            yield f'non-histogram and non-summary metrics should not have "{ending}" suffix'
    for metric in family.metrics:
        for label, _ in metric.labels:
            if type_ != HISTOGRAM and label == "le":
                yield 'non-histogram metrics should not have "le" label'
            if type_ != SUMMARY and label == "quantile":
                yield 'non-summary metrics should not have "quantile" label'
