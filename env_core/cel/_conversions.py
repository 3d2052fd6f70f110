"""Conversions between CEL's types, and Go's ways to read and write numbers and times.

Source: github.com/google/cel-go v0.29 common/types (ConvertToType of each); Go's strconv and time.
"""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any, Final

from env_core.cel._types import Type
from env_core.cel._values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    CelError,
    Duration,
    Timestamp,
    UInt,
    type_of,
)
from env_core.objects.jsonout import positional_float, shortest_float
from env_core.sim.timefmt import DurationError, parse_go_duration_ns

SECOND_NS: Final = 1_000_000_000
_UNIX_MIN: Final = -62_135_596_800
_UNIX_MAX: Final = 253_402_300_799
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT: Final = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan", re.IGNORECASE
)
_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def _refused(value: Any, target: str) -> CelError:
    return CelError(f"type conversion error from '{type_of(value)}' to '{target}'")


def to_int(value: Any) -> Any:
    """Return `int(value)`."""
    if isinstance(value, Duration):
        return value.nanoseconds
    if isinstance(value, Timestamp):
        return value.nanoseconds // SECOND_NS
    if type(value) is float:
        if math.isnan(value) or math.isinf(value) or not float(INT_MIN) < value < float(INT_MAX):
            return CelError("integer overflow")
        return int(value)
    if type(value) is int:
        return value
    if isinstance(value, UInt):
        return int(value) if value <= INT_MAX else CelError("integer overflow")
    if isinstance(value, str) and _INTEGER.fullmatch(value) and INT_MIN <= int(value[:40]) <= INT_MAX:
        return int(value)
    return _refused(value, "int")


def to_uint(value: Any) -> Any:
    """Return `uint(value)`."""
    if isinstance(value, UInt):
        return value
    if type(value) is int:
        return UInt(value) if value >= 0 else CelError("unsigned integer overflow")
    if type(value) is float:
        if math.isnan(value) or math.isinf(value) or not 0 <= value < float(UINT_MAX):
            return CelError("unsigned integer overflow")
        return UInt(int(value))
    if isinstance(value, str) and value.isascii() and value.isdigit() and int(value[:40]) <= UINT_MAX:
        return UInt(int(value))
    return _refused(value, "uint")


def to_double(value: Any) -> Any:
    """Return `double(value)`."""
    if type(value) in (int, float, UInt):
        return float(value)
    if isinstance(value, str) and _FLOAT.fullmatch(value):
        number = float(value)
        if not math.isinf(number) or "n" in value.lower():
            return number
    return _refused(value, "double")


def to_bool(value: Any) -> Any:
    """Return `bool(value)`."""
    if type(value) is bool:
        return value
    if isinstance(value, str) and value in _TRUE | _FALSE:
        return value in _TRUE
    return _refused(value, "bool")


def to_bytes(value: Any) -> Any:
    """Return `bytes(value)`."""
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else _refused(value, "bytes")


def to_string(value: Any) -> Any:
    """Return `string(value)`."""
    kind = type(value)
    if kind is str:
        return value
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is UInt:
        return str(int(value))
    if kind is float:
        return shortest_float(value)
    if kind is bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return CelError("invalid UTF-8 in bytes, cannot convert to string")
    if kind is Duration:
        return f"{positional_float(value.nanoseconds / SECOND_NS)}s"
    if kind is Timestamp:
        return rfc3339_nano(value)
    if kind is Type:
        return value.name
    return _refused(value, "string")


def to_duration(value: Any) -> Any:
    """Return `duration(value)`."""
    if isinstance(value, Duration):
        return value
    if isinstance(value, str):
        try:
            return Duration(parse_go_duration_ns(value))
        except DurationError:
            pass
    return _refused(value, "google.protobuf.Duration")


def to_timestamp(value: Any) -> Any:
    """Return `timestamp(value)`."""
    if isinstance(value, Timestamp):
        return value
    if type(value) is int:
        return moment(value * SECOND_NS)
    parsed = _parse_rfc3339(value) if isinstance(value, str) else None
    return _refused(value, "google.protobuf.Timestamp") if parsed is None else parsed


def to_type(value: Any) -> Any:
    """Return `type(value)`."""
    return value if isinstance(value, CelError) else type_of(value)


def identity(value: Any) -> Any:
    """Return the value itself."""
    return value


def moment(nanoseconds: int, offset_s: int = 0) -> Any:
    """Return a timestamp, or the error of one that the calendar does not have."""
    if not _UNIX_MIN <= nanoseconds // SECOND_NS <= _UNIX_MAX:
        return CelError("timestamp overflow")
    return Timestamp(nanoseconds, offset_s)


def _parse_rfc3339(text: str) -> Any:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[index]) for index in range(1, 7))
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year or 4, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    if year == 0:
        return CelError("timestamp overflow")
    offset = 0
    if match[8]:
        if int(match[9]) > 23 or int(match[10]) > 59:
            return None
        offset = (int(match[9]) * 3600 + int(match[10]) * 60) * (-1 if match[8] == "-" else 1)
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    fraction = int((match[7] or "").ljust(9, "0")[:9])
    return moment(seconds * SECOND_NS + fraction, offset)


def rfc3339_nano(value: Timestamp) -> str:
    """Return a timestamp as Go prints it with RFC3339Nano, in its own zone."""
    seconds, nanoseconds = divmod(value.nanoseconds, SECOND_NS)
    days, rest = divmod(seconds + value.offset_s, 86_400)
    day = date.fromordinal(min(max(days + _EPOCH_DAY, 1), date.max.toordinal()))
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    zone = "Z"
    if value.offset_s:
        hours, minutes = divmod(abs(value.offset_s) // 60, 60)
        zone = f"{'-' if value.offset_s < 0 else '+'}{hours:02d}:{minutes:02d}"
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{day.year:04d}-{day.month:02d}-{day.day:02d}T{clock}{fraction}{zone}"
