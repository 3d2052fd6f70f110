import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from env_core.sim import ids
from env_core.sim.rng import SAFE_ALPHABET, Streams
from env_core.sim.state import State
from env_core.sim.trace import GENESIS, Trace


def test_a_draw_in_one_stream_shifts_no_other():
    alone = Streams(7)
    mixed = Streams(7)
    mixed.stream("scheduler").bits()
    mixed.stream("kubelet", "node-a").bits()
    assert [alone.stream("names").bits() for _ in range(5)] == [
        mixed.stream("names").bits() for _ in range(5)
    ]


def test_seeds_and_names_give_different_streams():
    draws = {Streams(seed).stream(name).bits() for seed in range(20) for name in ("a", "b", "a/b")}
    assert len(draws) == 60


def test_a_fork_continues_where_its_parent_was_and_a_new_seed_starts_afresh():
    streams = Streams(7)
    first = [streams.stream("names").bits() for _ in range(3)]
    fork, other = streams.fork(), streams.fork(8)
    assert fork.stream("names").bits() == streams.stream("names").bits()
    assert other.stream("names").bits() == Streams(8).stream("names").bits()
    assert len(set(first)) == 3


def test_draws_are_the_same_in_every_process():
    code = "from env_core.sim.rng import Streams; print(Streams(11).stream('names').suffix(10))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(found) == 1


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_below_stays_below(seed, bound):
    assert 0 <= Streams(seed).stream("x").below(bound) < bound


@given(st.integers(0, 10**6), st.lists(st.integers(), max_size=20))
def test_shuffling_keeps_every_element(seed, items):
    assert sorted(Streams(seed).stream("x").shuffled(items)) == sorted(items)


def test_below_refuses_an_empty_range():
    with pytest.raises(ValueError, match="positive"):
        Streams(1).stream("x").below(0)


def test_identities_have_their_forms():
    stream = Streams(3).stream("ids")
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", ids.uid(stream)
    )
    assert re.fullmatch(r"[0-9a-f]{64}", ids.hex_id(stream))
    assert set(stream.suffix(200)) <= set(SAFE_ALPHABET)


def test_a_forked_table_does_not_see_later_writes_either_way():
    state = State()
    table = state.table("runs")
    table["a"] = 1
    fork = state.fork()
    table["a"] = 2
    fork.table("runs")["b"] = 3
    assert table.items() == [("a", 2)]
    assert fork.table("runs").items() == [("a", 1), ("b", 3)]
    assert fork.table("runs").pop("a") == 1
    assert "a" in table


def test_the_digest_does_not_depend_on_when_it_is_asked_for():
    often, once = Trace(), Trace()
    for line in ("one", "two", "three"):
        often.add(line)
        often.digest()
        once.add(line)
    assert often.digest() == once.digest() != GENESIS


def test_the_digest_tells_apart_what_happened_from_its_order():
    first, second = Trace(), Trace()
    for line in ("one", "two"):
        first.add(line)
    for line in ("two", "one"):
        second.add(line)
    assert first.digest() != second.digest()


def test_a_forked_trace_continues_from_the_same_digest():
    trace = Trace()
    trace.add("one")
    fork = trace.fork()
    trace.add("two")
    fork.add("two")
    assert trace.digest() == fork.digest()
