"""The tasks of the suite: three official ones, and every scenario under its own id.

Source: SEEDS TR-07 to TR-11.
"""

from __future__ import annotations

from collections.abc import Mapping

from env_core.suites._model import Task

STEPS_MAX: Mapping[str, int] = {"easy": 12, "medium": 15, "hard": 18}
DEFAULT_SEED: Mapping[str, int] = {"easy": 11, "medium": 13, "hard": 17}
SCENARIO_OF: Mapping[str, str] = {
    "easy": "service-selector-mismatch",
    "medium": "bad-rollout-wrong-redis-host",
    "hard": "networkpolicy-plus-secondary-drift",
}
"""Which scenario an official task draws from; the server never says."""

_DESCRIPTIONS: Mapping[str, str] = {
    "easy": "The web service answers its health check, but its data path fails. One cause.",
    "medium": "The web service answers its health check, but its data path fails since a release. One cause, durable repair wanted.",
    "hard": "The web service answers its health check, but its data path fails. More than one cause.",
}


def official() -> tuple[Task, ...]:
    """Return the three official tasks."""
    return tuple(
        Task(
            id=level,
            difficulty=level,
            name=f"tron {level}",
            description=_DESCRIPTIONS[level],
            default_seed=DEFAULT_SEED[level],
            steps_max=STEPS_MAX[level],
        )
        for level in ("easy", "medium", "hard")
    )


def by_scenario(difficulties: Mapping[str, str]) -> tuple[Task, ...]:
    """Return one unlisted task for each scenario id, with the limits of its difficulty."""
    return tuple(
        Task(
            id=scenario,
            difficulty=level,
            name=f"tron scenario ({level})",
            description="One scenario template, chosen by its id.",
            default_seed=DEFAULT_SEED[level],
            steps_max=STEPS_MAX[level],
            is_listed=False,
        )
        for scenario, level in sorted(difficulties.items())
    )
