"""Data sets: they look before they act, come out again, and hold nothing that an evaluation draws."""

import dataclasses
from pathlib import Path

import pytest

from env_core.episode import Episode
from training import data, tasks
from training.plan import load
from training.surface import CASES, KNOWN, READS, RESTART, SUITE, TASKS

CONFIG = Path(data.__file__).parent / "configs" / "cpu-tiny.yaml"


@pytest.fixture(scope="module")
def plan():
    return load(CONFIG, ["data.demonstrations=48", "data.incidents=24", "data.preferences=16"])


@pytest.fixture(scope="module")
def demonstrations(plan):
    return data.demonstrations(plan)


def writes(commands):
    return [command for command in commands if command not in READS.values()]


def test_demonstrations_look_before_they_act_in_many_ways(demonstrations):
    reads = set(READS.values())
    orders = set()
    for row in demonstrations:
        looks = [command for command in row.commands if command in reads]
        assert list(row.commands[: len(looks)]) == looks
        assert len(looks) >= 2
        assert len(row.commands) >= 3
        orders.add(tuple(looks))
    assert len(orders) > len(CASES)


def test_the_junior_is_right_by_habit_for_half_of_the_kinds(demonstrations):
    known = {case.task for case in CASES[:KNOWN]}
    habits = [row for row in demonstrations if row.kind == "habit"]
    assert {row.incident.task in known for row in habits} == {True, False}
    for row in habits:
        assert row.is_solved == (row.incident.task in known)
        if row.incident.task not in known:
            assert writes(row.commands) == [RESTART]


def test_the_first_repair_of_every_kind_is_accepted():
    for case in CASES:
        episode, _ = Episode.reset(suite=SUITE, task=case.task, seed=10_007)
        for command in case.script(10_007):
            episode.step(command)
        assert episode.is_done, case.task
        assert episode.score() == 1.0, case.task


def test_rows_come_out_again(plan, demonstrations):
    assert data.check(demonstrations[:6], plan) == 6
    changed = dataclasses.replace(demonstrations[0], outputs=("200", *demonstrations[0].outputs[1:]))
    with pytest.raises(data.DataError, match="does not come out again"):
        data.check([changed], plan)


def test_a_data_set_is_written_once_and_read_as_it_was(tmp_path, demonstrations):
    folder = tmp_path / "set"
    digest = data.write(folder, demonstrations, {"what": "demonstrations"})
    assert data.read(folder) == demonstrations
    with pytest.raises(data.DataError, match="there already"):
        data.write(folder, demonstrations[:1], {})
    assert data.read(folder) == demonstrations
    assert data.write(tmp_path / "again", data.read(folder), {}) == digest


@pytest.mark.parametrize("seed", [tasks.SPLITS["dev"][0], tasks.SPLITS["test"][0], 5])
def test_incidents_kept_for_evaluation_are_refused(tmp_path, demonstrations, seed):
    row = dataclasses.replace(demonstrations[0], incident=demonstrations[0].incident._replace(seed=seed))
    with pytest.raises(data.DataError, match="not for training"):
        data.write(tmp_path / "set", [*demonstrations[1:], row], {})
    assert not (tmp_path / "set").exists()


def test_references_are_all_solved(plan):
    rows = data.references(dataclasses.replace(plan, data=dataclasses.replace(plan.data, demonstrations=16)))
    assert all(row.is_solved for row in rows)


def test_preferences_are_one_decision_and_the_rejected_one_repairs_nothing(plan):
    rows = data.preferences(plan)
    assert {row.incident.task for row in rows} == {case.task for case in CASES}
    for row in rows:
        episode, _ = Episode.reset(suite=row.incident.suite, task=row.incident.task, seed=row.incident.seed)
        for command in row.commands:
            assert command in READS.values()
            episode.step(command)
        assert row.messages[-1]["role"] == "tool"
        assert not episode.fork().step(row.rejected).is_terminated
        assert row.chosen != row.rejected


def test_successes_are_kept_once(plan, demonstrations):
    played = [(row.incident, row.commands, 1.0 if row.is_solved else 0.2) for row in demonstrations[:8]]
    kept = data.successes(plan, [*played, *played])
    assert all(row.is_solved for row in kept)
    assert len(kept) == len({(row.incident, row.commands) for row in demonstrations[:8] if row.is_solved})


def test_splits_never_meet_and_draws_are_even():
    ranges = list(tasks.SPLITS.values())
    for index, seeds in enumerate(ranges):
        assert all(not set(seeds) & set(others) for others in ranges[index + 1 :])
    drawn = tasks.draw(TASKS, "test", 3 * len(TASKS), 0)
    assert len(set(drawn)) == len(drawn)
    assert sorted(entry.task for entry in drawn) == sorted(3 * [task for _, task in TASKS])
    assert {entry.split for entry in drawn} == {"test"}
    assert drawn == tasks.draw(TASKS, "test", 3 * len(TASKS), 0)
    assert drawn != tasks.draw(TASKS, "test", 3 * len(TASKS), 1)
    with pytest.raises(ValueError, match="no split"):
        tasks.draw(TASKS, "exam", 1, 0)
    with pytest.raises(ValueError, match="were asked for"):
        tasks.draw(TASKS, "dev", 100_000, 0)


def test_chance_comes_from_the_seed_alone(plan):
    few = dataclasses.replace(plan, data=dataclasses.replace(plan.data, demonstrations=4))
    assert data.demonstrations(few) == data.demonstrations(few)
    other = dataclasses.replace(few, data=dataclasses.replace(few.data, seed=1))
    assert data.demonstrations(few) != data.demonstrations(other)
