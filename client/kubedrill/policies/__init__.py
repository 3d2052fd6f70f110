"""Policies: what plays an episode. Each sees observations, as an agent does, and nothing else."""

from __future__ import annotations

from typing import Protocol

from kubedrill.models import KubeObservation


class Policy(Protocol):
    """Chooses the next command line. One object plays one episode."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def act(self, observation: KubeObservation) -> str | None:
        """Return the next command line, or None to stop.

        `observation` is that of the reset at first, then that of the step before.
        """


class PolicyError(RuntimeError):
    """Raised when a policy cannot go on, such as when its model does not answer."""
