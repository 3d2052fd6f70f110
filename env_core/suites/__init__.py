"""Suites, one package each, with one constant `SUITE`; server, client and trainers know only their ids."""

from __future__ import annotations

import sys
from functools import lru_cache

from env_core.discovery import discover
from env_core.suites._model import Called, Incident, ResetOptions, Step, Suite, Task

__all__ = ["Called", "Incident", "ResetOptions", "Step", "Suite", "Task", "all_suites"]


@lru_cache(maxsize=1)
def all_suites() -> dict[str, Suite]:
    """Return the suites by bare name, sorted."""
    return {suite.name: suite for suite in discover(sys.modules[__name__], "SUITE", Suite).values()}
