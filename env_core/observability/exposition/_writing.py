"""Metrics written in the text format 0.0.4 and as OpenMetrics.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/; github.com/prometheus/common expfmt; recorded in
tests/golden/promql/expfmt.jsonl.gz.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final

from env_core.observability.exposition._model import (
    COUNTER,
    HISTOGRAM,
    SUMMARY,
    UNTYPED,
    Distribution,
    ExpositionError,
    Family,
    Metric,
)
from env_core.observability.promql import general
from env_core.observability.promql._labels import is_metric_name, is_plain_name

_TOTAL: Final = "_total"


def to_text(families: Iterable[Family]) -> str:
    """Return metrics in the text format 0.0.4.

    Raises:
        ExpositionError: for a family without a name or metrics, or with a metric of another type.
    """
    out: list[str] = []
    for family in families:
        for problem, is_wrong in (("name", not family.name), ("metrics", not family.metrics)):
            if is_wrong:
                raise ExpositionError(f"MetricFamily has no {problem}: {family.described()}", "".join(out))
        out += _head(family.name, family.help, family.type, _escaped_help)
        for metric in family.metrics:
            if metric.kind != family.type:
                text = f"expected {family.type} in metric {family.name} {metric.described()}"
                raise ExpositionError(text, "".join(out))
            stamp = "" if metric.timestamp_ms is None else f" {metric.timestamp_ms}"
            out += _metric(family.name, metric, general, general, stamp)
    return "".join(out)


def to_openmetrics(families: Iterable[Family]) -> str:
    """Return metrics as OpenMetrics 1.0; what is of another type than its family is left out."""
    out: list[str] = []
    for family in families:
        if not family.name:
            continue
        name, kind = family.name, family.type
        if kind == COUNTER:
            # A counter without the suffix is none.
            kind = COUNTER if name.endswith(_TOTAL) else "unknown"
        elif kind == UNTYPED:
            kind = "unknown"
        shown = name.removesuffix(_TOTAL) if kind == COUNTER else name
        out += _head(shown, family.help, kind, _escaped)
        for metric in family.metrics:
            if metric.kind == family.type:
                stamp = "" if metric.timestamp_ms is None else f" {_float(metric.timestamp_ms / 1000)}"
                out += _metric(name, metric, _float, general, stamp)
    return "".join([*out, "# EOF\n"])


def _head(name: str, text: str | None, kind: str, escape: Callable[[str], str]) -> list[str]:
    shown = name if is_metric_name(name) else f'"{_escaped(name)}"'
    lines = [] if text is None else [f"# HELP {shown} {escape(text)}\n"]
    return [*lines, f"# TYPE {shown} {kind}\n"]


def _metric(
    name: str,
    metric: Metric,
    number: Callable[[float], str],
    count: Callable[[float], str],
    stamp: str,
) -> list[str]:
    value = metric.value
    if not isinstance(value, Distribution):
        return [f"{_series(name, metric.labels)} {number(value)}{stamp}\n"]
    lines = []
    if metric.kind == SUMMARY:
        for quantile, each in value.steps:
            labels = (*metric.labels, ("quantile", number(quantile)))
            lines.append(f"{_series(name, labels)} {number(each)}{stamp}\n")
    else:
        steps = value.steps
        if not steps or steps[-1][0] != math.inf:
            steps = (*steps, (math.inf, value.count))
        for bound, each in steps:
            labels = (*metric.labels, ("le", number(bound)))
            lines.append(f"{_series(f'{name}_bucket', labels)} {count(each)}{stamp}\n")
    lines.append(f"{_series(f'{name}_sum', metric.labels)} {number(value.sum)}{stamp}\n")
    lines.append(f"{_series(f'{name}_count', metric.labels)} {count(value.count)}{stamp}\n")
    assert metric.kind in (SUMMARY, HISTOGRAM)
    return lines


def _series(name: str, labels: tuple[tuple[str, str], ...]) -> str:
    parts = [
        f'{label if is_plain_name(label) else _quoted(label)}="{_escaped(value)}"' for label, value in labels
    ]
    if is_metric_name(name):
        return name + ("{" + ",".join(parts) + "}" if parts else "")
    return "{" + ",".join([_quoted(name), *parts]) + "}"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _escaped_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _float(value: float) -> str:
    """Return a number as OpenMetrics has it: always with a point or an exponent."""
    text = general(value)
    return f"{text}.0" if text.lstrip("-").isdigit() else text
