import pytest

from env_core.sim.loop import EventLoop, LivelockError


def recorder(loop: EventLoop, handler: str) -> list:
    seen: list = []
    loop.bind(handler, lambda key: seen.append((loop.now_ms, key)))
    return seen


def test_entries_run_by_time_then_priority_then_order_of_scheduling():
    loop = EventLoop(0)
    seen = recorder(loop, "note")
    loop.schedule(20, "note", "late")
    loop.schedule(10, "note", "low", priority=1)
    loop.schedule(10, "note", "first")
    loop.schedule(10, "note", "second")
    loop.run_until(15)
    assert seen == [(10, "first"), (10, "second"), (10, "low")]
    assert loop.now_ms == 15
    loop.run_until(100)
    assert seen[-1] == (20, "late")


def test_an_earlier_wake_replaces_a_later_one():
    loop = EventLoop(0)
    seen = recorder(loop, "note")
    loop.wake(50, "note", "key")
    loop.wake(20, "note", "key")
    loop.wake(80, "note", "key")
    loop.run_until(200)
    assert seen == [(20, "key")]


def test_a_wake_from_within_its_own_handler_runs_again():
    loop = EventLoop(0)
    seen: list = []

    def again(key):
        seen.append(loop.now_ms)
        if len(seen) < 3:
            loop.wake(loop.now_ms + 10, "note", key)

    loop.bind("note", again)
    loop.wake(5, "note", "key")
    loop.run_until(100)
    assert seen == [5, 15, 25]


def test_a_cancelled_wake_does_not_run_but_a_new_one_does():
    loop = EventLoop(0)
    seen = recorder(loop, "note")
    loop.wake(10, "note", "key")
    loop.cancel("note", "key")
    assert loop.due_ms("note", "key") is None
    loop.wake(30, "note", "key")
    loop.run_until(100)
    assert seen == [(30, "key")]


def test_nothing_may_be_scheduled_in_the_past():
    loop = EventLoop(100)
    with pytest.raises(ValueError, match="before now"):
        loop.schedule(99, "note", "key")


def test_components_that_wake_each_other_for_ever_are_a_livelock():
    loop = EventLoop(0)
    loop.bind("note", lambda key: loop.wake(loop.now_ms, "note", key))
    loop.wake(0, "note", "key")
    with pytest.raises(LivelockError):
        loop.run_until(1, events_max=1_000)


def test_a_fork_continues_with_its_own_agenda():
    loop = EventLoop(0)
    mine = recorder(loop, "note")
    loop.wake(10, "note", "shared")
    fork = loop.fork()
    theirs = recorder(fork, "note")
    fork.wake(5, "note", "only theirs")
    loop.wake(3, "note", "shared")
    loop.run_until(100)
    fork.run_until(100)
    assert mine == [(3, "shared")]
    assert theirs == [(5, "only theirs"), (10, "shared")]
