"""Prometheus's HTTP API, version 1.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/ and github.com/prometheus/prometheus web/api/v1;
recorded in tests/golden/promql.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

import orjson

from env_core.observability.prometheus import _parameters as parameters_of
from env_core.observability.prometheus._parameters import BadParameter, Parameters, invalid
from env_core.observability.prometheus._tree import tree_of
from env_core.observability.promql import (
    Engine,
    EvaluationError,
    InvalidQuery,
    Labels,
    Matcher,
    ParseError,
    Result,
    Series,
    Source,
    api_number,
    parse,
    plain_number,
    pretty,
)
from env_core.observability.promql._numbers import api_time, quote
from env_core.world import Object

PREFIX: Final = "/api/v1/"
NOT_FOUND: Final = "404 page not found\n"
_POINTS_MAX: Final = 11_000
_TRUNCATED: Final = "results truncated due to limit"
_FOREVER_MS: Final = 1 << 62


class Answer(NamedTuple):
    """An HTTP answer."""

    code: int
    body: str
    content_type: str = "application/json"


class _Data(NamedTuple):
    data: Any
    warnings: tuple[str, ...] = ()
    infos: tuple[str, ...] = ()


class Rules(Protocol):
    """The state of rules and alerts, as the API answers with it."""

    def groups(self, kind: str) -> list[Object]:
        """Return the groups with their rules; `kind` is "", "alert" or "record"."""

    def alerts(self) -> list[Object]:
        """Return the alerts that are pending or firing."""


class NoRules:
    """A Prometheus without rules."""

    def groups(self, kind: str) -> list[Object]:
        """Return no group."""
        del kind
        return []

    def alerts(self) -> list[Object]:
        """Return no alert."""
        return []


class Api:
    """Answers GET and POST requests for paths under /api/v1/."""

    def __init__(
        self,
        source: Source,
        now_ms: int,
        rules: Rules | None = None,
        targets: Callable[[], Object] | None = None,
    ) -> None:
        self._source = source
        self._now_ms = now_ms
        self._rules = rules or NoRules()
        self._targets = targets

    def answer(self, path: str, parameters: Parameters) -> Answer:
        """Answer one request; `path` is what stands before the query."""
        name = path.removeprefix(PREFIX)
        handler: Callable[[Parameters], _Data] | None = None
        if name.startswith("label/") and name.endswith("/values"):
            handler = partial(self._label_values, name.removeprefix("label/").removesuffix("/values"))
        elif name in _HANDLERS:
            handler = _HANDLERS[name](self)
        if handler is None or not path.startswith(PREFIX):
            return Answer(404, NOT_FOUND, "text/plain; charset=utf-8")
        try:
            data, warnings, infos = handler(parameters)
        except BadParameter as problem:
            return _failed(400, "bad_data", str(problem))
        except EvaluationError as problem:
            return _failed(422, "execution", str(problem))
        body: Object = {"status": "success", "data": data}
        if warnings:
            body["warnings"] = list(warnings)
        if infos:
            body["infos"] = list(infos)
        return Answer(200, _json(body))

    # Queries

    def _engine(self, parameters: Parameters) -> Engine:
        text = parameters_of.value(parameters, "lookback_delta")
        if not text:
            return Engine(self._source)
        try:
            return Engine(self._source, parameters_of.duration_ms(text))
        except ValueError as problem:
            raise BadParameter(f"error parsing lookback delta duration: {problem}") from None

    def _check_timeout(self, parameters: Parameters) -> None:
        text = parameters_of.value(parameters, "timeout")
        try:
            if text:
                parameters_of.duration_ms(text)
        except ValueError as problem:
            raise invalid("timeout", problem) from None

    def query(self, parameters: Parameters) -> _Data:
        """Evaluate at one moment."""
        limit = parameters_of.limit(parameters)
        at_ms = parameters_of.optional_time_ms(parameters, "time", self._now_ms)
        self._check_timeout(parameters)
        engine = self._engine(parameters)
        try:
            result = engine.instant(parameters_of.value(parameters, "query"), at_ms)
        except InvalidQuery as problem:
            raise invalid("query", problem) from None
        return _queried(result, limit, parameters)

    def query_range(self, parameters: Parameters) -> _Data:
        """Evaluate over a range."""
        limit = parameters_of.limit(parameters)
        start_ms = parameters_of.required_time_ms(parameters, "start")
        end_ms = parameters_of.required_time_ms(parameters, "end")
        if end_ms < start_ms:
            raise invalid("end", "end timestamp must not be before start time")
        try:
            step_ms = parameters_of.duration_ms(parameters_of.value(parameters, "step"))
        except ValueError as problem:
            raise invalid("step", problem) from None
        if step_ms <= 0:
            text = "zero or negative query resolution step widths are not accepted. Try a positive integer"
            raise invalid("step", text)
        if (end_ms - start_ms) // step_ms > _POINTS_MAX:
            raise BadParameter(
                "exceeded maximum resolution of 11,000 points per timeseries. "
                "Try decreasing the query resolution (?step=XX)"
            )
        self._check_timeout(parameters)
        engine = self._engine(parameters)
        query = parameters_of.value(parameters, "query")
        try:
            result = engine.range(query, start_ms, end_ms, step_ms)
        except InvalidQuery as problem:
            raise invalid("query", problem) from None
        return _queried(result, limit, parameters)

    def format_query(self, parameters: Parameters) -> _Data:
        """Print a query."""
        try:
            return _Data(pretty(parse(parameters_of.value(parameters, "query"))))
        except ParseError as problem:
            raise invalid("query", problem) from None

    def parse_query(self, parameters: Parameters) -> _Data:
        """Return the syntax tree of a query."""
        try:
            return _Data(tree_of(parse(parameters_of.value(parameters, "query"))))
        except ParseError as problem:
            raise invalid("query", problem) from None

    # Metadata

    def _matching(self, parameters: Parameters) -> list[Series]:
        start_ms = parameters_of.optional_time_ms(parameters, "start", -_FOREVER_MS)
        end_ms = parameters_of.optional_time_ms(parameters, "end", _FOREVER_MS)
        found: dict[Labels, Series] = {}
        sets: list[tuple[Matcher, ...]] = parameters_of.matcher_sets(parameters) or [()]
        for matchers in sets:
            for series in self._source.select(matchers, start_ms, end_ms):
                found.setdefault(series.labels, series)
        return [found[labels] for labels in sorted(found)]

    def labels(self, parameters: Parameters) -> _Data:
        """Return the names of labels."""
        limit = parameters_of.limit(parameters)
        names = {name for series in self._matching(parameters) for name, _ in series.labels}
        return _limited(sorted(names), limit)

    def _label_values(self, label: str, parameters: Parameters) -> _Data:
        if not label:
            raise BadParameter(f"invalid label name: {quote(label)}")
        limit = parameters_of.limit(parameters)
        found = {
            text for series in self._matching(parameters) for name, text in series.labels if name == label
        }
        return _limited(sorted(found), limit)

    def series(self, parameters: Parameters) -> _Data:
        """Return the label sets of series."""
        if not parameters_of.values(parameters, "match[]"):
            raise BadParameter("no match[] parameter provided")
        limit = parameters_of.limit(parameters)
        try:
            parameters_of.matcher_sets(parameters)
        except BadParameter as problem:
            raise invalid("match[]", problem) from None
        return _limited([dict(series.labels) for series in self._matching(parameters)], limit)

    # Rules and targets

    def rules(self, parameters: Parameters) -> _Data:
        """Return the rule groups."""
        kind = parameters_of.value(parameters, "type").lower()
        if kind not in ("", "alert", "record"):
            raise invalid("type", f"not supported value {quote(kind)}")
        return _Data({"groups": self._rules.groups(kind)})

    def alerts(self, parameters: Parameters) -> _Data:
        """Return the alerts."""
        del parameters
        return _Data({"alerts": self._rules.alerts()})

    def targets(self, parameters: Parameters) -> _Data:
        """Return what is scraped."""
        del parameters
        return _Data(
            self._targets() if self._targets is not None else {"activeTargets": [], "droppedTargets": []}
        )


_HANDLERS: Final[Mapping[str, Callable[[Api], Any]]] = {
    "query": lambda api: api.query,
    "query_range": lambda api: api.query_range,
    "format_query": lambda api: api.format_query,
    "parse_query": lambda api: api.parse_query,
    "labels": lambda api: api.labels,
    "series": lambda api: api.series,
    "rules": lambda api: api.rules,
    "alerts": lambda api: api.alerts,
    "targets": lambda api: api.targets,
}


def _limited(items: list[Any], limit: int) -> _Data:
    if limit and len(items) > limit:
        return _Data(items[:limit], (_TRUNCATED,))
    return _Data(items)


def _queried(result: Result, limit: int, parameters: Parameters) -> _Data:
    shown = shown_result(result)
    warnings = result.warnings
    if limit and result.type in ("vector", "matrix") and len(shown) > limit:
        shown = shown[:limit]
        warnings = (*warnings, _TRUNCATED)
    stats = parameters_of.value(parameters, "stats")
    if stats not in ("", "true", "all"):
        text = f"value {quote(stats)} for parameter "
        text += '"stats" is deprecated and will be rejected in the next major release, use "true" or "all"'
        warnings = (*warnings, text)
    return _Data({"resultType": result.type, "result": shown}, warnings, result.infos)


def shown_result(result: Result) -> Any:
    """Return the `result` field of an answer."""
    if result.type == "scalar":
        return [api_time(result.value[0]), plain_number(result.value[1])]
    if result.type == "string":
        return [api_time(result.value[0]), result.value[1]]
    if result.type == "vector":
        return [
            {"metric": dict(labels), "value": [api_time(at_ms), api_number(number)]}
            for labels, at_ms, number in result.value
        ]
    return [
        {
            "metric": dict(labels),
            "values": [
                [api_time(at_ms), api_number(number)] for at_ms, number in zip(times, numbers, strict=True)
            ],
        }
        for labels, times, numbers in result.value
    ]


def _json(body: Any) -> str:
    return orjson.dumps(body).decode()


def _failed(code: int, kind: str, text: str) -> Answer:
    return Answer(code, _json({"status": "error", "errorType": kind, "error": text}))
