"""Editors: this terminal has none, so commands that open one are refused."""

from __future__ import annotations

from env_core.kubectl.screen import Failure


def no_editor() -> Failure:
    """Return the error of a command that would open an editor."""
    return Failure(
        "unable to launch an editor: this terminal is not interactive; "
        "use kubectl patch, kubectl set or kubectl apply -f - instead"
    )
