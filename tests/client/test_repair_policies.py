"""The policies that play the repair suite: each does what its name says, on real worlds."""

from __future__ import annotations

import pytest

from env_core.episode import Episode
from env_core.suites.repair import SUITE, levels
from kubedrill.models import KubeObservation
from kubedrill.policies._running import Running, read_revisions
from kubedrill.policies.floors import IdlePolicy, RandomPolicy, StaticPolicy
from kubedrill.policies.repairing import RepairPolicy
from tests.baselines.__main__ import solved

SEED = 1
OTHER_SEED = 101
"""A seed on which the rules were tried out; the table of baselines takes others."""


def task_of(name):
    """Return the task of a family's first fault, or of the fault that is named after a slash."""
    family, _, fault = name.partition("/")
    entries = [entry for entry in levels.variants().values() if entry.family.id == family]
    task_id = next(entry.task_id for entry in entries if fault in ("", entry.fault.id))
    return next(task for task in SUITE.tasks if task.id == task_id)


def played(name, seed, policy):
    """Return the commands of a policy's episode."""
    episode, result = Episode.reset(suite="repair", task=task_of(name).id, seed=seed)
    commands = []
    while not result.is_done:
        commands.append(policy.act(KubeObservation.model_validate(result.observation)))
        result = episode.step(commands[-1])
    return commands


@pytest.mark.parametrize("family", ["NW-01", "IM-01", "CX-05"])
def test_doing_nothing_and_chance_solve_nothing(family):
    assert not solved(task_of(family), SEED, IdlePolicy())
    assert not solved(task_of(family), SEED, RandomPolicy(OTHER_SEED))


def test_contradictions_of_manifests_are_found_without_looking_at_what_runs():
    assert solved(task_of("NW-01"), SEED, StaticPolicy())
    assert not solved(task_of("IM-01"), SEED, StaticPolicy())


@pytest.mark.parametrize("family", ["NW-01", "CX-05"])
def test_rules_repair_what_shows(family):
    assert solved(task_of(family), SEED, RepairPolicy())


@pytest.mark.parametrize(
    "name",
    [
        "AD-02/account-mistyped",
        "AD-03/leftovers",
        "AD-05/server-scaled-away",
        "NW-02/whole-application",
        "NW-03/wrong-number",
        "NW-06/closed-namespace",
        "NW-20/no-drain",
        "PR-04/wrong-path",
        "RO-02/errors-since-release",
        "RO-03/left-at-zero",
        "RO-04/forgotten-pause",
        "RO-05/second-autoscaler",
        "RO-10/tag-slip",
        "RS-03/leaking-release",
        "SN-02/stray-taint",
        "SN-12/guessed-name",
        "ST-01/slip-of-class",
        "ST-05/rolling-update",
    ],
)
def test_each_rule_repairs_what_it_is_about(name):
    assert solved(task_of(name), OTHER_SEED, RepairPolicy())


@pytest.mark.parametrize("seed", [100, 101, 103, 104])
def test_a_world_that_is_well_is_left_alone(seed):
    commands = played("CX-05", seed, RepairPolicy())
    assert commands[-1] == "submit --mechanism=none"
    assert not [line for line in commands if {"patch", "undo", "scale"} & set(line.split())]


def test_nobody_goes_back_and_forth_between_revisions():
    commands = played("CF-02/unit-slip", OTHER_SEED, RepairPolicy())
    undone = [line.split(" --to-revision")[0] for line in commands if "rollout undo" in line]
    assert undone
    assert len(undone) == len(set(undone))


def test_the_last_release_is_the_last_change_that_was_more_than_a_restart():
    episode, result = Episode.reset(suite="repair", task=task_of("NW-20").id, seed=100)
    namespace = "data"
    assert namespace in result.observation["incident_brief"]
    running = Running.parsed(episode.step(read_revisions(namespace)).observation["output"])
    releases = {workload: running.release(workload) for workload in running.revisions}
    dropping = [workload for workload, release in releases.items() if release and release.drops("lifecycle")]
    assert len(dropping) == 1
    assert running.latest(dropping[0]) is None


def test_a_long_output_is_read_page_by_page():
    commands = played("CX-05", 104, RepairPolicy())
    pages = [line for line in commands if "tail -c +15001" in line]
    assert pages


def test_the_random_policy_is_its_seeds():
    assert [RandomPolicy(3)._draw(10) for _ in range(3)] == [RandomPolicy(3)._draw(10) for _ in range(3)]
