"""The policies that play the repair suite: each does what its name says, on real worlds."""

from __future__ import annotations

import pytest

from env_core.suites.repair import SUITE, levels
from kubedrill.policies.floors import IdlePolicy, RandomPolicy, StaticPolicy
from kubedrill.policies.repairing import RepairPolicy
from tests.baselines.__main__ import solved

SEED = 1


def task_of(family):
    return next(task for task in SUITE.tasks if task.id == family_task(family))


def family_task(family):
    return next(entry.task_id for entry in levels.variants().values() if entry.family.id == family)


@pytest.mark.parametrize("family", ["NW-01", "IM-01", "CX-05"])
def test_doing_nothing_and_chance_solve_nothing(family):
    assert not solved(task_of(family), SEED, IdlePolicy())
    assert not solved(task_of(family), SEED, RandomPolicy(SEED))


def test_contradictions_of_manifests_are_found_without_looking_at_what_runs():
    assert solved(task_of("NW-01"), SEED, StaticPolicy())
    assert not solved(task_of("IM-01"), SEED, StaticPolicy())


@pytest.mark.parametrize("family", ["NW-01", "CX-05"])
def test_rules_repair_what_shows(family):
    assert solved(task_of(family), SEED, RepairPolicy())


def test_the_random_policy_is_its_seeds():
    assert [RandomPolicy(3)._draw(10) for _ in range(3)] == [RandomPolicy(3)._draw(10) for _ in range(3)]
