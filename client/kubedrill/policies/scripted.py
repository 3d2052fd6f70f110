"""Plays a fixed list of commands."""

from __future__ import annotations

from collections.abc import Iterable

from kubedrill.models import KubeObservation


class ScriptedPolicy:
    """Plays the commands in order, then stops."""

    def __init__(self, commands: Iterable[str], name: str = "scripted") -> None:
        self._commands = iter(tuple(commands))
        self.name = name

    @classmethod
    def from_plan(cls, plan: str, name: str = "scripted") -> ScriptedPolicy:
        """Return the policy that plays a plan: one command a line, blank lines and lines beginning with # left out."""
        lines = (line.strip() for line in plan.splitlines())
        return cls([line for line in lines if line and not line.startswith("#")], name)

    def act(self, observation: KubeObservation) -> str | None:
        """Return the next command, or None after the last."""
        return next(self._commands, None)
