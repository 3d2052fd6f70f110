"""Schedules: what parses, and that the next due time is the first one that the clocks' fields allow."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.objects.cron_schedule import parse_schedule, schedule_complaint
from env_core.objects.time_zones import utc_offset_s

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START_S = 1_767_603_600
YEAR_S = 366 * 86_400
ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
]


def part(low, high):
    """A part of a field: a star, a number, a range, with or without a step."""
    number = st.integers(low, high)
    spans = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    base = st.one_of(st.just("*"), number.map(str), spans)
    return st.one_of(base, st.tuples(base, st.integers(1, 20)).map(lambda pair: f"{pair[0]}/{pair[1]}"))


def field(low, high):
    return st.lists(part(low, high), min_size=1, max_size=3).map(",".join)


schedules = st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)).map(" ".join)


def numbers(text, low, high):
    """Return the numbers that a field allows, read anew in the plainest way."""
    found = set()
    for each in text.split(","):
        span, _, step = each.partition("/")
        first, _, last = span.partition("-")
        if first == "*":
            first, last = low, high
        elif not last:
            last = high if step else first
        found.update(range(int(first), int(last) + 1, int(step or 1)))
    return found


def is_star(text):
    return any(each in ("*", "*/1") for each in text.split(","))


def allows(schedule, local):
    minute, hour, day, month, weekday = schedule.split()
    is_day = local.day in numbers(day, 1, 31)
    is_weekday = local.isoweekday() % 7 in numbers(weekday, 0, 6)
    fits = is_day and is_weekday if is_star(day) or is_star(weekday) else is_day or is_weekday
    return (
        fits
        and local.minute in numbers(minute, 0, 59)
        and local.hour in numbers(hour, 0, 23)
        and local.month in numbers(month, 1, 12)
        and local.second == 0
    )


def shown(zone, utc_s):
    return EPOCH + timedelta(seconds=utc_s + utc_offset_s(zone, utc_s))


@given(schedules, st.integers(0, YEAR_S))
def test_the_next_time_is_the_first_minute_that_the_fields_allow(schedule, offset_s):
    after_s = START_S + offset_s
    found = parse_schedule(schedule).next_s(after_s)
    first_minute = after_s // 60 + 1
    minutes = range(first_minute, first_minute + 3 * 1440)
    first = next((each * 60 for each in minutes if allows(schedule, shown("", each * 60))), None)
    if first is not None:
        assert found == first
    elif found is not None:
        assert found >= minutes.stop * 60
        assert allows(schedule, shown("", found))


@settings(max_examples=200)
@given(schedules, st.integers(0, YEAR_S), st.sampled_from(ZONES))
def test_in_every_zone_the_clocks_show_what_the_fields_allow(schedule, offset_s, zone):
    due_s = START_S + offset_s
    for _ in range(3):
        before_s, due_s = due_s, parse_schedule(f"TZ={zone} {schedule}").next_s(due_s)
        if due_s is None:
            return
        assert due_s > before_s
        assert allows(schedule, shown(zone, due_s))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ],
)
def test_descriptors_stand_for_schedules(short, long):
    assert parse_schedule(short) == parse_schedule(long)


def test_every_counts_from_the_time_before():
    assert parse_schedule("@every 90s").next_s(START_S) == START_S + 90
    assert parse_schedule("@every 1ms").next_s(START_S) == START_S + 1


def test_days_that_no_month_has_are_never_due():
    assert parse_schedule("0 0 30 2 *").next_s(START_S) is None


@given(st.text(alphabet="0123456789*/-,?@abceilmnorstuvy TZ=", max_size=30))
def test_any_text_is_a_schedule_or_has_a_complaint(text):
    if schedule_complaint(text):
        return
    due_s = parse_schedule(text).next_s(START_S)
    assert due_s is None or due_s > START_S
