"""Cron schedules: what is wrong with one, and when it is due, as the library that Kubernetes uses has it.

Source: github.com/robfig/cron/v3 parser.go, spec.go, constantdelay.go; tests/golden/l0/cronjob_math, validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from env_core.objects.goint import IntegerError, atoi
from env_core.objects.time_zones import is_time_zone, utc_offset_s
from env_core.sim.timefmt import DurationError, parse_go_duration

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_BOUNDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_ZONE_PREFIXES = ("TZ=", "CRON_TZ=")
_YEARS_AHEAD_MAX = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ScheduleError(ValueError):
    """A schedule does not parse; the message is the parser's."""


@dataclass(frozen=True, slots=True)
class _Field:
    """The numbers that one field allows, and whether it was a star."""

    numbers: frozenset[int]
    is_star: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due: at the minutes that five fields allow, or every so many seconds."""

    fields: tuple[_Field, ...] = ()
    every_s: int = 0
    zone: str = ""
    """The time zone in which the fields are read; "" is UTC."""

    def next_s(self, after_s: int) -> int | None:
        """Return the first due Unix second after `after_s`; None if there is none within five years."""
        return after_s + self.every_s if self.every_s else _next(self, after_s + 1)


@lru_cache(maxsize=512)
def schedule_complaint(schedule: str) -> str:
    """Return what is wrong with a schedule, "" when it is fine."""
    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        return str(error)
    return ""


def has_time_zone(schedule: str) -> bool:
    """Tell whether a schedule names a time zone itself."""
    return "TZ" in schedule


@lru_cache(maxsize=512)
def parse_schedule(schedule: str) -> Schedule:
    """Return what a schedule says.

    Raises:
        ScheduleError: with the parser's text.
    """
    if not schedule:
        raise ScheduleError("empty spec string")
    zone = ""
    if schedule.startswith(_ZONE_PREFIXES):
        prefix, _, schedule = schedule.partition(" ")
        zone = prefix.partition("=")[2]
        if zone and not is_time_zone(zone):
            raise ScheduleError(f"provided bad location {zone}: unknown time zone {zone}")
        schedule = schedule.strip()
    if schedule.startswith(_EVERY):
        return Schedule(every_s=_every_s(schedule), zone=zone)
    if schedule.startswith("@"):
        if schedule not in _DESCRIPTORS:
            raise ScheduleError(f"unrecognized descriptor: {schedule}")
        schedule = _DESCRIPTORS[schedule]
    texts = schedule.split()
    if len(texts) != len(_BOUNDS):
        listed = " ".join(texts)
        raise ScheduleError(f"expected exactly {len(_BOUNDS)} fields, found {len(texts)}: [{listed}]")
    found = [_field(text, *bounds) for text, bounds in zip(texts, _BOUNDS, strict=True)]
    return Schedule(fields=tuple(found), zone=zone)


def _every_s(schedule: str) -> int:
    try:
        delay_ms = parse_go_duration(schedule.removeprefix(_EVERY))
    except DurationError as error:
        raise ScheduleError(f"failed to parse duration {schedule}: {error}") from None
    return max(delay_ms // 1000, 1)


def _field(text: str, low: int, high: int, known: dict[str, int]) -> _Field:
    numbers: set[int] = set()
    is_star = False
    for part in text.split(","):
        if part:
            allowed, is_every = _range(part, low, high, known)
            numbers.update(allowed)
            is_star = is_star or is_every
    return _Field(frozenset(numbers), is_star)


def _range(part: str, low: int, high: int, known: dict[str, int]) -> tuple[range, bool]:
    span, *steps = part.split("/")
    limits = span.split("-")
    is_star = limits[0] in ("*", "?")
    if is_star:
        start, end = low, high
    else:
        start = _number(limits[0], known)
        if len(limits) > 2:
            raise ScheduleError(f"too many hyphens: {part}")
        end = start if len(limits) == 1 else _number(limits[1], known)
    step = 1
    if steps:
        if len(steps) > 1:
            raise ScheduleError(f"too many slashes: {part}")
        step = _number(steps[0], {})
        if len(limits) == 1:
            end = high
    if start < low:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise ScheduleError(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {part}")
    return range(start, end + 1, step), is_star and step == 1


def _number(text: str, known: dict[str, int]) -> int:
    if text.lower() in known:
        return known[text.lower()]
    try:
        number = atoi(text)
    except IntegerError as error:
        raise ScheduleError(f"failed to parse int from {text}: {error}") from None
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number


class _Moment:
    """A Unix second as the clocks of a zone show it; moves as Go's time.Time does."""

    __slots__ = ("local", "utc_s", "zone")

    def __init__(self, utc_s: int, zone: str) -> None:
        self.utc_s = utc_s
        self.zone = zone
        self.local = _EPOCH + timedelta(seconds=utc_s + utc_offset_s(zone, utc_s))

    def plus(self, seconds: int) -> _Moment:
        return _Moment(self.utc_s + seconds, self.zone)

    def at(self, local: datetime) -> _Moment:
        """Return when the zone's clocks show `local`; where they skip it, what Go's time.Date takes."""
        shown_s = (local - _EPOCH) // timedelta(seconds=1)
        near_s = shown_s - utc_offset_s(self.zone, shown_s)
        return _Moment(shown_s - utc_offset_s(self.zone, near_s), self.zone)

    def next_month(self) -> _Moment:
        month = self.local.month % 12 + 1
        return self.at(self.local.replace(year=self.local.year + (month == 1), month=month))

    def next_day(self) -> _Moment:
        moment = self.at(self.local + timedelta(days=1))
        # Midnight may not exist where clocks are set forward: look for the start of the day nearby.
        hour = moment.local.hour
        return moment.plus((24 - hour if hour > 12 else -hour) * 3600) if hour else moment


def _next(schedule: Schedule, start_s: int) -> int | None:
    minutes, hours, _, months, _ = [field.numbers for field in schedule.fields]
    moment = _Moment(start_s, schedule.zone)
    year_max = moment.local.year + _YEARS_AHEAD_MAX
    is_moved = False
    while moment.local.year <= year_max:
        if moment.local.month not in months:
            moment = moment if is_moved else moment.at(_cut(moment.local, day=1))
            moment = moment.next_month()
        elif not _is_day(schedule, moment.local):
            moment = moment if is_moved else moment.at(_cut(moment.local))
            moment = moment.next_day()
        elif moment.local.hour not in hours:
            moment = moment if is_moved else moment.at(_cut(moment.local, hour=moment.local.hour))
            moment = moment.plus(3600)
        elif moment.local.minute not in minutes or moment.local.second:
            moment = moment.plus(60 - moment.local.second)
        else:
            return moment.utc_s
        is_moved = True
    return None


def _cut(local: datetime, *, day: int = 0, hour: int = 0) -> datetime:
    return local.replace(day=day or local.day, hour=hour, minute=0, second=0)


def _is_day(schedule: Schedule, local: datetime) -> bool:
    days, weekdays = schedule.fields[2], schedule.fields[4]
    is_day, is_weekday = local.day in days.numbers, local.isoweekday() % 7 in weekdays.numbers
    # Two restrictions are alternatives, as in crontabs of old; a star restricts nothing.
    return is_day and is_weekday if days.is_star or weekdays.is_star else is_day or is_weekday
