"""What the server tells about tasks: public descriptions, and the splits of OpenEnv's Task API. No answers in either."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from env_core.episode import suites, tasks
from env_core.suites import Suite, Task
from kubedrill.models import TaskInfo

SCORE_MIN: Final = 0.01
SCORE_MAX: Final = 0.99
"""Reported scores lie strictly between 0 and 1, also after printing with two decimals. Source: SEEDS GN-18."""

_SEEDS_PER_TASK = {"train": 40, "eval": 12, "test": 12}
_FIRST_TRAINING_SEED = 1_000
_SPLITS: Final = (
    {"name": "train", "type": "train"},
    {"name": "eval", "type": "validation"},
    {"name": "test", "type": "test"},
)


def described(suite: Suite, task: Task, *, shown_id: str = "") -> dict[str, Any]:
    """Return the public description of a task. `shown_id` replaces an id that would tell too much."""
    level = task.difficulty if task.difficulty in ("easy", "medium", "hard") else "task"
    return TaskInfo(
        id=shown_id or task.id,
        suite=suite.id,
        difficulty=task.difficulty,
        default_seed=task.default_seed,
        max_agent_steps=task.steps_max,
        score_range=(SCORE_MIN, SCORE_MAX),
        name=task.name,
        description=task.description,
        grader=f"server.graders:grade_{level}",
    ).model_dump(mode="json")


def catalogue(*, is_complete: bool = False) -> list[dict[str, Any]]:
    """Return the listed tasks of every suite, or all that a reset accepts."""
    listed = [described(suite, task) for suite, task in tasks()]
    if not is_complete:
        return listed
    return listed + [
        described(suite, task) for suite in suites() for task in suite.tasks if not task.is_listed
    ]


def split_names() -> list[dict[str, str]]:
    """Return the splits: seeds to train on, and seeds kept apart to evaluate on; `test` has suites that declare one."""
    return [dict(entry) for entry in _SPLITS]


@lru_cache(maxsize=4)
def split_tasks(split: str) -> tuple[dict[str, Any], ...]:
    """Return the entries of a split: reset fields, beside what is public of the task.

    Raises:
        ValueError: if there is no such split.
    """
    if split not in _SEEDS_PER_TASK:
        raise ValueError(f"unknown split {split!r}; valid: {', '.join(sorted(_SEEDS_PER_TASK))}")
    entries: list[dict[str, Any]] = []
    for suite, task in tasks():
        if split in suite.seeds:
            first = suite.seeds[split].start
        elif split == "test":
            continue
        else:
            first = _FIRST_TRAINING_SEED if split == "train" else task.default_seed
        for offset in range(_SEEDS_PER_TASK[split]):
            index = len(entries)
            entries.append(
                {
                    "id": f"{suite.id}-{task.id}-{first + offset}",
                    "split": split,
                    "index": index,
                    "suite": suite.id,
                    "task": task.id,
                    "seed": first + offset,
                    "difficulty": task.difficulty,
                    "description": task.description,
                }
            )
    return tuple(entries)
