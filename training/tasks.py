"""Which incidents are played: rows of (suite, task, seed), from the splits that the suites declare.

Every rollout of a group gets the same row, so the same incident; splits are ranges of seeds that never meet.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from env_core.episode import find_task
from env_core.suites.repair.levels import SPLITS as DECLARED
from training.errors import UsageError

SPLITS: Mapping[str, range] = DECLARED
"""Those of `repair`; `tron` declares none and takes the same."""


class Incident(NamedTuple):
    """One incident to play; the options say how it is rewarded and shown."""

    suite: str
    task: str
    seed: int

    @property
    def split(self) -> str:
        """The split that its seed belongs to; empty if none."""
        return next((name for name, seeds in SPLITS.items() if self.seed in seeds), "")


def draw(tasks: Sequence[tuple[str, str]], split: str, count: int, seed: int) -> list[Incident]:
    """Return incidents of a split, every task equally often, in a shuffled order; no seed of a task comes twice.

    Args:
        tasks: Pairs of suite and task id.
        split: The name of a split.
        count: How many.
        seed: Draws the seeds and the order.

    Raises:
        UsageError: if the split does not exist or is too small.
        UnknownName: if a task does not exist.
    """
    if split not in SPLITS:
        raise UsageError(f"there is no split {split!r}; there are {', '.join(SPLITS)}")
    for suite, task in tasks:
        find_task(suite, task)
    seeds = SPLITS[split]
    stream = random.Random(f"{split}/{seed}")
    found: list[Incident] = []
    for index, (suite, task) in enumerate(tasks):
        share = count // len(tasks) + (index < count % len(tasks))
        if share > len(seeds):
            raise UsageError(
                f"split {split} has {len(seeds)} seeds for {suite}/{task}, {share} were asked for"
            )
        found += [Incident(suite, task, entry) for entry in stream.sample(seeds, share)]
    stream.shuffle(found)
    return found


def prompt_rows(incidents: Iterable[Incident], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows for TRL: the task rides in an extra key of the last message, the text is the dialect's affair."""
    return [
        {
            "prompt": [
                {
                    "role": "user",
                    "content": "",
                    "task": {
                        "suite": entry.suite,
                        "task": entry.task,
                        "seed": entry.seed,
                        "options": dict(options),
                    },
                }
            ]
        }
        for entry in incidents
    ]
