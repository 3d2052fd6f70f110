"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.verify.view import View


@dataclass(frozen=True, slots=True)
class Check:
    """A named predicate. `fails(view)` returns "" when it holds, else why it does not (shown after the episode)."""

    name: str
    fails: Callable[[View], str]

    def holds(self, view: View) -> bool:
        """Whether the predicate is true."""
        return not self.fails(view)
