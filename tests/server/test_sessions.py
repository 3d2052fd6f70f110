"""The table of sessions by itself, on a clock of its own."""

import pytest

from server.refusals import Refusal
from server.sessions import ENDED_MAX, HTTP, UNTOUCHED_S, WEBSOCKET, SessionTable
from server.settings import Settings


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def table_of(clock, **settings):
    return SessionTable(Settings(**settings), clock=clock)


def begun(table, channel, episode_id, *, steps=1):
    session = table.open(channel, "1.2.3.4")
    table.bind(session, episode_id)
    session.steps = steps
    return session


def test_an_open_socket_never_gives_way(clock):
    table = table_of(clock, episodes_max=1, grace_s=10)
    session = begun(table, WEBSOCKET, "ep")
    session.holder = object()
    clock.now += 1_000
    with pytest.raises(Refusal) as refused:
        table.open(WEBSOCKET, "")
    assert (refused.value.status, refused.value.code) == (503, "CAPACITY_REACHED")
    assert table.refused == 1


def test_who_gives_way_first_is_over_then_untouched_then_idle(clock):
    table = table_of(clock, episodes_max=3, grace_s=60)
    idle = begun(table, WEBSOCKET, "idle")
    untouched = begun(table, HTTP, "untouched", steps=0)
    over = begun(table, HTTP, "over")
    over.is_done = True
    clock.now += 61
    gone = []
    for _ in range(3):
        table.open(WEBSOCKET, "").holder = object()
        gone.append([session for session in (over, untouched, idle) if not table.is_open(session)][-1])
    assert gone == [over, untouched, idle]
    with pytest.raises(Refusal):
        table.open(WEBSOCKET, "")


def test_a_played_episode_is_safe_within_its_grace(clock):
    table = table_of(clock, episodes_max=1, grace_s=60)
    begun(table, HTTP, "ep")
    clock.now += UNTOUCHED_S + 1
    with pytest.raises(Refusal) as refused:
        table.open(HTTP, "")
    assert 1 <= refused.value.retry_after_s <= 30


def test_what_is_told_of_an_ended_episode_is_why_and_only_so_many_are_remembered(clock):
    table = table_of(clock, episodes_max=10, idle_s_max=5)
    begun(table, HTTP, "ep")
    clock.now += 6
    assert table.sweep() == 1
    with pytest.raises(Refusal, match="idle for more than 5 s"):
        table.over_http("ep", "", "")
    for number in range(ENDED_MAX + 1):
        table.end(begun(table, HTTP, f"e{number}"), "enough")
    with pytest.raises(Refusal) as refused:
        table.over_http("ep", "", "")
    assert refused.value.code == "UNKNOWN_EPISODE"


def test_an_ended_id_can_be_used_again(clock):
    table = table_of(clock)
    table.end(begun(table, HTTP, "ep"), "enough")
    again = begun(table, HTTP, "ep")
    assert table.over_http("ep", "", "") is again


def test_tokens_are_long_random_and_never_of_another_episode(clock):
    table = table_of(clock)
    one, two = begun(table, WEBSOCKET, "ep"), begun(table, WEBSOCKET, "ep")
    assert len({one.token, two.token}) == 2
    assert min(len(one.token), len(two.token)) >= 32
    assert table.by_token("ep", one.token) is one
    assert table.by_token("ep", two.token) is two
    for wrong in ("", "x", "é", one.token[:-1]):
        with pytest.raises(Refusal):
            table.by_token("ep", wrong)
        with pytest.raises(Refusal):
            table.over_http("ep", wrong, "")


def test_with_no_live_episode_an_address_is_answered_about_its_own_last_one(clock):
    table = table_of(clock)
    mine = begun(table, HTTP, "mine")
    mine.is_done = True
    assert table.over_http("", "", "1.2.3.4") is mine
    with pytest.raises(Refusal):
        table.over_http("", "", "5.6.7.8")


def test_memory_above_its_bound_admits_nobody_new(clock):
    table = table_of(clock, memory_mb_max=1)
    with pytest.raises(Refusal):
        table.open(HTTP, "")
