"""The templates of labels and annotations, and the functions that they have.

Source: https://prometheus.io/docs/prometheus/latest/configuration/template_reference/; github.com/prometheus/prometheus
template/template.go and github.com/prometheus/common helpers/templates; recorded in tests/golden/promql/rules.jsonl.gz.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

from env_core.objects.goformat import sprintf, value_text
from env_core.objects.gotemplate import (
    BUILTINS,
    FunctionError,
    Run,
    Signature,
    Statement,
    Struct,
    TemplateError,
    TextMap,
    go_type,
    parse_templates,
)
from env_core.objects.re2 import Re2Error, compiled
from env_core.observability.promql import Labels, general
from env_core.observability.promql._calendar import CALENDAR
from env_core.observability.promql._numbers import parse_duration_ms, parse_number, quote
from env_core.sim.timefmt import go_duration

Query = Callable[[str], Sequence[tuple[Labels, float]]]
"""Evaluates a query at the moment of the rule; raises ValueError with Prometheus's text."""

_PREFIX: Final = (
    "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}"
    "{{$externalURL := .ExternalURL}}{{$value := .Value}}"
)
_DATA_TYPE: Final = (
    "struct { Labels map[string]string; ExternalLabels map[string]string; ExternalURL string; "
    "Value interface {} }"
)
_SAMPLE_TYPE: Final = "*template.sample"
_LARGE: Final = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_SMALL: Final = ("m", "u", "n", "p", "f", "a", "z", "y")
_BINARY: Final = ("ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")
_INT64: Final = 1 << 63


def _float(value: Any) -> float:
    if isinstance(value, bool) or value is None or isinstance(value, (dict, list, Struct)):
        raise FunctionError(f"can't convert {go_type(value)} to float")
    if isinstance(value, str):
        try:
            return parse_number(value) if value else _refuse_number(value)
        except ValueError:
            return _refuse_number(value)
    return float(value)


def _refuse_number(text: str) -> float:
    raise FunctionError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax")


def _four(value: float) -> str:
    return sprintf("%.4g", [value])


def _scaled_down(value: float) -> str:
    prefix = ""
    for each in _SMALL:
        if abs(value) >= 1:
            break
        prefix = each
        value *= 1000
    return _four(value) + prefix


def _humanize(value: Any) -> str:
    number = _float(value)
    if number == 0 or not math.isfinite(number):
        return _four(number)
    if abs(number) < 1:
        return _scaled_down(number)
    return _scaled_up(number, 1000, _LARGE)


def _scaled_up(number: float, base: int, prefixes: Sequence[str]) -> str:
    prefix = ""
    for each in prefixes:
        if abs(number) < base:
            break
        prefix = each
        number /= base
    return _four(number) + prefix


def _humanize_1024(value: Any) -> str:
    number = _float(value)
    if abs(number) <= 1 or not math.isfinite(number):
        return _four(number)
    return _scaled_up(number, 1024, _BINARY)


def _humanize_duration(value: Any) -> str:
    number = _float(value)
    if not math.isfinite(number):
        return _four(number)
    if number == 0:
        return "0s"
    if abs(number) < 1:
        return _scaled_down(number) + "s"
    sign, number = ("-", -number) if number < 0 else ("", number)
    whole = int(number) if number < _INT64 else -_INT64
    # Go's division goes towards zero, which shows where int64 overflows.
    minutes, seconds = _divided(whole, 60)
    hours, minutes = _divided(minutes, 60)
    days, hours = _divided(hours, 24)
    if days:
        return f"{sign}{days}d {hours}h {minutes}m {seconds}s"
    if hours:
        return f"{sign}{hours}h {minutes}m {seconds}s"
    if minutes:
        return f"{sign}{minutes}m {seconds}s"
    return f"{sign}{_four(number)}s"


def _divided(number: int, divisor: int) -> tuple[int, int]:
    quotient, rest = divmod(abs(number), divisor)
    return (-quotient, -rest) if number < 0 else (quotient, rest)


