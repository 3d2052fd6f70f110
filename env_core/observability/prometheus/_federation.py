"""Federation: the newest samples of selected series, in the text format.

Source: https://prometheus.io/docs/prometheus/latest/federation/
"""

from __future__ import annotations

from typing import Final

from env_core.observability.exposition import UNTYPED, Family, Metric, to_text
from env_core.observability.prometheus._api import Answer
from env_core.observability.prometheus._parameters import BadParameter, Parameters, matcher_sets
from env_core.observability.promql import LOOKBACK_MS, Labels, Source

PATH: Final = "/federate"
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


def federated(source: Source, now_ms: int, parameters: Parameters) -> Answer:
    """Answer a request of another server for series."""
    try:
        sets = matcher_sets(parameters)
    except BadParameter as problem:
        return Answer(400, f"{problem}\n", "text/plain; charset=utf-8")
    found: dict[Labels, tuple[int, float]] = {}
    for matchers in sets:
        for series in source.select(matchers, now_ms - LOOKBACK_MS, now_ms):
            sample = series.latest(now_ms, LOOKBACK_MS)
            if sample is not None:
                found[series.labels] = sample
    families: dict[str, list[Metric]] = {}
    for labels in sorted(found):
        own = dict(labels)
        name = own.pop("__name__")
        at_ms, value = found[labels]
        own.setdefault("instance", "")
        metric = Metric(kind=UNTYPED, value=value, labels=tuple(sorted(own.items())), timestamp_ms=at_ms)
        families.setdefault(name, []).append(metric)
    rows = [Family(name=name, type=UNTYPED, metrics=tuple(families[name])) for name in sorted(families)]
    return Answer(200, to_text(rows), _TEXT)
