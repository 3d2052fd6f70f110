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
"""Seeds by split."""


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


def at_level(level: int) -> tuple[Variant, ...]:
    """Return the faults of a level."""
    return tuple(entry for entry in variants().values() if entry.fault.level == level)


def level_of(task: Task) -> int:
    """Return the level of one of this suite's tasks."""
    found = variants().get(task.id)
    return found.fault.level if found else int(task.id.rpartition("-")[2])


def drawn_from(task: Task) -> tuple[Variant, ...]:
    """Return the faults that a task's seeds draw from."""
    found = variants().get(task.id)
    return (found,) if found else at_level(level_of(task))


def tasks() -> tuple[Task, ...]:
    """Return the tasks: the levels that have faults, listed, then every fault's own."""
    return (*(_level(level) for level in LEVELS if at_level(level)), *map(_own, variants().values()))


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
    level = entry.fault.level
    return Task(
        id=entry.task_id,
        difficulty=DIFFICULTY[level],
        name=f"repair, one fault of level {level}",
        description="One kind of incident, chosen by an id that tells nothing of it.",
        default_seed=SPLITS["dev"].start,
        steps_max=STEPS_MAX[level],
        is_listed=False,
    )
