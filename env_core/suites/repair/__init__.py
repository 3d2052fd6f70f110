"""The repair suite: seeded faults in several applications, judged by whole repairs that last."""

from __future__ import annotations

from functools import lru_cache

from env_core.suites._model import ResetOptions, Suite, Task
from env_core.suites.repair import levels
from env_core.suites.repair._case import prepared
from env_core.suites.repair.diagnosing import submission_of
from env_core.suites.repair.session import RepairIncident, begun

__all__ = ["SUITE"]


@lru_cache(maxsize=256)
def _begun(task: Task, seed: int, options: ResetOptions) -> RepairIncident:
    return begun(prepared(task, seed, options))


def _begin(task: Task, seed: int, options: ResetOptions) -> RepairIncident:
    return _begun(task, seed, options).fork()


def _reference(task: Task, seed: int) -> tuple[tuple[str, ...], ...]:
    incident = prepared(task, seed, ResetOptions())
    ending = submission_of(incident.variant.fault.causes(incident.case))
    return tuple((*script(incident.case), ending) for script in incident.variant.fault.repairs)


def _decoys(task: Task, seed: int) -> tuple[tuple[str, ...], ...]:
    incident = prepared(task, seed, ResetOptions())
    return tuple((*decoy.script(incident.case), "submit") for decoy in incident.decoys())


SUITE = Suite(
    name="repair",
    version=2,
    summary="Seeded faults in several applications: find the cause and repair it so that it stays repaired.",
    tasks=levels.tasks(),
    seeds={"train": levels.SPLITS["train"], "eval": levels.SPLITS["dev"], "test": levels.SPLITS["test"]},
    reward_range=(-10.0, 2.0),
    begin=_begin,
    reference=_reference,
    decoys=_decoys,
)
