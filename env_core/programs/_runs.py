"""Container runs and their logs: what the runtime knows, shared by the kubelet and the data plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from env_core.programs._clocks import Clocks
from env_core.programs._disks import Disks
from env_core.programs._logs import LINES_MAX, LogFile, LogKey, Logs
from env_core.programs._model import Container, Launch, Line
from env_core.sim.state import State

NEVER_MS = 1 << 40
"""Longer than any episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a container: from its start to its exit."""

    container: Container
    container_id: str
    program: str
    launch: Launch
    exit_at_ms: int | None = None
    """When it will end or did end; None while nothing ends it."""
    exit_code: int = 0
    exit_reason: str = ""
    exit_message: str = ""
    ready_from_ms: int = 0
    is_hung: bool = False
    """Whether the process accepts connections and never answers."""

    def is_running(self, now_ms: int) -> bool:
        """Whether the process lives at `now_ms`."""
        return self.exit_at_ms is None or now_ms < self.exit_at_ms

    def resting_bytes(self, now_ms: int) -> int:
        """Return what the process uses at rest at `now_ms`: its start's use and what has grown since."""
        launch = self.launch
        if not launch.growth_bytes_per_s:
            return launch.memory_bytes
        grown = launch.growth_bytes_per_s * max(now_ms - self.container.started_ms, 0) // 1000
        return launch.memory_bytes + (
            min(grown, launch.growth_bytes_max) if launch.growth_bytes_max else grown
        )

    def out_of_memory_ms(self, kept_bytes: int = 0) -> int | None:
        """Return when growth brings the process over its container's limit, None for never.

        `kept_bytes` is what requests have left behind in it.
        """
        launch, limit = self.launch, self.container.memory_limit_bytes
        rate = launch.growth_bytes_per_s
        if limit is None:
            return None
        room = limit - launch.memory_bytes - kept_bytes
        if room <= 0 and kept_bytes:
            return self.container.started_ms
        if not rate or (launch.growth_bytes_max and launch.growth_bytes_max <= room):
            return None
        return self.container.started_ms + max(room, 0) * 1000 // rate + 1

    def listens_on(self, port: int, now_ms: int) -> bool:
        """Whether something accepts connections on `port` at `now_ms`."""
        if not self.is_running(now_ms):
            return False
        since = now_ms - self.container.started_ms
        return any(listener.port == port and since >= listener.after_ms for listener in self.launch.listeners)


class RunKey(NamedTuple):
    """A container of a pod."""

    pod_uid: str
    container: str


