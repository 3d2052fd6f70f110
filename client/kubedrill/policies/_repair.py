"""What a rule proposes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repair:
    """One changing command, why, and which workloads must be restarted to notice."""

    command: str
    reason: str
    stale: tuple[str, ...] = ()
