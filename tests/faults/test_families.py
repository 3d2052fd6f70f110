"""Every family's own proof, generated: it shows, patience does not help, repairs repair, decoys do not, and nothing tells."""

from __future__ import annotations

import pytest

from env_core.catalogue.proofs import PROOFS, incident_of, played
from env_core.faults import all_families
from env_core.suites.repair import levels
from env_core.suites.repair.session import FLOOR

SEEDS = (0,)
VARIANTS = tuple(levels.variants().values())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda entry: f"{entry.family.id}-{entry.fault.id}")
@pytest.mark.parametrize("proof", PROOFS)
def test_proof(proof, variant, seed):
    assert PROOFS[proof](variant, seed) == []


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda entry: f"{entry.family.id}-{entry.fault.id}")
def test_doing_nothing_returns_nothing(variant):
    episode, _ = played(variant, 0, ())
    assert episode.score() == FLOOR
    assert episode.cumulative_reward == pytest.approx(0.0, abs=1e-6)


def test_a_return_is_the_score_less_the_floor_and_the_costs():
    variant = VARIANTS[0]
    script = variant.fault.repairs[0](incident_of(variant, 0).case)
    episode, _ = played(variant, 0, script)
    assert episode.cumulative_reward == pytest.approx(1.0 - FLOOR - 0.05 * len(script))


def test_families_are_rows_of_the_catalogue():
    ids = [family.id for family in all_families().values()]
    assert len(ids) == len(set(ids))
    assert all(family.summary.endswith(".") and family.source for family in all_families().values())
