"""A way into an application, and the promise of its owner."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A way in that users take through the ingress, and the objective of its owner.

    A request counts as served when its status is `status`, `contains` is in the body, and it took at most
    `latency_ms_max`.
    """

    name: str
    host: str
    path: str
    method: str = "GET"
    body: str = ""
    status: int = 200
    contains: str = ""
    latency_ms_max: int = 1_000
    through: tuple[str, ...] = ()
    """Roles of the workloads without which it fails, nearest to the user first."""
