"""The parameters of Prometheus's HTTP API.

Source: github.com/prometheus/prometheus web/api/v1/api.go; texts recorded in tests/golden/promql (groups params, endpoints).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from env_core.observability.promql import Matcher, ParseError, parse_selector
from env_core.observability.promql._numbers import parse_duration_ms, quote

Parameters = Sequence[tuple[str, str]]

_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+\Z")
_RFC3339: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)\Z",
)


class BadParameter(Exception):
    """A request that cannot be answered: HTTP 400, `bad_data`."""


def invalid(name: str, problem: object) -> BadParameter:
    """Return the error for a parameter."""
    return BadParameter(f'invalid parameter "{name}": {problem}')


def value(parameters: Parameters, name: str) -> str:
    """Return the first value of a parameter, "" without one."""
    return next((text for key, text in parameters if key == name), "")


def values(parameters: Parameters, name: str) -> list[str]:
    """Return all values of a parameter."""
    return [text for key, text in parameters if key == name]


def time_ms(text: str) -> int:
    """Return a time, given in seconds or as RFC 3339, in milliseconds.

    Raises:
        ValueError: with Prometheus's text.
    """
    if _FLOAT.match(text) and math.isfinite(float(text)):
        whole = math.trunc(float(text))
        return whole * 1000 + round((float(text) - whole) * 1000)
    found = _RFC3339.match(text)
    if found is not None:
        try:
            moment = datetime.fromisoformat(found[1] + found[3].replace("Z", "+00:00"))
        except ValueError:
            moment = None
        if moment is not None:
            return int(moment.timestamp()) * 1000 + int(float(found[2] or "0") * 1000)
    raise ValueError(f"cannot parse {quote(text)} to a valid timestamp")


def optional_time_ms(parameters: Parameters, name: str, default_ms: int) -> int:
    """Return a time parameter, or the default when it is absent.

    Raises:
        BadParameter: if it is no time.
    """
    text = value(parameters, name)
    if not text:
        return default_ms
    try:
        return time_ms(text)
    except ValueError as problem:
        raise invalid(name, f"invalid time value for '{name}': {problem}") from None


def required_time_ms(parameters: Parameters, name: str) -> int:
    """Return a time parameter.

    Raises:
        BadParameter: if it is absent or no time.
    """
    try:
        return time_ms(value(parameters, name))
    except ValueError as problem:
        raise invalid(name, problem) from None


def duration_ms(text: str) -> int:
    """Return a duration, given in seconds or as 1h30m, in milliseconds.

    Raises:
        ValueError: with Prometheus's text.
    """
    if _FLOAT.match(text):
        seconds = float(text)
        if abs(seconds) * 1e9 >= 2.0**63:
            raise ValueError(f"cannot parse {quote(text)} to a valid duration. It overflows int64")
        return math.trunc(seconds * 1000)
    try:
        return parse_duration_ms(text)
    except ValueError:
        raise ValueError(f"cannot parse {quote(text)} to a valid duration") from None


def limit(parameters: Parameters) -> int:
    """Return the `limit` parameter, 0 for none.

    Raises:
        BadParameter: if it is no number or negative.
    """
    text = value(parameters, "limit")
    if not text:
        return 0
    if not _INTEGER.match(text):
        raise invalid("limit", f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    number = int(text)
    if number < 0:
        raise invalid("limit", "limit must be non-negative")
    return number


def matcher_sets(parameters: Parameters) -> list[tuple[Matcher, ...]]:
    """Return the selectors in `match[]`.

    Raises:
        BadParameter: if one is none or would select everything.
    """
    found = []
    for text in values(parameters, "match[]"):
        try:
            selector = parse_selector(text)
        except ParseError as problem:
            raise BadParameter(str(problem)) from None
        if all(matcher.matches("") for matcher in selector.matchers):
            raise BadParameter("match[] must contain at least one non-empty matcher")
        found.append(selector.matchers)
    return found
