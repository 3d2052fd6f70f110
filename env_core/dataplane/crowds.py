"""Many users at once: a request that stands for several, what waits for the CPU meanwhile, and visits that go on by themselves.

A base world's users are few, and what one of them costs never meets another's. When a crowd comes, containers under a
CPU limit work off one request after the other.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from env_core.programs import Request, Run
from env_core.programs._cpu import PERIOD_MS, Backlog, queued, stretched_ms
from env_core.programs._runs import RunKey
from env_core.sim.loop import EventLoop
from env_core.sim.state import State
from env_core.sim.table import Table

HANDLER: Final = "network"


class _Row(NamedTuple):
    started_ms: int
    backlog: Backlog


class Visit(NamedTuple):
    """A declared physical cause: every so often so many users send the same request at once."""

    request: Request
    users: int
    every_ms: int


class Crowds:
    """Backlogs by container, and the visits that are due. `users` is how many the present request stands for."""

    __slots__ = ("_backlogs", "_loop", "_visits", "users")

    def __init__(self, state: State, loop: EventLoop) -> None:
        self._backlogs: Table[Any, Any] = state.table("network/backlogs")
        self._visits: Table[Any, Any] = state.table("network/visits")
        self._loop = loop
        self.users = 1

    def takes_ms(self, run: Run, at_ms: int, cpu_ms: int, *, is_done: bool = False) -> int:
        """Return how long a container needs for `cpu_ms` of work for each of the users; `is_done` books it."""
        limit = run.container.cpu_limit_millis
        key = RunKey(run.container.pod_uid, run.container.name)
        row: _Row | None = self._backlogs.get(key)
        if not cpu_ms or not limit or (row is None and self.users == 1):
            return stretched_ms(cpu_ms * self.users, limit)
        before = row.backlog if row is not None and row.started_ms == run.container.started_ms else None
        if before is not None and before.from_ms - at_ms > PERIOD_MS:
            # Requests are followed one after the other: this one came long before the one that waited elsewhere.
            return stretched_ms(cpu_ms * self.users, limit)
        after, took_ms = queued(before, at_ms, cpu_ms * self.users, limit)
        if is_done:
            self._backlogs[key] = _Row(run.container.started_ms, after)
        return took_ms

    def has_met(self, run: Run) -> bool:
        """Whether requests have waited for a container's CPU."""
        return RunKey(run.container.pod_uid, run.container.name) in self._backlogs

    def forget(self, pod_uid: str, container: str) -> None:
        """Drop a container's backlog."""
        self._backlogs.pop(RunKey(pod_uid, container))

    def come(self, name: str, visit: Visit) -> None:
        """Let users come from now on, under a name of this cause."""
        self._visits[name] = visit
        self._loop.wake(self._loop.now_ms + visit.every_ms, HANDLER, ("visit", name))

    def stay_away(self, name: str) -> None:
        """Let them come no more."""
        self._visits.pop(name)

    def due(self, name: str) -> Visit | None:
        """Return the visit that is due under a name, and let it come again in time; None when it was ended."""
        visit: Visit | None = self._visits.get(name)
        if visit is not None:
            self._loop.wake(self._loop.now_ms + visit.every_ms, HANDLER, ("visit", name))
        return visit
