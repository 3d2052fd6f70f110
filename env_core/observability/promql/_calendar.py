"""The calendar functions, on seconds since 1970 in UTC.

Source: proleptic Gregorian calendar as Go's time package has it; recorded in tests/golden/promql (group dates).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_DAY: Final = 86_400
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _date(seconds: int) -> tuple[int, int, int]:
    """Return year, month and day (days counted in eras of 400 years, years from March)."""
    days = seconds // _DAY + 719_468
    era, day = divmod(days, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return (
        year + era * 400 + (month >= 10),
        month + 3 if month < 10 else month - 9,
        day - (153 * month + 2) // 5 + 1,
    )


def _days_in_month(seconds: int) -> int:
    year, month, _ = _date(seconds)
    return 29 if month == 2 and _is_leap(year) else _MONTH_DAYS[month - 1]


def _day_of_year(seconds: int) -> int:
    year, month, day = _date(seconds)
    return sum(_MONTH_DAYS[: month - 1]) + day + (month > 2 and _is_leap(year))


CALENDAR: Final[dict[str, Callable[[int], int]]] = {
    "days_in_month": _days_in_month,
    "day_of_month": lambda seconds: _date(seconds)[2],
    "day_of_week": lambda seconds: (seconds // _DAY + 4) % 7,
    "day_of_year": _day_of_year,
    "hour": lambda seconds: seconds % _DAY // 3600,
    "minute": lambda seconds: seconds % 3600 // 60,
    "month": lambda seconds: _date(seconds)[1],
    "year": lambda seconds: _date(seconds)[0],
}
