"""What the seeds of the levels draw: stable, apart by split, with what was held out kept out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from env_core.suites import ResetOptions
from env_core.suites.repair import SUITE, levels
from env_core.suites.repair._case import prepared
from server.tasks import split_tasks

TRAINING = range(10_000, 10_400)
EVALUATION = range(2_000, 2_400)


def level(number):
    return next(task for task in SUITE.tasks if task.id == f"repair-{number}")


def test_splits_never_meet():
    seeds = [seed for name in ("dev", "test") for seed in levels.SPLITS[name]]
    assert len(seeds) == len(set(seeds))
    assert not any(levels.is_training(seed) for seed in seeds)


@pytest.mark.parametrize("number", levels.LEVELS)
def test_training_never_draws_what_is_held_out(number):
    drawn = {levels.drawn(level(number), seed).variant.family.id for seed in TRAINING}
    assert drawn
    assert not drawn & levels.HELD_OUT.families


def test_evaluation_draws_what_is_held_out():
    drawn = {
        levels.drawn(level(number), seed).variant.family.id for number in levels.LEVELS for seed in EVALUATION
    }
    known = {entry.family.id for entry in levels.variants().values()}
    assert drawn >= levels.HELD_OUT.families & known


def test_training_never_builds_an_application_that_is_held_out():
    for seed in range(10_000, 10_012):
        assert prepared(level(1), seed, ResetOptions()).case.base.app not in levels.HELD_OUT.applications


@pytest.mark.parametrize("number", levels.LEVELS)
def test_level_is_the_faults_own_and_its_modifiers(number):
    for seed in EVALUATION:
        variant, modifiers = levels.drawn(level(number), seed)
        assert variant.fault.level + modifiers == number


def test_a_new_fault_moves_only_the_seeds_that_it_wins(monkeypatch):
    before = {seed: levels.drawn(level(2), seed) for seed in EVALUATION}
    known = levels.variants()
    some = next(entry for entry in known.values() if entry.fault.level == 2)
    family = replace(some.family, id="XX-01", faults=(replace(some.fault, id="another"),))
    new = levels.Variant(family, family.faults[0])
    monkeypatch.setattr(levels, "variants", lambda: {**known, new.task_id: new})
    levels._tickets.cache_clear()
    try:
        after = {seed: levels.drawn(level(2), seed) for seed in EVALUATION}
    finally:
        levels._tickets.cache_clear()
    moved = [seed for seed in EVALUATION if after[seed] != before[seed]]
    assert moved
    assert all(after[seed].variant == new for seed in moved)
    assert len(moved) < len(EVALUATION) / 4


def test_about_one_incident_of_ten_is_a_control():
    drawn = [levels.drawn(level(number), seed) for number in (1, 2, 3) for seed in EVALUATION]
    share = sum(entry.variant.fault.is_control for entry in drawn) / len(drawn)
    assert 0.06 < share < 0.16


def test_the_task_api_offers_each_split_its_own_seeds():
    for name, split in (("train", "train"), ("eval", "dev"), ("test", "test")):
        seeds = {entry["seed"] for entry in split_tasks(name) if entry["suite"] == SUITE.id}
        assert seeds
        assert seeds <= set(levels.SPLITS[split])
