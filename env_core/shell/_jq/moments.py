"""Dates of jq, on the virtual clock and in UTC."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from env_core.shell._clock import formatted_time
from env_core.shell._jq.values import JqError, Json, is_number

if TYPE_CHECKING:
    from env_core.shell._jq.evaluate import Evaluator

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ISO: Final = "%Y-%m-%dT%H:%M:%SZ"
_SECONDS_MAX: Final = 250_000_000_000
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DIRECTIVES: Final = {
    "Y": r"(?P<Y>\d{4})", "m": r"(?P<m>\d{1,2})", "d": r"(?P<d>\d{1,2})", "e": r"\s*(?P<d>\d{1,2})",
    "H": r"(?P<H>\d{1,2})", "M": r"(?P<M>\d{1,2})", "S": r"(?P<S>\d{1,2})", "j": r"\d{1,3}",
    "b": r"(?P<b>[A-Za-z]{3})[a-z]*", "B": r"(?P<b>[A-Za-z]{3})[a-z]*", "a": r"[A-Za-z]+", "A": r"[A-Za-z]+",
    "Z": r"[A-Za-z]+", "z": r"[-+]\d{2}:?\d{2}|Z", "T": r"(?P<H>\d{1,2}):(?P<M>\d{1,2}):(?P<S>\d{1,2})",
    "s": r"(?P<s>\d+)", "%": "%",
}  # fmt: skip


def _now(jq: Evaluator, value: Json) -> Json:
    return jq.process.now_ms() / 1000


def _time(value: Json, text: str) -> datetime:
    if is_number(value):
        if not math.isfinite(value) or abs(value) > _SECONDS_MAX:
            raise JqError(f"{text} number out of range")
        return _EPOCH + timedelta(seconds=float(value))
    if not isinstance(value, list) or len(value) < 6 or not all(is_number(part) for part in value):
        raise JqError(f"{text} requires parsed datetime inputs")
    year, month, day, hour, minute, second = (int(part) for part in value[:6])
    try:
        return datetime(year, 1, 1, tzinfo=UTC).replace(month=month % 12 + 1) + timedelta(
            days=day - 1, hours=hour, minutes=minute, seconds=second
        )
    except (ValueError, OverflowError) as error:
        raise JqError("invalid gmtime representation") from error


def _broken_down(time: datetime, seconds: float) -> Json:
    weekday = (time.weekday() + 1) % 7
    return [
        time.year,
        time.month - 1,
        time.day,
        time.hour,
        time.minute,
        seconds,
        weekday,
        time.timetuple().tm_yday - 1,
    ]


def _gmtime(jq: Evaluator, value: Json) -> Json:
    if not is_number(value):
        raise JqError("gmtime() requires a number")
    time = _time(value, "gmtime()")
    fraction = value - math.floor(value)
    return _broken_down(time, time.second + fraction if fraction else time.second)


def _mktime(jq: Evaluator, value: Json) -> Json:
    if not isinstance(value, list):
        raise JqError("mktime requires array inputs")
    return int((_time(value, "mktime") - _EPOCH).total_seconds())


def _strftime(jq: Evaluator, value: Json, template: Json) -> Json:
    if not is_number(value) and not isinstance(value, list):
        raise JqError("strftime/1 requires parsed datetime inputs")
    if not isinstance(template, str):
        raise JqError("strftime/1 requires a string format")
    seconds = (_time(value, "strftime/1") - _EPOCH).total_seconds()
    return formatted_time(int(seconds * 1000), template)


def _strptime(jq: Evaluator, value: Json, template: Json) -> Json:
    if not (isinstance(value, str) and isinstance(template, str)):
        raise JqError("strptime/1 requires string inputs and arguments")
    source = re.sub(
        r"%([a-zA-Z%])|\s+|([^\w\s])",
        lambda found: (
            _DIRECTIVES.get(found.group(1), "")
            if found.group(1)
            else (re.escape(found.group(2)) if found.group(2) else r"\s*")
        ),
        template.replace("%F", "%Y-%m-%d").replace("%R", "%H:%M"),
    )
    try:
        found = re.fullmatch(source, value)
    except re.error:
        found = None
    if found is None:
        raise JqError(f'date "{value}" does not match format "{template}"')
    parts = found.groupdict()
    if parts.get("s"):
        return _gmtime(jq, int(parts["s"][:11]))
    month = int(parts.get("m") or 1)
    if parts.get("b"):
        name = parts["b"].lower()
        month = _MONTHS.index(name) + 1 if name in _MONTHS else 13
    hour, minute, second = (int(parts.get(letter) or 0) for letter in "HMS")
    try:
        time = datetime(
            int(parts.get("Y") or 1900), month, int(parts.get("d") or 1), hour, minute, second, tzinfo=UTC
        )
    except ValueError:
        raise JqError(f'date "{value}" does not match format "{template}"') from None
    return _broken_down(time, time.second)


def _fromdate(jq: Evaluator, value: Json) -> Json:
    return _mktime(jq, _strptime(jq, value, _ISO))


def _todate(jq: Evaluator, value: Json) -> Json:
    return _strftime(jq, value, _ISO)


TIME_FUNCTIONS: Final[dict[tuple[str, int], Callable[..., Json]]] = {
    ("now", 0): _now,
    ("gmtime", 0): _gmtime,
    ("localtime", 0): _gmtime,
    ("mktime", 0): _mktime,
    ("strftime", 1): _strftime,
    ("strflocaltime", 1): _strftime,
    ("strptime", 1): _strptime,
    ("fromdate", 0): _fromdate,
    ("fromdateiso8601", 0): _fromdate,
    ("todate", 0): _todate,
    ("todateiso8601", 0): _todate,
}
