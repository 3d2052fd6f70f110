"""Tasks of the suite: one for each level, whose seed draws the incident, and one for each fault under an id that tells nothing.

Splits are seed ranges that never meet; held-out axes are declared as data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.faults import Family, Fault, all_families
from env_core.suites._model import Task

LEVELS: Final = (1, 2, 3, 4, 5)
STEPS_MAX: Final[Mapping[int, int]] = {1: 15, 2: 18, 3: 20, 4: 24, 5: 28}
DIFFICULTY: Final[Mapping[int, str]] = {1: "easy", 2: "easy", 3: "medium", 4: "hard", 5: "hard"}
OWN_STEPS_MAX: Final = max(STEPS_MAX.values())
"""The budget of every fault's own task, enough for the hardest."""
OWN_DIFFICULTY: Final = "medium"
_NAMES: Final[Mapping[int, str]] = {
    1: "One cause next to its symptom.",
    2: "One cause, a step away from its symptom.",
    3: "One cause behind misleading signs.",
    4: "One cause several steps away, with noise, or a repair that the obvious way does not allow.",
    5: "Several causes, or one that shows itself only after the first repair.",
}
SPLITS: Final[Mapping[str, range]] = {
    "train": range(10_000, 1_000_000),
    "dev": range(1_000, 2_000),
    "test": range(2_000, 4_000),
}
"""Seeds by split; other seeds are for trying things out, and draw from everything."""


class HeldOut(NamedTuple):
    """What no seed of `train` draws, so that what was never seen can be measured apart."""

    families: frozenset[str]
    applications: frozenset[str]


HELD_OUT: Final = HeldOut(
    families=frozenset({"NW-03", "CF-03", "PR-05", "SN-05", "AD-03", "CX-02"}),
    applications=frozenset({"pipeline"}),
)
"""Unseen family (one of each sort, and one way to compound), and unseen application."""
MODIFIERS_MAX: Final = 2
_FAULTS_A_CONTROL: Final = 9
"""So that about one incident of ten is none. Source: SEEDS AG-24."""


def is_training(seed: int) -> bool:
    """Whether a seed belongs to the training split."""
    return seed in SPLITS["train"]


class Variant(NamedTuple):
    """A fault with its family."""

    family: Family
    fault: Fault

    @property
    def task_id(self) -> str:
        """An id that is stable and says nothing of the fault."""
        text = f"{self.family.id}/{self.fault.id}"
        return f"case-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@lru_cache(maxsize=1)
def variants() -> dict[str, Variant]:
    """Return every fault by its task's id, in order of families."""
    found = [Variant(family, fault) for family in all_families().values() for fault in family.faults]
    return {entry.task_id: entry for entry in found}


def level_of(task: Task) -> int:
    """Return the level of one of this suite's tasks."""
    found = variants().get(task.id)
    return found.fault.level if found else int(task.id.rpartition("-")[2])


class Drawn(NamedTuple):
    """What a task's seed draws: a fault, and how many modifiers are laid over it."""

    variant: Variant
    modifiers: int


def drawn(task: Task, seed: int) -> Drawn:
    """Return what a task and a seed draw.

    A level's incidents are faults of that level, and easier ones with as many modifiers as they are easier. Every candidate
    has a rank of its own for the seed and the lowest wins, so that a new fault moves only the seeds that it wins.
    """
    own = variants().get(task.id)
    if own is not None:
        return Drawn(own, 0)
    return min(_tickets(level_of(task), is_training(seed)), key=lambda ticket: _rank(seed, *ticket))[0]


def _rank(seed: int, entry: Drawn, number: int) -> bytes:
    name = f"{seed}/{entry.variant.task_id}/{entry.modifiers}/{number}"
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


@lru_cache(maxsize=16)
def _tickets(level: int, is_training: bool) -> tuple[tuple[Drawn, int], ...]:
    """Return the candidates with a number: a fault has one ticket, a control as many as bring it its share."""
    found = [
        Drawn(entry, level - entry.fault.level)
        for entry in variants().values()
        if 0 <= level - entry.fault.level <= MODIFIERS_MAX
        and not (is_training and entry.family.id in HELD_OUT.families)
    ]
    controls = sum(entry.variant.fault.is_control for entry in found)
    share = max(round((len(found) - controls) / (_FAULTS_A_CONTROL * controls)), 1) if controls else 0
    return tuple(
        (entry, number) for entry in found for number in range(share if entry.variant.fault.is_control else 1)
    )


def tasks() -> tuple[Task, ...]:
    """Return the tasks: the levels, listed, then every fault's own."""
    return (*map(_level, LEVELS), *map(_own, variants().values()))


def _level(level: int) -> Task:
    return Task(
        id=f"repair-{level}",
        difficulty=DIFFICULTY[level],
        name=f"repair, level {level}",
        description=f"An incident in one of several applications, drawn by the seed. {_NAMES[level]}",
        default_seed=SPLITS["dev"].start + level,
        steps_max=STEPS_MAX[level],
    )


def _own(entry: Variant) -> Task:
    """Return a fault's own task: but for its id the same as every other, so that no budget and no word tells the level."""
    return Task(
        id=entry.task_id,
        difficulty=OWN_DIFFICULTY,
        name="repair, one fault",
        description="One kind of incident, chosen by an id that tells nothing of it.",
        default_seed=SPLITS["dev"].start,
        steps_max=OWN_STEPS_MAX,
        is_listed=False,
    )
