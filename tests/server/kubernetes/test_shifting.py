"""Timestamps are moved to the client's clock and back, and nothing else is."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from env_core.rest.message import HttpRequest
from server.kubernetes.shifting import Shift

HOUR = Shift(3600)
EARLY = datetime.fromisoformat("2000-01-01")
LATE = datetime.fromisoformat("2100-01-01")


def test_moves_timestamps_alone():
    said = b'{"a":"2026-01-05T09:00:00Z","b":"2026-01-05T23:30:00.123456Z","c":"at 2026-01-05T09:00:00Z","d":"2026-01-05"}'
    assert HOUR.out(said) == (
        b'{"a":"2026-01-05T10:00:00Z","b":"2026-01-06T00:30:00.123456Z","c":"at 2026-01-05T09:00:00Z","d":"2026-01-05"}'
    )


def test_leaves_what_is_no_time():
    said = b'["2026-13-45T09:00:00Z","9999-12-31T23:59:59Z"]'
    assert HOUR.out(said) == said


@given(st.datetimes(EARLY, LATE), st.integers(-(10**9), 10**9))
def test_comes_back(at, seconds):
    said = b'"' + at.strftime("%Y-%m-%dT%H:%M:%S").encode() + b'Z"'
    there = Shift(seconds).out(said)
    assert Shift(-seconds).out(there) == said


LOG = "/api/v1/namespaces/tron/pods/web/log"


def test_moves_the_stamps_of_a_logs_lines_when_they_are_asked_for_and_no_others():
    said = b'2026-01-05T09:00:00.004Z GET / at 2026-01-05T09:00:00Z\n2026-01-05T09:00:01Z "2026-01-05T09:00:00Z"\n'
    moved = b'2026-01-05T10:00:00.004Z GET / at 2026-01-05T09:00:00Z\n2026-01-05T10:00:01Z "2026-01-05T09:00:00Z"\n'
    assert HOUR.out(said, f"{LOG}?container=web&timestamps=true") == moved
    assert HOUR.out(said, LOG) == said
    assert HOUR.out(said, f"{LOG}?timestamps=false") == said


def test_asks_for_a_log_since_the_episodes_time():
    asked = HttpRequest(method="GET", target=f"{LOG}?sinceTime=2026-01-05T10%3A00%3A00Z&tailLines=3")
    assert HOUR.request(asked).target == f"{LOG}?sinceTime=2026-01-05T09%3A00%3A00Z&tailLines=3"
    for target in (LOG, f"{LOG}?sinceTime=yesterday", "/api/v1/pods?sinceTime=2026-01-05T10%3A00%3A00Z"):
        assert HOUR.request(HttpRequest(method="GET", target=target)).target == target
