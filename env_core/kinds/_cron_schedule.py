"""Cron schedules: what is wrong with one, in the words of the parser that Kubernetes uses.

Source: github.com/robfig/cron/v3 ParseStandard; texts in tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_BOUNDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY = "@every "
_duration_match = re.compile(r"[-+]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)").fullmatch
_number_match = re.compile(r"[-+]?[0-9]+").fullmatch


class _ScheduleError(ValueError):
    """A schedule does not parse; the message is the parser's."""


@lru_cache(maxsize=512)
def schedule_complaint(schedule: str) -> str:
    """Return what is wrong with a schedule, "" when it is fine."""
    try:
        _check(schedule)
    except _ScheduleError as error:
        return str(error)
    return ""


def has_time_zone(schedule: str) -> bool:
    """Tell whether a schedule names a time zone itself."""
    return "TZ" in schedule


def _check(schedule: str) -> None:
    if not schedule:
        raise _ScheduleError("empty spec string")
    if schedule.startswith("@"):
        _check_descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_BOUNDS):
        listed = " ".join(fields)
        raise _ScheduleError(f"expected exactly {len(_BOUNDS)} fields, found {len(fields)}: [{listed}]")
    for field, (low, high, known) in zip(fields, _BOUNDS, strict=True):
        for part in field.split(","):
            if part:
                _check_range(part, low, high, known)


def _check_descriptor(schedule: str) -> None:
    if schedule in _DESCRIPTORS:
        return
    if not schedule.startswith(_EVERY):
        raise _ScheduleError(f"unrecognized descriptor: {schedule}")
    text = schedule[len(_EVERY) :]
    if not _duration_match(text):
        raise _ScheduleError(f'failed to parse duration {schedule}: time: invalid duration "{text}"')


def _check_range(part: str, low: int, high: int, known: dict[str, int]) -> None:
    span, *steps = part.split("/")
    limits = span.split("-")
    if limits[0] in ("*", "?"):
        start, end = low, high
    else:
        start = _number(limits[0], known)
        if len(limits) > 2:
            raise _ScheduleError(f"too many hyphens: {part}")
        end = start if len(limits) == 1 else _number(limits[1], known)
    step = 1
    if steps:
        if len(steps) > 1:
            raise _ScheduleError(f"too many slashes: {part}")
        step = _number(steps[0], {})
        if len(limits) == 1:
            end = high
    if start < low:
        raise _ScheduleError(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise _ScheduleError(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise _ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if step == 0:
        raise _ScheduleError(f"step of range should be a positive number: {part}")


def _number(text: str, known: dict[str, int]) -> int:
    if text.lower() in known:
        return known[text.lower()]
    if not _number_match(text):
        why = f'strconv.Atoi: parsing "{text}": invalid syntax'
        raise _ScheduleError(f"failed to parse int from {text}: {why}")
    number = int(text)
    if number < 0:
        raise _ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number
