"""Times and spans as text: RFC 3339, Kubernetes' ages and Go's durations; all in integer milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Final

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
DAY_MS: Final = 86_400_000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_UNITS_NS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_NUMBER: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?")
_UNIT: Final = re.compile(r"[^0-9.]*")
_NANOSECONDS_MAX: Final = 2**63
_SECOND_MAX: Final = 253_402_300_799
"""9999-12-31T23:59:59Z."""


class DurationError(ValueError):
    """The text is no Go duration; the message is Go's own."""


@lru_cache(maxsize=8192)
def _second_text(second: int) -> str:
    # Go formats any year; nothing here means to reach the year 10000.
    second = min(second, _SECOND_MAX)
    return f"{_day_text(second // 86_400)}T{time_of_day(second)}"


def time_of_day(second: int) -> str:
    """Return the UTC time of a Unix second: "12:00:00"."""
    return f"{second // 3_600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


@lru_cache(maxsize=64)
def _day_text(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).strftime("%Y-%m-%d")


def rfc3339(now_ms: int) -> str:
    """Return a metav1.Time: "2026-01-15T12:00:00Z", cut to whole seconds."""
    return _second_text(now_ms // SECOND_MS) + "Z"


def rfc3339_micro(now_ms: int) -> str:
    """Return a metav1.MicroTime: "2026-01-15T12:00:00.000000Z"."""
    return f"{_second_text(now_ms // SECOND_MS)}.{now_ms % SECOND_MS:03d}000Z"


@lru_cache(maxsize=16384)
def parse_ms(text: str) -> int:
    """Return an RFC 3339 time in milliseconds since the epoch, cut to whole milliseconds.

    Raises:
        ValueError: if `text` is no RFC 3339 time.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    year, month, day, hour, minute, second = (int(found[group]) for group in range(1, 7))
    span = datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _EPOCH
    milliseconds = int(((found[7] or "") + "000")[:3])
    offset_ms = 0
    if found[8]:
        offset_ms = (int(found[9]) * 60 + int(found[10])) * MINUTE_MS
        if found[8] == "-":
            offset_ms = -offset_ms
    return (span.days * 86_400 + span.seconds) * SECOND_MS + milliseconds - offset_ms


def human_duration(ms: int) -> str:
    """Return an age as kubectl prints it, with about two significant units ("5m3s", "2d4h").

    Up to two seconds in the future count as now, further ahead is "<invalid>".

    Source: k8s.io/apimachinery pkg/util/duration HumanDuration; tests/golden/l0/duration.
    """
    if ms < 0:
        return "0s" if ms > -2 * SECOND_MS else "<invalid>"
    seconds = ms // SECOND_MS
    if seconds < 120:
        return f"{seconds}s"
    minutes = seconds // 60
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    hours = minutes // 60
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    days = hours // 24
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def short_human_duration(ms: int) -> str:
    """Return an age in its largest whole unit ("5m", "2d").

    Source: k8s.io/apimachinery pkg/util/duration ShortHumanDuration; tests/golden/l0/duration.
    """
    if ms < 0:
        return "0s" if ms > -2 * SECOND_MS else "<invalid>"
    seconds = ms // SECOND_MS
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m"
    if seconds < 86_400:
        return f"{seconds // 3600}h"
    days = seconds // 86_400
    return f"{days}d" if days < 365 else f"{days // 365}y"


def go_duration(ms: int) -> str:
    """Return a span as Go's time.Duration prints it: "1m20s", "1.5s", "499ms", "0s"."""
    if ms == 0:
        return "0s"
    sign = "-" if ms < 0 else ""
    ms = abs(ms)
    if ms < SECOND_MS:
        return f"{sign}{ms}ms"
    hours, ms = divmod(ms, HOUR_MS)
    minutes, ms = divmod(ms, MINUTE_MS)
    seconds, ms = divmod(ms, SECOND_MS)
    fraction = f".{ms:03d}".rstrip("0") if ms else ""
    text = f"{seconds}{fraction}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else sign + text


@lru_cache(maxsize=1024)
def parse_go_duration(text: str) -> int:
    """Return a Go duration in milliseconds; what lies below one is cut towards zero.

    Raises:
        DurationError: with Go's text.
    """
    return int(Fraction(parse_go_duration_ns(text), 1_000_000))


def parse_go_duration_ns(text: str) -> int:
    """Return a Go duration in nanoseconds.

    Source: Go time.ParseDuration.

    Raises:
        DurationError: with Go's text.
    """
    rest = text
    sign = 1
    if rest[:1] in ("-", "+"):
        sign = -1 if rest[0] == "-" else 1
        rest = rest[1:]
    if rest == "0":
        return 0
    if not rest:
        raise DurationError(f"time: invalid duration {_go_quoted(text)}")
    total_ns = Fraction(0)
    while rest:
        number = _NUMBER.match(rest)
        assert number is not None, "the pattern matches the empty text"
        whole, fraction = number[1], number[2] or ""
        if not whole and not fraction:
            raise DurationError(f"time: invalid duration {_go_quoted(text)}")
        rest = rest[number.end() :]
        unit_match = _UNIT.match(rest)
        assert unit_match is not None, "the pattern matches the empty text"
        unit = unit_match[0]
        if not unit:
            raise DurationError(f"time: missing unit in duration {_go_quoted(text)}")
        if unit not in _UNITS_NS:
            raise DurationError(f"time: unknown unit {_go_quoted(unit)} in duration {_go_quoted(text)}")
        rest = rest[len(unit) :]
        total_ns += (int(whole or "0") + Fraction(int(fraction or "0"), 10 ** len(fraction))) * _UNITS_NS[
            unit
        ]
        if total_ns >= _NANOSECONDS_MAX:
            raise DurationError(f"time: invalid duration {_go_quoted(text)}")
    return sign * int(total_ns)


def _go_quoted(text: str) -> str:
    """Return `text` as time.ParseDuration quotes it in messages: bytes beyond ASCII as hex escapes."""
    out = ['"']
    for byte in text.encode():
        if byte >= 0x80 or byte < 0x20:
            out.append(f"\\x{byte:02x}")
        else:
            out.append(("\\" if byte in b'"\\' else "") + chr(byte))
    return "".join(out) + '"'
