"""Dates as texts: strftime and what `date -d` understands, always in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DIRECTIVE: Final = re.compile(r"%([-_0^#]*)(\d*)(:{0,2}[a-zA-Z%+])")
_STAMP: Final = re.compile(
    r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?"
    r"\s*(Z|UTC|GMT|[-+]\d{2}:?\d{2})?\Z",
    re.ASCII,
)
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(?:Z|UTC)?\Z", re.ASCII)
_RELATIVE: Final = re.compile(
    r"([-+]?\s*\d{1,9}|an?|next|last)\s*(sec(?:ond)?|min(?:ute)?|hour|day|week|fortnight|month|year)s?(\s+ago)?",
    re.ASCII,
)
_UNIT_SECONDS: Final = {
    "sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "fortnight": 1209600,
}  # fmt: skip
_YEAR_MAX: Final = 9998


class DateProblem(ValueError):
    """The text is no date."""


def moment(at_ms: int) -> datetime:
    """Return milliseconds since the epoch as a time in UTC, within the years 1 to 9998."""
    limit = int((datetime(_YEAR_MAX, 12, 31, tzinfo=UTC) - _EPOCH).total_seconds()) * 1000
    return _EPOCH + timedelta(milliseconds=max(min(at_ms, limit), -62_000_000_000_000))


def formatted_time(at_ms: int, template: str) -> str:
    """Return a time by a strftime format with GNU date's flags (`%-d`, `%_H`, `%:z`, `%3N`)."""
    now = moment(at_ms)

    def replaced(found: re.Match[str]) -> str:
        flags, width, letter = found.groups()
        if letter in ("N",):
            return f"{now.microsecond * 1000:09d}"[: int(width[:1] or 9) or 9]
        text = _directive(now, at_ms, letter)
        if text is None:
            return found.group()
        if "-" in flags:
            text = text.lstrip("0 ") or "0"
        elif "_" in flags and text[:1] == "0":
            text = text.lstrip("0").rjust(len(text))
        if "^" in flags:
            text = text.upper()
        return text.rjust(min(int(width or 0), 100), "0" if text.isdecimal() and "_" not in flags else " ")

    return _DIRECTIVE.sub(replaced, template)


def _directive(now: datetime, at_ms: int, letter: str) -> str | None:
    hour_12 = now.hour % 12 or 12
    day, month = _DAYS[now.weekday()], _MONTHS[now.month - 1]
    year_day = now.timetuple().tm_yday
    clock = f"{now.hour:02d}:{now.minute:02d}:{now.second:02d}"
    iso = now.isocalendar()
    half = "AM" if now.hour < 12 else "PM"
    values = {
        "a": day[:3], "A": day, "b": month[:3], "h": month[:3], "B": month,
        "c": f"{day[:3]} {month[:3]} {now.day:2d} {clock} {now.year}", "C": f"{now.year // 100:02d}",
        "d": f"{now.day:02d}", "D": f"{now.month:02d}/{now.day:02d}/{now.year % 100:02d}", "e": f"{now.day:2d}",
        "F": f"{now.year:04d}-{now.month:02d}-{now.day:02d}", "g": f"{iso[0] % 100:02d}", "G": f"{iso[0]:04d}",
        "H": f"{now.hour:02d}", "I": f"{hour_12:02d}", "j": f"{year_day:03d}", "k": f"{now.hour:2d}",
        "l": f"{hour_12:2d}", "m": f"{now.month:02d}", "M": f"{now.minute:02d}", "n": "\n", "p": half,
        "P": half.lower(), "r": f"{hour_12:02d}:{now.minute:02d}:{now.second:02d} {half}",
        "R": f"{now.hour:02d}:{now.minute:02d}", "s": str(at_ms // 1000), "S": f"{now.second:02d}", "t": "\t",
        "T": clock, "u": str(now.isoweekday()), "U": f"{(year_day + 6 - now.isoweekday() % 7) // 7:02d}",
        "V": f"{iso[1]:02d}", "w": str(now.isoweekday() % 7), "W": f"{(year_day + 6 - now.weekday()) // 7:02d}",
        "x": f"{now.month:02d}/{now.day:02d}/{now.year % 100:02d}", "X": clock, "y": f"{now.year % 100:02d}",
        "Y": f"{now.year:04d}", "z": "+0000", ":z": "+00:00", "::z": "+00:00:00", "Z": "UTC", "%": "%",
    }  # fmt: skip
    return values.get(letter)


def parsed_time(text: str, now_ms: int) -> int:
    """Return what `date -d` makes of `text`: `@seconds`, a stamp, a clock time, or distances from now.

    Raises:
        DateProblem: if it is none of these.
    """
    rest = text.strip().lower()
    if re.fullmatch(r"@-?\d{1,12}(\.\d*)?", rest, re.ASCII):
        return int(float(rest[1:]) * 1000)
    found = _STAMP.match(rest.upper())
    if found is not None:
        return _stamp(found)
    base = now_ms
    day_start = now_ms // 86_400_000 * 86_400_000
    found = _CLOCK.match(rest)
    if found is not None:
        hour, minute, second = (int(part or 0) for part in found.groups())
        if hour > 23 or minute > 59 or second > 59:
            raise DateProblem(text)
        return day_start + ((hour * 60 + minute) * 60 + second) * 1000
    for word, shift in (("now", 0), ("today", 0), ("yesterday", -86_400_000), ("tomorrow", 86_400_000)):
        if rest.startswith(word):
            base += shift
            rest = rest[len(word) :].strip()
            break
    while rest:
        found = _RELATIVE.match(rest)
        if found is None:
            raise DateProblem(text)
        base = _shifted(base, found)
        rest = rest[found.end() :].strip()
    return base


def _stamp(found: re.Match[str]) -> int:
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        time = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError as error:
        raise DateProblem(found.group()) from error
    offset = 0
    if zone and zone[0] in "+-":
        digits = zone[1:].replace(":", "")
        offset = (int(digits[:2]) * 60 + int(digits[2:])) * 60 * (-1 if zone[0] == "-" else 1)
    milliseconds = int((fraction or "0").ljust(3, "0")[:3])
    return (int((time - _EPOCH).total_seconds()) - offset) * 1000 + milliseconds


def _shifted(at_ms: int, found: re.Match[str]) -> int:
    amount, unit, ago = found.groups()
    count = {"a": 1, "an": 1, "next": 1, "last": -1}.get(amount)
    if count is None:
        count = int(amount.replace(" ", ""))
    if ago:
        count = -count
    if unit in _UNIT_SECONDS:
        return at_ms + count * _UNIT_SECONDS[unit] * 1000
    now = moment(at_ms)
    months = now.year * 12 + now.month - 1 + count * (12 if unit == "year" else 1)
    year = min(max(months // 12, 1), _YEAR_MAX)
    first = datetime(year, months % 12 + 1, 1, tzinfo=UTC)
    start = datetime(now.year, now.month, 1, tzinfo=UTC)
    return at_ms + int((first - start).total_seconds()) * 1000
