"""promql/expfmt: metrics in the text format and as OpenMetrics, written and read.

What a record of kind register did is told by its `about` only: its words are done here on the metric of the first record.
"""

from typing import Any

from env_core.observability.exposition import (
    Distribution,
    ExpositionError,
    Family,
    Metric,
    parse_text,
    to_openmetrics,
    to_text,
)
from env_core.observability.exposition._registry import Description, Registry, RegistryPanic, add, with_labels
from tests.golden.comparison import Comparison, Topic
from tests.golden.recordings import Folder, Record

ANSWERS = ("text", "openmetrics", "parsed", "error")
_NAMES = {"Infinity": "inf", "-Infinity": "-inf"}


def _number(value: Any) -> float:
    return float(_NAMES.get(value, value))


def _metric(record: Record) -> Metric:
    kind = next(key for key in record if key not in ("label", "timestampMs"))
    body, value = record[kind], 0.0
    if kind in ("histogram", "summary"):
        steps = [(_number(step["upperBound"]), _number(step["cumulativeCount"])) for step in body.get("bucket", ())]
        steps += [(_number(step["quantile"]), _number(step["value"])) for step in body.get("quantile", ())]
        value = Distribution(count=_number(body["sampleCount"]), sum=_number(body["sampleSum"]), steps=tuple(steps))
    else:
        value = _number(body["value"])
    return Metric(
        kind=kind,
        value=value,
        labels=tuple((label["name"], label["value"]) for label in record.get("label", ())),
        timestamp_ms=int(record["timestampMs"]) if "timestampMs" in record else None,
    )


def _family(record: Record) -> Family:
    return Family(
        name=record.get("name", ""),
        type=record["type"].lower(),
        help=record.get("help"),
        metrics=tuple(_metric(each) for each in record.get("metric", ())),
    )


def _shown(value: float) -> Any:
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return int(value) if value == int(value) else value


def _metric_record(metric: Metric) -> Record:
    value = metric.value
    body: Record
    if isinstance(value, Distribution):
        body = {"sampleCount": str(int(value.count)), "sampleSum": _shown(value.sum)}
        if metric.kind == "histogram":
            body["bucket"] = [
                {"cumulativeCount": str(int(count)), "upperBound": _shown(bound)} for bound, count in value.steps
            ]
        else:
            body["quantile"] = [{"quantile": each, "value": _shown(step)} for each, step in value.steps]
    else:
        body = {"value": _shown(value)}
    record: Record = {metric.kind: body}
    if metric.labels:
        record["label"] = [{"name": name, "value": text} for name, text in metric.labels]
    if metric.timestamp_ms is not None:
        record["timestampMs"] = str(metric.timestamp_ms)
    return record


def _family_record(family: Family) -> Record:
    record: Record = {
        "name": family.name,
        "type": family.type.upper(),
        "metric": [_metric_record(each) for each in family.metrics],
    }
    return record if family.help is None else {**record, "help": family.help}


def _register(about: str) -> None:
    """Do what a record is about."""
    known = Description("g", "H.", ("x",))
    registry = Registry()
    if about == "same name, other help":
        registry.register(Description("g", "Other.", ("x",)))
        registry.register(known)
    elif "same" in about or "twice" in about:
        registry.register(known)
        registry.register(known)
    elif "label values" in about:
        with_labels(Description("g", "H.", ("x", "y")), ("1",))
    elif "negative Add" in about:
        add(-1)


def _judge(record: Record, _folder: Folder) -> Comparison:
    if record["kind"] == "register":
        try:
            _register(record["about"])
        except RegistryPanic as panic:
            return Comparison(record["error"], f"panic: {panic}")
        return Comparison(record["error"], "")
    got: Record = {}
    if record["kind"] == "parse":
        wanted = {field: record[field] for field in ("parsed", "error") if field in record}
        try:
            got["parsed"] = [_family_record(family) for family in parse_text(record["text"])]
        except ExpositionError as error:
            got["error"] = str(error)
        return Comparison(wanted, got)
    families = [_family(each) for each in record.get("families", ())]
    try:
        got["text"] = to_text(families)
    except ExpositionError as error:
        got.update(text=error.written, error=str(error))
    got["openmetrics"] = to_openmetrics(families)
    return Comparison({field: record[field] for field in ANSWERS if field in record}, got)


TOPIC = Topic(name="promql/expfmt", files=("expfmt.jsonl",), answers=ANSWERS, judge=_judge)
