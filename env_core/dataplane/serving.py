"""What serving requests does to containers: CPU time under a limit, memory, log lines, counts."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from env_core import programs as programs_package
from env_core.discovery import discover
from env_core.programs import Program, Run
from env_core.programs._runs import RunKey
from env_core.sim.table import Table

WINDOW_MS: Final = 15_000
"""How long one window of CPU time is: what a metrics server samples."""


@cache
def programs() -> dict[str, Program]:
    """Return every program by its name."""
    return {program.name: program for program in discover(programs_package, "PROGRAM", Program).values()}


class Usage(NamedTuple):
    """What a container's requests have used since its run began."""

    started_ms: int
    codes: tuple[tuple[int, int], ...] = ()
    """(status, count); status 0 is an answer of another protocol, -1 none at all."""
    cpu_ms: int = 0
    memory_bytes: int = 0
    """The highest use above the resting one."""
    window: int = 0
    """The number of the current window (time over WINDOW_MS)."""
    window_cpu_ms: int = 0
    before_cpu_ms: int = 0
    """CPU time of the window before the current one."""
    kept_bytes: int = 0
    """What requests have left behind in the process."""

    def count(self, status: int | None = None) -> int:
        """Return how many requests were answered, of one status if given."""
        return sum(count for each, count in self.codes if status is None or each == status)

    def recent_cpu_millis(self, now_ms: int) -> int:
        """Return the CPU use of requests over the last whole window, in thousandths of a core."""
        window = now_ms // WINDOW_MS
        if window == self.window:
            spent_ms = max(self.before_cpu_ms, self.window_cpu_ms)
        elif window == self.window + 1:
            spent_ms = self.window_cpu_ms
        else:
            return 0
        return spent_ms * 1000 // WINDOW_MS


class Usages:
    """The usage table: one row per container, of its newest run."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Table[Any, Any]) -> None:
        self._rows = rows

    def of(self, run: Run) -> Usage:
        """Return what a run's requests have used."""
        container = run.container
        found: Usage | None = self._rows.get(RunKey(container.pod_uid, container.name))
        if found is None or found.started_ms != container.started_ms:
            return Usage(container.started_ms)
        return found

    def add(
        self, run: Run, at_ms: int, status: int, cpu_ms: int, memory_bytes: int, kept_bytes: int = 0, *, times: int = 1
    ) -> None:  # fmt: skip
        """Count `times` requests of one kind, and what they used together."""
        container = run.container
        key = RunKey(container.pod_uid, container.name)
        before: Usage | None = self._rows.get(key)
        if before is None or before[0] != container.started_ms:
            before = Usage(container.started_ms)
        _, codes, total_ms, peak_bytes, last, window_ms, earlier_ms, all_kept_bytes = before
        if len(codes) == 1 and codes[0][0] == status:
            codes = ((status, codes[0][1] + times),)
        else:
            counts = dict(codes)
            counts[status] = counts.get(status, 0) + times
            codes = tuple(counts.items())
        window = at_ms // WINDOW_MS
        if window == last:
            window_ms += cpu_ms
        else:
            earlier_ms = window_ms if window == last + 1 else 0
            window_ms = cpu_ms
        peak_bytes = max(peak_bytes, memory_bytes)
        self._rows[key] = Usage(
            before[0], codes, total_ms + cpu_ms, peak_bytes, window, window_ms, earlier_ms, all_kept_bytes + kept_bytes,
        )  # fmt: skip

    def forget(self, pod_uid: str, container: str) -> None:
        """Drop a container's row."""
        self._rows.pop(RunKey(pod_uid, container))