class Runtime:
    """The container runtimes of all nodes: runs by container, pods by address, logs by run, disks."""

    __slots__ = ("_addresses", "_logs", "_memory", "clocks", "disks", "runs")

    def __init__(self, state: State) -> None:
        self.runs = state.table("runtime/runs")
        self._addresses = state.table("runtime/addresses")
        self._logs = Logs(state)
        self._memory = state.table("runtime/memory")
        self.clocks = Clocks(state)
        self.disks = Disks(state)

    def run(self, pod_uid: str, container: str) -> Run | None:
        """Return the newest run of a container, running or ended."""
        found: Run | None = self.runs.get(RunKey(pod_uid, container))
        return found

    def begin(self, run: Run) -> None:
        """Record a new run: memory and layer of the one before are gone."""
        before = self.run(run.container.pod_uid, run.container.name)
        if before is not None and before.container.restarts != run.container.restarts:
            self._ended(before, run.container.started_ms)
            self._logs.end(_log_key(before), before.exit_at_ms or run.container.started_ms)
            self.disks.drop_layer(before.container)
        if run.launch.fills is not None:
            self.disks.fill(run.container, run.launch.fills)
        self.put(run)
        self.remember(run.container.pod_uid, run.container.name, {})

    def _ended(self, run: Run, at_ms: int) -> None:
        if run.launch.fills is not None:
            self.disks.settle(run.container, min(run.exit_at_ms or at_ms, at_ms))

    def used_bytes(self, volume: str, now_ms: int) -> int:
        """Return what is in use of a volume that something fills, 0 of others."""
        level = self.disks.level(volume)
        if level is None:
            return 0
        run = self.run(level.pod_uid, level.container)
        is_over = run is not None and run.exit_at_ms is not None
        return level.at(min(now_ms, run.exit_at_ms or now_ms) if is_over and run is not None else now_ms)

    def put(self, run: Run) -> None:
        """Record a run, new or changed."""
        self.runs[RunKey(run.container.pod_uid, run.container.name)] = run

    def end(self, run: Run, at_ms: int, code: int, reason: str, message: str = "") -> Run:
        """Record that a run ends at `at_ms`, unless it ends earlier by itself, and return it."""
        if run.exit_at_ms is not None and run.exit_at_ms <= at_ms:
            return run
        ended = replace(run, exit_at_ms=at_ms, exit_code=code, exit_reason=reason, exit_message=message)
        self.put(ended)
        return ended

    def hang(self, run: Run) -> Run:
        """Let a process stop doing anything: it keeps its ports and answers neither requests nor SIGTERM."""
        stuck = replace(run, is_hung=True, launch=replace(run.launch, stop_ms=NEVER_MS, stop_code=137))
        self.put(stuck)
        return stuck

    def forget(self, pod_uid: str, containers: Iterable[str]) -> None:
        """Remove a pod's runs, memory and logs."""
        for name in containers:
            key = RunKey(pod_uid, name)
            run: Run | None = self.runs.pop(key)
            self._memory.pop(key)
            if run is not None:
                self._ended(run, run.exit_at_ms or NEVER_MS)
                self.disks.drop_layer(run.container)
                self.disks.drop_scratch(run.container)
                for restarts in range(run.container.restarts + 1):
                    self._logs.drop(LogKey(pod_uid, name, restarts))

    def assign(self, address: str, namespace: str, pod: str, pod_uid: str) -> None:
        """Record that a pod sandbox has an address."""
        self._addresses[address] = (namespace, pod, pod_uid)

    def release(self, address: str) -> None:
        """Record that an address is free again."""
        self._addresses.pop(address)

    def pod_at(self, address: str) -> tuple[str, str, str] | None:
        """Return (namespace, pod, uid) of the pod that has the address, or None."""
        found: tuple[str, str, str] | None = self._addresses.get(address)
        return found

    def log(self, run: Run, lines: tuple[Line, ...]) -> None:
        """Append lines (with absolute times) to a run's log."""
        self._logs.add(_log_key(run), lines)

    def log_lines(
        self,
        pod_uid: str,
        container: str,
        restarts: int,
        lines_max: int = LINES_MAX,
        *,
        now_ms: int | None = None,
    ) -> list[Line]:
        """Return the newest lines of a run's newest log file, oldest first; with `now_ms` as rotated by then."""
        run = self.run(pod_uid, container)
        is_newest = run is not None and run.container.restarts == restarts
        exit_at_ms = run.exit_at_ms if run is not None and is_newest else None
        return self._logs.lines(LogKey(pod_uid, container, restarts), lines_max, now_ms, exit_at_ms)

    def log_file(self, run: Run) -> LogFile:
        """Return what is known of the newest file of a run's log."""
        return self._logs.file(_log_key(run))

    def drop_log(self, pod_uid: str, container: str, restarts: int) -> None:
        """Remove the log of an old run (the runtime keeps one dead container)."""
        self._logs.drop(LogKey(pod_uid, container, restarts))

    def memory(self, pod_uid: str, container: str) -> dict[str, str]:
        """Return a copy of what a program remembers during a run."""
        kept: tuple[tuple[str, str], ...] | None = self._memory.get(RunKey(pod_uid, container))
        return dict(kept or ())

    def remember(self, pod_uid: str, container: str, memory: dict[str, str]) -> None:
        """Replace what a program remembers during a run."""
        self._memory[RunKey(pod_uid, container)] = tuple(memory.items())


def _log_key(run: Run) -> LogKey:
    return LogKey(run.container.pod_uid, run.container.name, run.container.restarts)
