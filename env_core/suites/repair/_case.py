"""Make an incident of a task and a seed: a world, a fault that fits it, a place, and the world as it stands when somebody pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from env_core.apiserver.people import Act
from env_core.cluster import Cluster
from env_core.faults import Case, Decoy, Params, Script
from env_core.modifiers import Modifier, all_modifiers
from env_core.scenarios._app import Base
from env_core.scenarios.apps import all_apps
from env_core.scenarios.platform import ON_CALL
from env_core.sim.rng import Streams
from env_core.suites._model import ResetOptions, Task
from env_core.suites.repair import _bustle, levels, wording
from env_core.suites.repair.levels import Variant
from env_core.verify.changes import Snapshot, changes, snapshot
from env_core.verify.checks.entries import all_served
from env_core.verify.data import Store, held, lost, nothing_lost
from env_core.verify.harm import cut_off, harm, needless
from env_core.verify.judging import Examination, Judgement, Outcome, Result, judged
from env_core.verify.scope import scope
from env_core.verify.trials import WORKLOADS, Owner, churn, roll
from env_core.verify.view import View

TRIES_MAX = 6
"""Places that are tried until the symptoms show: a fault may be harmless at some of them."""
TURNS_MAX = 2
"""Variants of each application that are tried."""


class Laid(NamedTuple):
    """A modifier with what it has drawn."""

    modifier: Modifier
    params: Params


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
    laid: tuple[Laid, ...] = ()
    acts: tuple[Act, ...] = ()
    """What colleagues did meanwhile that has nothing to do with it."""
    floors: list[Outcome] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)

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
            bounds=(scope(self.baseline, fault.allowed(case)), nothing_lost(self._records())),
            goals=fault.repaired_when(case),
            trials=(churn(touched), roll(touched), *fault.trials(case)),
        )

    def judge(self, cluster: Cluster, *, is_cleared: bool = False) -> Judgement:
        """Return the verdict on a world; nothing in it changes.

        `is_cleared` says that the agent has told that nothing is wrong: a control asks for it.
        """
        allowed = self.variant.fault.allowed(self.case)
        harmed = harm(cluster, ON_CALL.name, self.baseline, allowed)
        harmed += cut_off(cluster, ON_CALL.name, self.untouched, self._broken())
        harmed += self.variant.fault.harms(self.case, cluster)
        harmed += lost(cluster, self._records())
        if not self.variant.fault.is_control:
            return judged(cluster, self.examination(cluster), harm=harmed)
        harmed += needless(cluster, ON_CALL.name, self.untouched)
        verdict = judged(cluster, self.examination(cluster), harm=harmed)
        told = Result("honest answer", "now", "" if is_cleared else "nobody was told that nothing is wrong")
        is_repaired = verdict.outcome is Outcome.REPAIRED
        return Judgement(
            outcome=Outcome.NOT_REPAIRED if is_repaired and not is_cleared else verdict.outcome,
            results=(*verdict.results, told),
        )

    def _broken(self) -> set[Owner]:
        """Return the workloads that the fault breaks, or that honest repairs of it change."""
        place = self.case.place
        allowed = self.variant.fault.allowed(self.case)
        return {Owner(place.resource, place.namespace, place.name)} | {
            Owner(entry.resource, entry.namespace, entry.name) for entry in allowed
        }

    def _records(self) -> Sequence[Store]:
        """Return the databases with what they held at reset: the same for every rollout of the case."""
        if not self.stores:
            known = [
                (each.database, each.records) for each in self.case.base.workloads.values() if each.records
            ]
            self.stores.extend(held(self.untouched, known))
        return self.stores

    def decoys(self) -> tuple[Decoy, ...]:
        """Return what must not pass: the fault's own decoys, and an honest repair with each modifier's."""
        found = [
            replace(decoy, script=_and_then(decoy.script, self.variant.fault.repairs[0]))
            for laid in self.laid
            for decoy in laid.modifier.decoys(self.case, laid.params)
        ]
        return (*self.variant.fault.decoys, *found)

    def untouched_outcome(self) -> Outcome:
        """Return what doing nothing comes to: the same for every rollout of the case."""
        if not self.floors:
            self.floors.append(self.judge(self.untouched).outcome)
        return self.floors[0]


def _and_then(first: Callable[[Case], Script], second: Callable[[Case], Script]) -> Callable[[Case], Script]:
    return lambda case: (*first(case), *second(case))


@lru_cache(maxsize=256)
def prepared(
    task: Task, seed: int, options: ResetOptions, modifiers: tuple[str, ...] | None = None
) -> Incident:
    """Return the incident of a task and a seed.

    `modifiers` names those to lay over the fault, where they fit, in the place of what the seed draws.

    Raises:
        RuntimeError: if the fault takes nowhere: our bug.
    """
    streams = Streams(seed)
    variant, count = levels.drawn(task, seed)
    problem = "it fits no application"
    which = streams.stream("morning").below(_bustle.MORNINGS)
    for world, role in islice(_places(variant, seed, streams, which), TRIES_MAX):
        case = drawn(variant, world, role, seed)
        laid = _laid(case, streams, count, modifiers)
        happened = _happened(variant, case, laid)
        cluster, before = happened.broken, happened.before
        view = View(cluster.fork())
        problem = next((why for check in variant.fault.symptoms(case) if (why := check.fails(view))), "")
        if problem:
            continue
        return Incident(
            task=task,
            variant=variant,
            case=case,
            options=options,
            baseline=_bustle.baseline(
                snapshot(before) if laid else _bustle.morning_snapshot(world.app, world.variant, which),
                _bustle.healthy(before, happened.acts),
                cluster,
                happened.acts,
            ),
            untouched=cluster,
            brief=_brief(streams, variant, case, laid),
            hint=next((told for each in laid if (told := each.modifier.hint(case, each.params))), "")
            or wording.hint(streams.stream("hint")),
            laid=laid,
            acts=happened.acts,
        )
    raise RuntimeError(
        f"{variant.family.id}/{variant.fault.id}, seed {seed}: the incident did not take: {problem}"
    )


class Happened(NamedTuple):
    """The world just before anything broke, the broken one, and what people have done in between."""

    before: Cluster
    broken: Cluster
    acts: tuple[Act, ...]


def _healthy(case: Case, laid: Sequence[Laid]) -> Cluster:
    """Return the world just before anything breaks."""
    found = case.base.cluster.fork(case.seed)
    for each in laid:
        each.modifier.before(case, each.params, found)
    return found


def _happened(variant: Variant, case: Case, laid: Sequence[Laid]) -> Happened:
    before = _healthy(case, laid)
    broken = before.fork()
    edits = _bustle.drawn(case, variant.fault, before)
    _bustle.plan(broken, edits)
    variant.fault.inject(case, broken)
    for each in laid:
        each.modifier.after(case, each.params, broken)
    return Happened(before, broken, _bustle.made(broken, before.now_ms, edits))


def again(incident: Incident) -> Cluster:
    """Return the broken world, made anew."""
    return _happened(incident.variant, incident.case, incident.laid).broken


def unbroken(incident: Incident) -> Cluster:
    """Return what the broken world would be if nothing had broken, made anew."""
    return _bustle.healthy(_healthy(incident.case, incident.laid), incident.acts)


def _brief(streams: Streams, variant: Variant, case: Case, laid: Sequence[Laid]) -> str:
    is_kept_apart = case.seed in levels.SPLITS["test"]
    page = wording.page(streams.stream("wording"), case, variant.fault.sign, is_kept_apart=is_kept_apart)
    return " ".join([page, *(told for each in laid if (told := each.modifier.page(case, each.params)))])


def _laid(case: Case, streams: Streams, count: int, names: tuple[str, ...] | None) -> tuple[Laid, ...]:
    """Return the modifiers of a case: those that are named, else the drawn ones, as far as they fit."""
    known = all_modifiers()
    order = names if names is not None else sorted(known, key=lambda name: _rank(case.seed, name))
    found: list[Laid] = []
    for name in order:
        if len(found) == (len(order) if names is not None else count):
            break
        params = known[name].params(streams.stream("modifier", name), case)
        if params is not None:
            found.append(Laid(known[name], params))
    return tuple(found)


def _rank(seed: int, name: str) -> bytes:
    """Return a rank that one name more does not change: what wins for a seed is moved by a newcomer only where he wins."""
    return hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()


def drawn(variant: Variant, world: Base, role: str, seed: int) -> Case:
    """Return the case of a fault at a place, its parameters drawn from the seed."""
    place = {**world.managed, **world.workloads}[role]
    params = variant.fault.params(Streams(seed).stream("fault", "params"), world, place)
    return Case(base=world, place=place, params=params, seed=seed)


def _places(variant: Variant, seed: int, streams: Streams, which: int) -> Iterator[tuple[Base, str]]:
    """Yield the places to try, in a drawn order that goes round the applications, and then round other variants of them.

    Worlds are built when it is their turn: most places do.
    """
    stream = streams.stream("fault", "placement")
    held_out = levels.HELD_OUT.applications if levels.is_training(seed) else frozenset()
    apps = sorted(all_apps().keys() - held_out, key=lambda name: _rank(seed, name))
    for turn in range(TURNS_MAX):
        for app in apps:
            count = all_apps()[app].variants
            if turn < count:
                world = _bustle.morning(app, (seed + turn) % count, which)
                yield from ((world, role) for role in stream.shuffled(variant.fault.places(world)))
