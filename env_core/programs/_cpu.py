"""How a CPU limit stretches work: the CFS quota, period by period."""

from __future__ import annotations

from typing import Final, NamedTuple

PERIOD_MS: Final = 100
_CORE_MILLIS: Final = 1000


def stretched_ms(cpu_ms: int, limit_millis: int | None) -> int:
    """Return how long `cpu_ms` of work on one thread takes under a CPU limit.

    In each period of 100 ms the group may run for limit/10 ms; then it waits for the next period.

    Source: Linux Documentation/scheduler/sched-bwc.rst.
    """
    if cpu_ms <= 0:
        return 0
    if limit_millis is None or limit_millis >= _CORE_MILLIS or limit_millis <= 0:
        return cpu_ms
    waits = (cpu_ms * 10 + limit_millis - 1) // limit_millis - 1
    rest_tenths = cpu_ms * 10 - waits * limit_millis
    return waits * PERIOD_MS + (rest_tenths + 9) // 10


class Backlog(NamedTuple):
    """The CPU time that a container under a limit has been asked for since it was last idle."""

    from_ms: int
    """When its first period began."""
    asked_tenths: int
    """In tenths of a millisecond, with what passed periods left unused."""


def queued(backlog: Backlog | None, at_ms: int, cpu_ms: int, limit_millis: int) -> tuple[Backlog, int]:
    """Return the backlog after another `cpu_ms` of work at `at_ms`, and how long that work takes: it waits its turn.

    All work of a container shares one quota; a limit of several cores is used by as many threads. What is
    alone takes as long as `stretched_ms` says.
    """
    quota = max(limit_millis, 1)
    cores = (limit_millis + _CORE_MILLIS - 1) // _CORE_MILLIS
    asked = 0
    from_ms = at_ms
    if backlog is not None:
        at_ms = max(at_ms, backlog.from_ms)
        over = (at_ms - backlog.from_ms) // PERIOD_MS * quota
        if not over or backlog.asked_tenths > over:
            # Work of the period that runs, or more than the passed ones could do.
            from_ms, asked = backlog.from_ms, max(backlog.asked_tenths, over)
    asked += cpu_ms * 10
    waits = (asked + quota - 1) // quota - 1
    rest = asked - waits * quota
    end_ms = from_ms + waits * PERIOD_MS + (rest + 10 * cores - 1) // (10 * cores)
    return Backlog(from_ms, asked), max(end_ms - at_ms, cpu_ms)
