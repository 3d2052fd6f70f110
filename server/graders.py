"""Scores for those who ask by name: graders that can be imported, clamped to the open interval at this edge only.

They grade an episode, on a fork. A number that is passed in is never believed. Source: SEEDS TR-34, GN-18.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from env_core.episode import Episode
from server.tasks import SCORE_MAX, SCORE_MIN


def clamped(score: float) -> float:
    """Return the score as it may be reported: strictly between 0 and 1, also with two decimals."""
    return round(min(max(score, SCORE_MIN), SCORE_MAX), 4)


def grade(task: str, *, suite: str = "", seed: int | None = None, commands: Sequence[str] = ()) -> float:
    """Return the reported score of playing these commands; of doing nothing, when there are none.

    Raises:
        UnknownName: if the task does not exist.
        InvalidInput: if the seed is out of range.
    """
    episode, _ = Episode.reset(suite=suite, task=task, seed=seed)
    for command in commands:
        if episode.is_done:
            break
        episode.step(command)
    return clamped(episode.score())


class Grader:
    """Grades episodes of one task."""

    task = ""

    def __call__(self, *given: Any, **named: Any) -> float:
        """Return the score; see `grade`."""
        return self.grade(*given, **named)

    def grade(self, *given: Any, seed: int | None = None, commands: Sequence[str] = (), **_: Any) -> float:
        """Return the reported score of the first `Episode` among the arguments, else of playing `commands` from `seed`.

        Anything else that is passed (a state, a trajectory, a score) is ignored: it could have been made up.
        """
        for value in given:
            if isinstance(value, Episode):
                return clamped(value.score())
        played = (
            [command for command in commands if isinstance(command, str)]
            if isinstance(commands, (list, tuple))
            else []
        )
        return grade(
            self.task,
            seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
            commands=played,
        )


class EasyGrader(Grader):
    """Grades the task easy."""

    task = "easy"


class MediumGrader(Grader):
    """Grades the task medium."""

    task = "medium"


class HardGrader(Grader):
    """Grades the task hard."""

    task = "hard"


def grade_easy(*given: Any, **named: Any) -> float:
    """Return the score of the task easy; see `Grader.grade`."""
    return EasyGrader().grade(*given, **named)


def grade_medium(*given: Any, **named: Any) -> float:
    """Return the score of the task medium; see `Grader.grade`."""
    return MediumGrader().grade(*given, **named)


def grade_hard(*given: Any, **named: Any) -> float:
    """Return the score of the task hard; see `Grader.grade`."""
    return HardGrader().grade(*given, **named)


GRADERS = {grader.task: grader for grader in (EasyGrader(), MediumGrader(), HardGrader())}