def _moment(seconds: float) -> str:
    nanoseconds = seconds * 1e9
    if nanoseconds >= _INT64 or nanoseconds < -_INT64:
        raise FunctionError(
            f"{general(seconds)} cannot be represented as a nanoseconds timestamp since it overflows int64"
        )
    return _time_text(math.trunc(int(nanoseconds) / 1_000_000))


def _time_text(at_ms: int) -> str:
    second, rest = divmod(at_ms, 1000)
    year, month, day = (CALENDAR[name](second) for name in ("year", "month", "day_of_month"))
    hour, minute = CALENDAR["hour"](second), CALENDAR["minute"](second)
    fraction = f".{rest:03d}".rstrip("0") if rest else ""
    return f"{year:04d}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second % 60:02d}{fraction} +0000 UTC"


def _humanize_timestamp(value: Any) -> str:
    number = _float(value)
    return _moment(number) if math.isfinite(number) else _four(number)


def _to_time(value: Any) -> str:
    number = _float(value)
    if not math.isfinite(number):
        raise FunctionError("value is NaN or Inf")
    return _moment(number)


def _humanize_percentage(value: Any) -> str:
    return _four(_float(value) * 100) + "%"


def _first(found: Any) -> Any:
    if not found:
        raise FunctionError("first() called on vector with no elements")
    return found[0]


def _label(name: str, sample: Struct) -> str:
    return str(sample.fields["Labels"].get(name, ""))


def _value(sample: Struct) -> Any:
    return sample.fields["Value"]


def _string_value(sample: Struct) -> str:
    return _label("__value__", sample)


def _sorted_by(name: str, found: list[Struct]) -> list[Struct]:
    return sorted(found, key=lambda sample: _label(name, sample))


def _arguments(*values: Any) -> dict[str, Any]:
    return {f"arg{index}": value for index, value in enumerate(values)}


def _replaced(pattern: str, replacement: str, text: str) -> str:
    try:
        return compiled(pattern).replace_all(text, replacement)
    except Re2Error as problem:
        raise FunctionError(f"regexp: Compile({quote(pattern)}): {problem}") from None


def _matched(pattern: str, text: str) -> bool:
    try:
        return compiled(pattern).search(text)
    except Re2Error as problem:
        raise FunctionError(f"{problem}") from None


def _title(text: str) -> str:
    out, is_inside = [], False
    for char in text:
        out.append(char if is_inside else char.upper())
        is_inside = char.isalnum() or char in "'_" or (is_inside and char == ".")
    return "".join(out)


def _split_port(text: str) -> tuple[str, str] | None:
    host, colon, port = text.rpartition(":")
    if not colon or (":" in host and not (host.startswith("[") and host.endswith("]"))):
        return None
    return host.removeprefix("[").removesuffix("]"), port


def _strip_port(text: str) -> str:
    found = _split_port(text)
    return text if found is None else found[0]


def _is_address(host: str) -> bool:
    parts = host.split(".")
    return ":" in host or (len(parts) == 4 and all(part.isdigit() and int(part) < 256 for part in parts))


def _strip_domain(text: str) -> str:
    host, port = _split_port(text) or (text, "")
    if _is_address(host):
        return text
    host = host.split(".")[0]
    return f"{host}:{port}" if port else host


def _parse_duration(text: str) -> float:
    try:
        sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
        return sign * parse_duration_ms(digits) / 1000
    except ValueError as problem:
        raise FunctionError(str(problem)) from None


def _duration_text(value: Any) -> str:
    return go_duration(round(_float(value) * 1000))


def graph_link(expression: str, tab: int) -> str:
    """Return the path of a page that shows a query as a graph (tab 0) or a table (tab 1)."""
    return f"/graph?g0.expr={quote_plus(expression, safe='')}&g0.tab={tab}"


def _of_text(call: Callable[..., Any], count: int = 1) -> Signature:
    return Signature(call, count, is_variadic=False, text_first=True)


