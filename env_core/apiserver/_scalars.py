"""Scalars with rules of their own in API objects: quantities, times, durations, base64."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from env_core.sim.timefmt import go_duration, parse_go_duration

_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])(\d\d):(\d\d))"
)
_STEPS: Final = (
    (r"\d{4}", "2006", ""),
    ("-", "-", ""),
    (r"\d\d", "01", "month"),
    ("-", "-", ""),
    (r"\d\d", "02", "day"),
    ("T", "T", ""),
    (r"\d\d?", "15", "hour"),
    (":", ":", ""),
    (r"\d\d", "04", "minute"),
    (":", ":", ""),
    (r"\d\d", "05", "second"),
)
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _days_in(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTH_DAYS[month - 1]


@lru_cache(maxsize=4096)
def canonical_time(text: str, digits: int) -> str | None:
    """Return an RFC 3339 time in UTC with `digits` fraction digits, None when it is none."""
    found = _TIME.fullmatch(text)
    if found is None or time_problem(text):
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    if found.group(9):
        shift = int(found.group(10)) * 60 + int(found.group(11))
        total = hour * 60 + minute + (shift if found.group(9) == "-" else -shift)
        days, rest = divmod(total, 1440)
        hour, minute = divmod(rest, 60)
        year, month, day = _moved(year, month, day, days)
    fraction = ""
    if digits:
        fraction = "." + ((found.group(7) or "") + "0" * digits)[:digits]
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{fraction}Z"


def _moved(year: int, month: int, day: int, days: int) -> tuple[int, int, int]:
    day += days
    if day < 1:
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
        return year, month, day + _days_in(year, month)
    length = _days_in(year, month)
    if day > length:
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
        return year, month, day - length
    return year, month, day


def time_problem(text: str, layout: str = "2006-01-02T15:04:05Z07:00") -> str:
    """Return Go's words for a text that is no RFC 3339 time, "" when it is one.

    Source: Go 1.26 time.Parse.
    """
    shown = _quoted(text)
    start = f"parsing time {shown}"
    at = 0
    numbers: dict[str, int] = {}
    for pattern, element, unit in _STEPS:
        found = re.compile(pattern).match(text, at)
        if found is None:
            return f"{start} as {_quoted(layout)}: cannot parse {_quoted(text[at:])} as {_quoted(element)}"
        at = found.end()
        if unit:
            numbers[unit] = int(found.group())
            low, high = {"month": (1, 12), "hour": (0, 23), "minute": (0, 59), "second": (0, 59)}.get(
                unit, (0, 99)
            )
            if not low <= numbers[unit] <= high:
                return f"{start}: {unit} out of range"
    fraction = re.compile(r"[.,]\d+").match(text, at)
    if fraction:
        at = fraction.end()
    elif "." in layout:
        element = layout[layout.index(".") : layout.index("Z")]
        return f"{start} as {_quoted(layout)}: cannot parse {_quoted(text[at:])} as {_quoted(element)}"
    zone = re.compile(r"Z|[+-]\d\d:\d\d").match(text, at)
    if zone is None:
        return f"{start} as {_quoted(layout)}: cannot parse {_quoted(text[at:])} as {_quoted('Z07:00')}"
    if zone.end() < len(text):
        return f"{start}: extra text: {_quoted(text[zone.end() :])}"
    if not 1 <= numbers["day"] <= _days_in(int(text[:4]), numbers["month"]):
        return f"{start}: day out of range"
    return ""


def _quoted(text: str) -> str:
    """Return `text` as package time quotes it."""
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif " " <= char < "\x7f":
            out.append(char)
        else:
            out.append("".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace")))
    return '"' + "".join(out) + '"'


@lru_cache(maxsize=1024)
def canonical_duration(text: str) -> str:
    """Return a duration as Go prints it ("1m30s"), in whole milliseconds.

    Raises:
        ValueError: in package time's words.
    """
    return go_duration(parse_go_duration(text))


@lru_cache(maxsize=4096)
def base64_problem(text: str) -> str:
    """Return Go's words for a text that is no standard base64, "" when it is.

    Source: Go 1.26 encoding/base64 (line ends are skipped); tests/golden/l0/strict_decoding.
    """
    data = text.encode()
    at, length = 0, len(data)
    while True:
        group = 0
        while group < 4:
            if at == length:
                return "" if group == 0 else _corrupt(at - group)
            byte = data[at]
            at += 1
            if byte in _BASE64:
                group += 1
            elif byte not in b"\r\n":
                return _padding_problem(data, at, group) if byte == ord("=") else _corrupt(at - 1)


def _padding_problem(data: bytes, at: int, group: int) -> str:
    if group < 2:
        return _corrupt(at - 1)
    at = _after_line_ends(data, at)
    if group == 2:
        if at == len(data):
            return _corrupt(len(data))
        if data[at] != ord("="):
            return _corrupt(at - 1)
        at = _after_line_ends(data, at + 1)
    return _corrupt(at) if at < len(data) else ""


def _after_line_ends(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in b"\r\n":
        at += 1
    return at


def _corrupt(offset: int) -> str:
    return f"illegal base64 data at input byte {offset}"
