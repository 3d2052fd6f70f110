"""Logs that grow beyond a file: what is read of them, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from env_core.apiserver.request import ADMIN, ApiRequest, LogOptions
from env_core.programs import Line
from env_core.programs._logs import FILES_MAX, LINES_MAX, LOOK_MS, SIZE_MAX, LogKey, Logs
from env_core.rest.following import LogFollow
from env_core.sim.state import State
from tests.node.lab import CREATED_MS, Lab
from tests.node.test_node_causes import CONFIG, add

KEY = LogKey("uid", "app", 0)
MIB = 1 << 20


@pytest.fixture
def lab() -> Lab:
    world = Lab(CREATED_MS)
    world.join("node-1", CONFIG)
    world.advance(12_000)
    add(world, "web")
    world.advance(5_000)
    return world


def run_of(lab: Lab) -> Any:
    return lab.runtime.run(lab.store.get("pods", "default", "web")["metadata"]["uid"], "app")


def say(lab: Lab, text: str, times: int = 1) -> None:
    lab.runtime.log(run_of(lab), (Line(lab.now_ms, text),) * times)


def read(lab: Lab, **options: Any) -> list[str]:
    return lab.admin.logs("default", "web", LogOptions(**options)).splitlines()


def test_a_full_file_is_put_aside_at_the_next_look_and_not_before(lab):
    say(lab, "old")
    say(lab, "x" * MIB, times=10)
    before = read(lab)
    assert len(before) == 11
    assert before[0] == "old"
    lab.advance(LOOK_MS - lab.now_ms % LOOK_MS - 1)
    assert read(lab) == before
    lab.advance(1)
    assert read(lab) == []
    say(lab, "new")
    assert read(lab) == ["new"]
    assert read(lab, tail_lines=5) == ["new"]
    assert lab.runtime.log_file(run_of(lab)).files == 2


def test_a_log_one_byte_short_of_its_size_stays_whole(lab):
    say(lab, "x" * (SIZE_MAX - 41 - 1))
    lab.advance(60_000)
    say(lab, "next")
    lab.advance(LOOK_MS - lab.now_ms % LOOK_MS - 1)
    # Now the file is full.
    assert len(read(lab)) == 2
    lab.advance(1)
    assert read(lab) == []


def test_the_file_of_a_container_that_has_ended_stays(lab):
    say(lab, "x" * MIB, times=11)
    lab.runtime.end(run_of(lab), lab.now_ms, 1, "Error")
    lab.loop.wake(lab.now_ms, "kubelet", ("run", run_of(lab).container.pod_uid, "app"))
    lab.advance(30_000)
    assert run_of(lab).container.restarts >= 1
    assert len(read(lab, previous=True)) == 11


def test_a_container_has_five_files_at_most(lab):
    for _ in range(8):
        say(lab, "x" * SIZE_MAX)
        lab.advance(LOOK_MS)
    say(lab, "last")
    assert lab.runtime.log_file(run_of(lab)).files == FILES_MAX
    assert read(lab) == ["last"]


def chunks_of(logs: Logs) -> int:
    count, at = 0, logs._rows.get(KEY)
    while at is not None:
        count += len(at.lines)
        at = at.before
    return count


def test_what_is_kept_of_a_log_is_bounded_and_reads_as_if_all_were():
    logs, every = Logs(State()), []
    for number in range(30_000):
        line = Line(number * 10, f"line {number}")
        every.append(line)
        logs.add(KEY, (line,))
        assert number % 1_000 or chunks_of(logs) <= 2 * LINES_MAX
    assert logs.lines(KEY, LINES_MAX, None, None) == every[-LINES_MAX:]
    assert logs.lines(KEY, 7, None, None) == every[-7:]


def test_lines_said_at_once_are_bounded_too():
    logs = Logs(State())
    logs.add(KEY, tuple(Line(number, "x") for number in range(50_000)))
    logs.add(KEY, (Line(50_000, "y"),))
    assert chunks_of(logs) == LINES_MAX + 1
    assert logs.lines(KEY, LINES_MAX, None, None)[0].at_ms == 40_001


def test_rotated_lines_are_let_go():
    logs = Logs(State())
    for second in range(100):
        logs.add(KEY, (Line(second * 1_000, "x" * MIB),) * 2)
    assert chunks_of(logs) * MIB <= 2 * SIZE_MAX + 2 * MIB * LOOK_MS // 1_000
    assert logs.file(KEY).files == FILES_MAX


def test_a_log_that_is_followed_goes_on_over_a_rotation(lab):
    say(lab, "same", times=3)
    say(lab, "x" * SIZE_MAX)
    request = ApiRequest(
        verb="get",
        resource="pods",
        namespace="default",
        name="web",
        subresource="log",
        log=LogOptions(),
        identity=ADMIN,
    )
    follow = LogFollow(lab.server, request, "", ())
    assert follow.poll() == b""
    lab.advance(LOOK_MS)
    assert follow.poll() == b""
    say(lab, "same", times=2)
    assert follow.poll() == b"same\nsame\n"
