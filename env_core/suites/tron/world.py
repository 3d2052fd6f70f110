"""Build a tron world: the platform, the application running healthy for a while, then the incident."""

from __future__ import annotations

from functools import lru_cache

from env_core.cluster import Cluster
from env_core.scenarios import loader
from env_core.scenarios.platform import DELIVERY, wait_healthy, with_platform
from env_core.suites._model import ResetOptions
from env_core.suites.tron import observing
from env_core.suites.tron._case import Case
from env_core.suites.tron._scenario import NAMESPACE, Params, Scenario
from env_core.suites.tron.session import TronIncident
from env_core.verify.checks.keep import baseline_of, elsewhere_of
from env_core.verify.view import View

VARIANTS = 8
"""Base worlds: a seed's base is its remainder, so that worlds differ in names and times and still can be kept."""

_HISTORY_MS = 900_000


@lru_cache(maxsize=VARIANTS)
def healthy(variant: int) -> Cluster:
    """Return the healthy base world of a variant; callers fork it and never change it."""
    cluster = with_platform(variant)
    delivery = cluster.client(DELIVERY)
    loader.apply(cluster.client(), "tron")
    wait_healthy(cluster, NAMESPACE)
    cluster.advance(_HISTORY_MS)
    # An ordinary release some time ago: a second revision, so that histories are not empty.
    release = {
        "spec": {"template": {"metadata": {"annotations": {"delivery.example.com/release": "2026.1.2"}}}}
    }
    delivery.patch("deployments", NAMESPACE, "nginx", release)
    wait_healthy(cluster, NAMESPACE)
    cluster.advance(_HISTORY_MS + 60_000 * variant)
    if observing.probe(cluster).score != observing.HEALTHY:
        raise RuntimeError("the base world of tron is not healthy")
    return cluster


@lru_cache(maxsize=256)
def _broken(scenario: Scenario, params: tuple[tuple[str, str], ...], seed: int) -> Cluster:
    cluster = healthy(seed % VARIANTS).fork(seed)
    scenario.inject(cluster, dict(params))
    return cluster


def prepare(
    *, shown_task: str, scenario_id: str, scenario: Scenario, params: Params, seed: int, steps_max: int,
    options: ResetOptions, brief: str, hint: str,
) -> TronIncident:  # fmt: skip
    """Return the incident of one case, for forks to begin from.

    Raises:
        RuntimeError: if the injected changes do not have the effect that the scenario declares: our bug.
    """
    base = healthy(seed % VARIANTS)
    untouched = _broken(scenario, tuple(sorted(params.items())), seed)
    cluster = untouched.fork()
    watch = observing.Watch(cluster, observing.SIGHT)
    watch.settle()
    watch.summary()  # Forks share it, until they write.
    probe = watch.last
    if probe.score != scenario.score_after:
        raise RuntimeError(
            f"seed {seed}: the incident did not take: score {probe.score}, expected {scenario.score_after}"
        )
    case = Case(
        task_id=shown_task,
        scenario_id=scenario_id,
        scenario=scenario,
        params=dict(params),
        steps_max=steps_max,
        options=options,
        baseline=baseline_of(View(base), NAMESPACE),
        elsewhere=elsewhere_of(View(base), NAMESPACE),
        brief=brief,
        hint=hint,
        untouched=untouched,
    )
    return TronIncident(case, cluster, watch)
