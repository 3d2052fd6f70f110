"""How much one line may do before it is stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from env_core.sim.work import Work

STEPS_MAX: Final = 5000
ITERATIONS_MAX: Final = 1000
DEPTH_MAX: Final = 45
PARSED_MAX: Final = 400_000
"""Characters that one line may read as commands, its own and what `eval`, `.` and `sh -c` bring."""
_STEP_WORK: Final = 50
"""Units of work that a command counts as, besides what it reads and prints."""


class LimitReached(Exception):
    """The line did more than one line may; `text` tells what."""

    def __init__(self, text: str) -> None:
        """Record what was too much."""
        super().__init__(text)
        self.text = text


@dataclass(slots=True)
class Budget:
    """What a line, with every shell that it starts, may still spend."""

    steps: int = STEPS_MAX
    iterations: int = ITERATIONS_MAX
    depth: int = 0
    parsed: int = PARSED_MAX
    work: Work = field(default_factory=Work)
    """What the line shares with everything else that it sets in motion."""

    def step(self) -> None:
        """Count one command.

        Raises:
            LimitReached: after `STEPS_MAX` commands, or too much work.
        """
        self.spend(_STEP_WORK)
        self.steps -= 1
        if self.steps < 0:
            raise LimitReached(f"stopped after {STEPS_MAX} commands")

    def spend(self, units: int) -> None:
        """Count work that is done.

        Raises:
            LimitReached: when it is more than the line may do.
        """
        self.work.done += units
        if self.work.is_spent:
            raise LimitReached("stopped: too much work")

    def parse(self, text: str) -> None:
        """Count text that is read as commands.

        Raises:
            LimitReached: after `PARSED_MAX` characters.
        """
        self.parsed -= len(text)
        if self.parsed < 0:
            raise LimitReached(f"stopped after {PARSED_MAX} characters of commands")

    def iterate(self) -> None:
        """Count one turn of a loop.

        Raises:
            LimitReached: after `ITERATIONS_MAX` turns.
        """
        self.iterations -= 1
        if self.iterations < 0:
            raise LimitReached(f"stopped after {ITERATIONS_MAX} loop iterations")

    def enter(self) -> None:
        """Go one level deeper; every `enter` needs its `leave`.

        Raises:
            LimitReached: below `DEPTH_MAX` levels.
        """
        if self.depth >= DEPTH_MAX:
            raise LimitReached(f"stopped at {DEPTH_MAX} levels of nesting")
        self.depth += 1

    def leave(self) -> None:
        """Go back up one level."""
        self.depth -= 1
