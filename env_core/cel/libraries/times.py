"""The parts of timestamps and durations. Zones are UTC and numeric offsets: no database of zones is asked.

Source: github.com/google/cel-go v0.29 common/stdlib/standard.go.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, Final

from env_core.cel._conversions import SECOND_NS
from env_core.cel._declarations import Function, Library, member
from env_core.cel._types import DURATION, INT, STRING, TIMESTAMP
from env_core.cel._values import CelError, Duration, Timestamp
from env_core.objects.problems import quoted

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_UTC: Final = frozenset({"", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Zulu"})


def _offset_s(zone: str) -> int | CelError:
    hours, colon, minutes = zone.partition(":")
    if not colon:
        return 0 if zone in _UTC else CelError(f"unknown time zone {zone}")
    for part in (hours, minutes):
        if not part.lstrip("+-").isdigit():
            return CelError(f"strconv.Atoi: parsing {quoted(part)}: invalid syntax")
    sign = -1 if zone.startswith("-") else 1
    return (int(hours) * 60 + sign * int(minutes)) * 60


def _day(value: Timestamp, offset_s: int) -> date:
    days = (value.nanoseconds // SECOND_NS + offset_s) // 86_400
    return date.fromordinal(min(max(days + _EPOCH_DAY, 1), date.max.toordinal()))


def _second(value: Timestamp, offset_s: int) -> int:
    return (value.nanoseconds // SECOND_NS + offset_s) % 86_400


_Part = Callable[[Timestamp, int], int]
_PARTS: Final[dict[str, tuple[str, _Part]]] = {
    "getFullYear": ("year", lambda value, offset: _day(value, offset).year),
    "getMonth": ("month", lambda value, offset: _day(value, offset).month - 1),
    "getDayOfYear": ("day_of_year", lambda value, offset: _day(value, offset).timetuple().tm_yday - 1),
    "getDayOfMonth": ("day_of_month", lambda value, offset: _day(value, offset).day - 1),
    "getDate": ("day_of_month_1_based", lambda value, offset: _day(value, offset).day),
    "getDayOfWeek": ("day_of_week", lambda value, offset: _day(value, offset).isoweekday() % 7),
    "getHours": ("hours", lambda value, offset: _second(value, offset) // 3600),
    "getMinutes": ("minutes", lambda value, offset: _second(value, offset) // 60 % 60),
    "getSeconds": ("seconds", lambda value, offset: _second(value, offset) % 60),
    "getMilliseconds": ("milliseconds", lambda value, _offset: value.nanoseconds % SECOND_NS // 1_000_000),
}
_SPANS: Final = {
    "getHours": 3600 * SECOND_NS,
    "getMinutes": 60 * SECOND_NS,
    "getSeconds": SECOND_NS,
    "getMilliseconds": 1_000_000,
}


def _in_zone(part: _Part) -> Callable[[Any, Any], Any]:
    def run(value: Timestamp, zone: str) -> Any:
        offset = _offset_s(zone)
        return offset if isinstance(offset, CelError) else part(value, offset)

    return run


def _in_utc(part: _Part) -> Callable[[Any], Any]:
    return lambda value: part(value, 0)


def _whole(unit_ns: int) -> Callable[[Duration], int]:
    def run(value: Duration) -> int:
        count = abs(value.nanoseconds) // unit_ns
        return -count if value.nanoseconds < 0 else count

    return run


def _function(name: str) -> Function:
    id_, part = _PARTS[name]
    overloads = [
        member(f"timestamp_to_{id_}", (TIMESTAMP,), INT, _in_utc(part)),
        member(f"timestamp_to_{id_}_with_tz", (TIMESTAMP, STRING), INT, _in_zone(part)),
    ]
    if name in _SPANS:
        overloads.append(member(f"duration_to_{id_}", (DURATION,), INT, _whole(_SPANS[name])))
    return Function(tuple(overloads))


LIBRARY = Library(
    order=2,
    functions={name: _function(name) for name in _PARTS},
    source="github.com/google/cel-go v0.29 common/stdlib/standard.go",
)