def _of_any(call: Callable[..., Any], count: int = 1) -> Signature:
    return Signature(call, count, is_variadic=False)


def _unavailable(*_: Any) -> Any:
    raise FunctionError("only known when a rule is evaluated")


_FIXED: Final[dict[str, Signature]] = {
    **BUILTINS,
    "args": Signature(_arguments, 0, is_variadic=True),
    "first": _of_any(_first),
    "graphLink": _of_text(lambda expression: graph_link(expression, 0)),
    "humanize": _of_any(_humanize),
    "humanize1024": _of_any(_humanize_1024),
    "humanizeDuration": _of_any(_humanize_duration),
    "humanizePercentage": _of_any(_humanize_percentage),
    "humanizeTimestamp": _of_any(_humanize_timestamp),
    "label": _of_text(_label, 2),
    "match": _of_text(_matched, 2),
    "parseDuration": _of_text(_parse_duration),
    "reReplaceAll": _of_text(_replaced, 3),
    "safeHtml": _of_text(lambda text: text),
    "sortByLabel": _of_text(_sorted_by, 2),
    "stripDomain": _of_text(_strip_domain),
    "stripPort": _of_text(_strip_port),
    "strvalue": _of_any(_string_value),
    "tableLink": _of_text(lambda expression: graph_link(expression, 1)),
    "title": _of_text(_title),
    "toDuration": _of_any(_duration_text),
    "toLower": _of_text(str.lower),
    "toTime": _of_any(_to_time),
    "toUpper": _of_text(str.upper),
    "urlQueryEscape": _of_text(lambda text: quote_plus(text, safe="")),
    "value": _of_any(_value),
    # Known only while a rule is evaluated:
    "externalURL": _of_any(_unavailable, 0),
    "now": _of_any(_unavailable, 0),
    "pathPrefix": _of_any(_unavailable, 0),
    "query": _of_text(_unavailable),
}


@lru_cache(maxsize=512)
def _parsed(name: str, text: str) -> dict[str, tuple[Statement, ...]]:
    return parse_templates(name, _PREFIX + text, _FIXED)


def check_template(alert: str, text: str) -> None:
    """Parse a label's or annotation's template.

    Raises:
        TemplateError: with Go's text.
    """
    _parsed(f"__alert_{alert}", text)


class ExpansionError(Exception):
    """A template that failed; `data` is what it was given, as Prometheus logs it."""

    def __init__(self, problem: str, data: str) -> None:
        super().__init__(problem)
        self.data = data


def expanded(
    alert: str,
    text: str,
    *,
    labels: Labels,
    value: float,
    now_ms: int,
    query: Query,
    external_labels: Mapping[str, str],
    external_url: str,
) -> str:
    """Return a label's or annotation's text.

    Raises:
        ExpansionError: with Prometheus's text.
    """
    name = f"__alert_{alert}"

    def asked(text: str) -> list[Struct]:
        try:
            found = query(text)
        except ValueError as problem:
            raise FunctionError(str(problem)) from None
        return [Struct(_SAMPLE_TYPE, {"Labels": TextMap(each), "Value": number}) for each, number in found]

    functions = {
        **_FIXED,
        "externalURL": _of_any(lambda: external_url, 0),
        "now": _of_any(lambda: now_ms / 1000, 0),
        "pathPrefix": _of_any(lambda: urlsplit(external_url).path, 0),
        "query": _of_text(asked),
    }
    data = {
        "Labels": TextMap(labels),
        "ExternalLabels": TextMap(external_labels),
        "ExternalURL": external_url,
        "Value": value,
    }
    run = Run(name, _PREFIX + text, _parsed(name, text), functions, allow_missing=True)
    try:
        run.execute(Struct(_DATA_TYPE, data))
    except TemplateError as error:
        shown = " ".join(f"{key}:{value_text(each)}" for key, each in data.items())
        raise ExpansionError(f"error executing template {name}: {error}", f"{{{shown}}}") from None
    return run.text()
