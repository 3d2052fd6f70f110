"""The tron suite: a small two-tier web application, and incidents in its wiring, configuration and policy."""

from __future__ import annotations

from functools import lru_cache

from env_core.discovery import discover
from env_core.sim.rng import Streams
from env_core.suites._model import ResetOptions, Suite, Task
from env_core.suites.tron import scenarios as scenarios_package
from env_core.suites.tron import tasks, wording, world
from env_core.suites.tron._scenario import Params, Scenario
from env_core.suites.tron.session import TronIncident


@lru_cache(maxsize=1)
def scenarios() -> dict[str, Scenario]:
    """Return the scenario templates by id, sorted."""
    return discover(scenarios_package, "SCENARIO", Scenario)


def scenario_id_of(task: Task) -> str:
    """Return the id of the scenario that a task draws from."""
    return tasks.SCENARIO_OF.get(task.id, task.id)


def _drawn(task: Task, seed: int) -> tuple[Scenario, Params]:
    scenario = scenarios()[scenario_id_of(task)]
    return scenario, scenario.draw(Streams(seed).stream("fault", "params"))


@lru_cache(maxsize=512)
def _prepared(task: Task, seed: int, options: ResetOptions) -> TronIncident:
    """Return the incident as it stands when the agent is paged: the rollouts of a group begin as forks of it."""
    scenario, params = _drawn(task, seed)
    streams = Streams(seed)
    shown = task.id if task.is_listed else "scenario"
    return world.prepare(
        shown_task=shown,
        scenario_id=scenario_id_of(task),
        scenario=scenario,
        params=params,
        seed=seed,
        steps_max=task.steps_max,
        options=options,
        brief=wording.brief(streams.stream("wording"), scenario.score_after),
        hint=wording.hint(streams.stream("hint")),
    )


def _begin(task: Task, seed: int, options: ResetOptions) -> TronIncident:
    return _prepared(task, seed, options).fork()


def _reference(task: Task, seed: int) -> tuple[tuple[str, ...], ...]:
    scenario, params = _drawn(task, seed)
    return scenario.repairs(params)


def _decoys(task: Task, seed: int) -> tuple[tuple[str, ...], ...]:
    scenario, params = _drawn(task, seed)
    return scenario.decoys(params)


def _warm() -> None:
    for variant in range(world.VARIANTS):
        world.healthy(variant)
    # The first command of a process loads the verbs.
    _begin(tasks.official()[0], 0, ResetOptions()).act("kubectl version --client")


SUITE = Suite(
    name="tron",
    version=1,
    summary="A two-tier web application with one broken path: diagnose it from symptoms and repair it durably.",
    tasks=(
        *tasks.official(),
        *tasks.by_scenario({name: entry.difficulty for name, entry in scenarios().items()}),
    ),
    reward_range=(-2.0, 2.0),
    begin=_begin,
    reference=_reference,
    decoys=_decoys,
    warm=_warm,
)
