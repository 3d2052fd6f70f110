import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env_core.sim import timefmt
from env_core.sim.timefmt import DurationError

GOLDEN = Path(__file__).parents[1] / "golden" / "l0" / "duration.jsonl.gz"
NOON_MS = 1_768_478_400_000


def test_recorded_durations_match():
    records = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
    differences = []
    for record in records:
        ms = record["milliseconds"] if "milliseconds" in record else record["seconds"] * 1000
        got = (timefmt.human_duration(ms), timefmt.short_human_duration(ms), timefmt.go_duration(ms))
        if got != (record["human"], record["short"], record["go"]):
            differences.append((record["id"], got))
    assert len(records) - len(differences) >= 171, differences[:5]


def test_times_are_written_in_seconds_and_microseconds():
    assert timefmt.rfc3339(NOON_MS + 999) == "2026-01-15T12:00:00Z"
    assert timefmt.rfc3339_micro(NOON_MS + 7) == "2026-01-15T12:00:00.007000Z"


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-01-15T12:00:00Z", NOON_MS),
        ("2026-01-15T12:00:00.123456789Z", NOON_MS + 123),
        ("2026-01-15T13:30:00+01:30", NOON_MS),
        ("2026-01-15T11:00:00-01:00", NOON_MS),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.500Z", -500),
    ],
)
def test_times_read_with_fractions_and_offsets(text, ms):
    assert timefmt.parse_ms(text) == ms


@pytest.mark.parametrize("text", ["", "2026-01-15", "2026-13-15T12:00:00Z", "2026-01-15 12:00:00Z", "now"])
def test_other_texts_are_no_times(text):
    with pytest.raises(ValueError, match=r".+"):
        timefmt.parse_ms(text)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 4_000_000_000_000))
def test_times_and_spans_read_back(ms):
    assert timefmt.parse_ms(timefmt.rfc3339_micro(ms)) == ms
    assert timefmt.parse_ms(timefmt.rfc3339(ms)) == ms - ms % 1000
    assert timefmt.parse_go_duration(timefmt.go_duration(ms)) == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [("0", 0), ("1h30m", 5_400_000), ("1.5s", 1500), ("-2m", -120_000), (".5h", 1_800_000), ("250us", 0)],
)
def test_go_durations_read_as_go_reads_them(text, ms):
    assert timefmt.parse_go_duration(text) == ms


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("5", 'time: missing unit in duration "5"'),
        ("5d", 'time: unknown unit "d" in duration "5d"'),
        ("abc", 'time: invalid duration "abc"'),
        ("1.s.", 'time: invalid duration "1.s."'),
        ("9999999h", 'time: invalid duration "9999999h"'),
    ],
)
def test_wrong_durations_are_refused_in_gos_words(text, message):
    with pytest.raises(DurationError) as caught:
        timefmt.parse_go_duration(text)
    assert str(caught.value) == message
