"""Make an incident of a task and a seed: a world, a fault that fits it, a place, and the world as it stands when somebody pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from env_core.cluster import Cluster
from env_core.faults import Case
from env_core.scenarios._app import Base
from env_core.scenarios.apps import all_apps, base
from env_core.scenarios.platform import ON_CALL
from env_core.sim.rng import Streams
from env_core.suites._model import ResetOptions, Task
from env_core.suites.repair import levels, wording
from env_core.suites.repair.levels import Variant
from env_core.verify.changes import Snapshot, changes, snapshot
from env_core.verify.checks.entries import all_served
from env_core.verify.harm import harm
from env_core.verify.judging import Examination, Judgement, Outcome, judged
from env_core.verify.scope import scope
from env_core.verify.trials import WORKLOADS, Owner, churn, roll
from env_core.verify.view import View

TRIES_MAX = 6
"""Places that are tried until the symptoms show: a fault may be harmless at some of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Everything about one incident that does not change while it is worked on."""

    task: Task
    variant: Variant
    case: Case
    options: ResetOptions
    baseline: Snapshot
    untouched: Cluster
    """The world as it was at reset; forked, never changed."""
    brief: str
    hint: str
    floors: list[Outcome] = field(default_factory=list)

    @property
    def shown_task(self) -> str:
        """What the agent is told that it plays: an unlisted task's id would be the same whenever its fault is."""
        return self.task.id if self.task.is_listed else "case"

    def examination(self, cluster: Cluster) -> Examination:
        """Return what is asked of a repair: the broken workload, and those that were changed, must stand their trials."""
        case, fault = self.case, self.variant.fault
        owners = {Owner(case.place.resource, case.place.namespace, case.place.name)}
        owners |= {
            Owner(*change[:3])
            for change in changes(self.baseline, cluster)
            if change.resource in WORKLOADS and change.namespace in case.base.namespaces
        }
        touched = tuple(sorted(owners))
        return Examination(
            health=(all_served(case.base.entries),),
            bounds=(scope(self.baseline, fault.allowed(case)),),
            goals=fault.repaired_when(case),
            trials=(churn(touched), roll(touched), *fault.trials(case)),
        )

    def judge(self, cluster: Cluster) -> Judgement:
        """Return the verdict on a world; nothing in it changes."""
        allowed = self.variant.fault.allowed(self.case)
        return judged(
            cluster, self.examination(cluster), harm=harm(cluster, ON_CALL.name, self.baseline, allowed)
        )

    def untouched_outcome(self) -> Outcome:
        """Return what doing nothing comes to: the same for every rollout of the case."""
        if not self.floors:
            self.floors.append(self.judge(self.untouched).outcome)
        return self.floors[0]


@lru_cache(maxsize=64)
def _baseline(app: str, number: int) -> Snapshot:
    return snapshot(base(app, number).cluster)


@lru_cache(maxsize=256)
def prepared(task: Task, seed: int, options: ResetOptions) -> Incident:
    """Return the incident of a task and a seed.

    Raises:
        RuntimeError: if the fault takes nowhere: our bug.
    """
    streams = Streams(seed)
    variant = streams.stream("fault", "family").choice(levels.drawn_from(task))
    problem = "it fits no application"
    for world, role in _places(variant, seed, streams):
        case = drawn(variant, world, role, seed)
        cluster = world.cluster.fork(seed)
        variant.fault.inject(case, cluster)
        view = View(cluster.fork())
        problem = next((why for check in variant.fault.symptoms(case) if (why := check.fails(view))), "")
        if problem:
            continue
        is_kept_apart = seed in levels.SPLITS["test"]
        return Incident(
            task=task,
            variant=variant,
            case=case,
            options=options,
            baseline=_baseline(world.app, world.variant),
            untouched=cluster,
            brief=wording.page(
                streams.stream("wording"), case, variant.fault.sign, is_kept_apart=is_kept_apart
            ),
            hint=wording.hint(streams.stream("hint")),
        )
    raise RuntimeError(
        f"{variant.family.id}/{variant.fault.id}, seed {seed}: the incident did not take: {problem}"
    )


def drawn(variant: Variant, world: Base, role: str, seed: int) -> Case:
    """Return the case of a fault at a place, its parameters drawn from the seed."""
    place = {**world.managed, **world.workloads}[role]
    params = variant.fault.params(Streams(seed).stream("fault", "params"), world, place)
    return Case(base=world, place=place, params=params, seed=seed)


def _places(variant: Variant, seed: int, streams: Streams) -> list[tuple[Base, str]]:
    """Return the places to try, in a drawn order that goes round the applications."""
    stream = streams.stream("fault", "placement")
    found: list[tuple[Base, str]] = []
    for app in stream.shuffled(sorted(all_apps())):
        world = base(app, seed % all_apps()[app].variants)
        roles = variant.fault.places(world)
        found += [(world, role) for role in stream.shuffled(roles)]
        if len(found) >= TRIES_MAX:
            # Building every application's world for a place that is never tried would be a waste.
            break
    return found[:TRIES_MAX]
