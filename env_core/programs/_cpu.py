"""How a CPU limit stretches work: the CFS quota, period by period."""

from __future__ import annotations

from typing import Final

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
