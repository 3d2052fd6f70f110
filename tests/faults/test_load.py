"""The trial of a peak: healthy worlds stand it, and a limit that single users do not feel fails it."""

from __future__ import annotations

import pytest

from env_core.cluster import Cluster
from env_core.scenarios.apps import all_apps, base
from env_core.verify.checks.entries import all_served
from env_core.verify.judging import Examination, Judgement, Outcome, judged
from env_core.verify.load import load

PER_SECOND = 20
WORLDS = [(app, variant) for app in sorted(all_apps()) for variant in range(all_apps()[app].variants)]


def _judged(app: str, variant: int, cluster: Cluster) -> Judgement:
    entries = base(app, variant).entries
    trials = (load(entries, PER_SECOND, 8_000),)
    return judged(cluster, Examination(health=(all_served(entries),), bounds=(), goals=(), trials=trials))


@pytest.mark.parametrize(("app", "variant"), WORLDS)
def test_every_healthy_world_stands_a_peak(app: str, variant: int) -> None:
    assert _judged(app, variant, base(app, variant).cluster).outcome is Outcome.REPAIRED


def test_a_limit_below_the_peak_is_a_workaround_that_says_what_is_slow() -> None:
    cluster = base("shop", 0).cluster.fork()
    container = {"name": "gateway", "resources": {"limits": {"cpu": "60m"}, "requests": {"cpu": "10m"}}}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    cluster.client().patch("deployments", "shop", "gateway", patch, "application/strategic-merge-patch+json")
    cluster.advance(120_000)
    digest = cluster.digest()
    found = _judged("shop", 0, cluster)
    assert found.outcome is Outcome.WORKAROUND
    assert found.reasons()[-1].startswith("load (load): ")
    assert "requests of the peak are not served" in found.reasons()[-1]
    assert cluster.digest() == digest


def test_a_peak_at_no_way_in_is_not_stood() -> None:
    cluster = base("tron", 0).cluster
    examination = Examination(health=(), bounds=(), goals=(), trials=(load((), PER_SECOND, 8_000),))
    assert judged(cluster, examination).outcome is Outcome.WORKAROUND
