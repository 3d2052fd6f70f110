"""promql/promql: queries at a moment and over a range, and the other end points of Prometheus's HTTP API."""

import json
from typing import Any

from env_core.observability.prometheus import Api
from env_core.observability.promql import Series, StaticSource, labels_of
from tests.golden.comparison import Comparison, Topic
from tests.golden.normalise import promql_result
from tests.golden.recordings import Folder, Record

ANSWERS = ("httpStatus", "status", "resultType", "result", "data", "warnings", "infos", "errorType", "error", "body")
_PATHS = {"instant": "query", "range": "query_range"}


def source_of(series: list[Record]) -> StaticSource:
    """Return the recorded series ("stale" is a staleness marker)."""
    return StaticSource(
        Series(
            labels_of({**each["labels"], "__name__": each["name"]}),
            [at_ms for at_ms, _ in each["samples"]],
            [None if value == "stale" else float(value) for _, value in each["samples"]],
        )
        for each in series
    )


def _judge(record: Record, _folder: Folder) -> Comparison:
    path = _PATHS.get(record["kind"]) or record["kind"].removeprefix("endpoint:")
    parameters = [("query", record["query"])]
    for name, value in record["params"].items():
        parameters += [(name, each) for each in (value.split("\n") if name == "match[]" else [value])]
    api = Api(source_of(record["series"]), now_ms=1_772_366_400_000)
    answer = api.answer(f"/api/v1/{path}", parameters)
    got: dict[str, Any] = {"httpStatus": answer.code, "status": ""}
    if answer.content_type == "application/json":
        body = json.loads(answer.body)
        data = body.pop("data", None)
        got.update(body)
        if record["kind"] in _PATHS and data is not None:
            got.update(data)
        elif data is not None:
            got["data"] = data
    else:
        got["body"] = answer.body
    wanted = {field: record[field] for field in ANSWERS if field in record}
    order = record.get("order", "")
    return Comparison(promql_result(wanted, order), promql_result(got, order))


TOPIC = Topic(name="promql/promql", files=("promql.jsonl",), answers=ANSWERS, judge=_judge)
