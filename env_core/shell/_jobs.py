"""Commands that a shell runs in the background: they go on while the one in front waits.

Each goes from one simple command to the next at its time; a client that says how long it waits goes on in between.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from env_core.shell import _steps
from env_core.shell._streams import Streams
from env_core.shell._waiting import Waiting
from env_core.shell.context import Interrupted, Process
from env_core.shell.syntax import Group, Node, Sequence

if TYPE_CHECKING:
    from env_core.shell.pipeline import Shell

_INTERRUPTED_STATUS: Final = 124


@dataclass(slots=True, eq=False)
class Job:
    """One background command in its midst."""

    shell: Shell
    streams: Streams
    owner: object
    """The shell, or subshell, that may wait for it."""
    script: _steps.Script
    clock: _steps.Clock
    waiting: Waiting | None = None

    def now_ms(self) -> int:
        """Return the job's time, which within one command is further than that of the command in front."""
        return self.clock.now_ms()

    def wait(self, duration_ms: int) -> None:
        """Let time pass for the job alone."""
        self.clock.wait(duration_ms)


@dataclass(slots=True)
class Jobs:
    """The background commands of one line of a shell, oldest first."""

    now_ms: Callable[[], int]
    """The time of the command in front."""
    running: list[Job] = field(default_factory=list)
    _is_at_work: bool = False

    @property
    def are_running(self) -> bool:
        """Whether there is anything to go on with, beside what is going on."""
        return bool(self.running) and not self._is_at_work

    def start(self, shell: Shell, node: Node, streams: Streams) -> Job:
        """Begin a background command; what it does at once is done at once."""
        while isinstance(node, Group):
            node = node.body
        tree = node if isinstance(node, Sequence) else Sequence((node,))
        at_ms = shell.process.now_ms()
        inner = copy(shell)
        job = Job(inner, streams, shell.owner, _steps.begun(tree, at_ms), _steps.Clock(at_ms))
        process = shell.process.child(stdin="", env=dict(shell.process.env))
        process.now_ms, process._advance = job.now_ms, job.wait
        inner.isolate(process)
        self.running.append(job)
        if at_ms <= self.now_ms():
            self._go_on(job)
        return job

    def advance(self, duration_ms: int, front: Callable[[int], None]) -> None:
        """Let time pass for the command in front, and for all jobs."""
        for job in tuple(self.running):
            if job.waiting is not None and job.script.due_ms > self.now_ms():
                self._go_on(job)  # what it waits for may have come about
        end_ms = self.now_ms() + duration_ms
        while self.running:
            # Of two that are due at once, the younger one goes first, as after a fork.
            job = min(reversed(self.running), key=lambda each: each.script.due_ms)
            if job.script.due_ms > end_ms:
                break
            front(max(job.script.due_ms - self.now_ms(), 0))
            self._go_on(job)
        front(max(end_ms - self.now_ms(), 0))

    def finish(self, process: Process, is_meant: Callable[[Job], bool] = lambda _job: True) -> None:
        """Wait until jobs have ended."""
        while not self._is_at_work and (left := [job for job in self.running if is_meant(job)]):
            process.advance(max(min(job.script.due_ms for job in left) - process.now_ms(), 0))

    def close(self) -> None:
        """End what still runs."""
        for job in self.running:
            if job.waiting is not None:
                job.waiting.talk.close()
        self.running.clear()

    def _go_on(self, job: Job) -> None:
        was_at_work, self._is_at_work = self._is_at_work, True
        job.clock = _steps.Clock(self.now_ms())
        try:
            if job.waiting is None or self._talked(job, job.waiting):
                self._step(job)
        except Interrupted as stopped:
            if stopped.output is not None:
                job.shell.deliver(stopped.output, "", job.streams)
            job.script = _steps.over(job.script, _INTERRUPTED_STATUS, job.now_ms())
        finally:
            self._is_at_work = was_at_work
        if job.script.is_over:
            self.running.remove(job)

    def _step(self, job: Job) -> None:
        while True:
            try:
                job.script = _steps.stepped(job.script, job.shell, job.streams, job.clock)
            except Waiting as waiting:
                job.script, job.waiting = waiting.rest, waiting
                if self._talked(job, waiting):
                    continue
            return

    def _talked(self, job: Job, waiting: Waiting) -> bool:
        """Let a waiting client go on; return whether it has ended."""
        try:
            pause_ms = next(waiting.talk)
        except StopIteration as ended:
            status = job.shell.deliver(ended.value, waiting.name, waiting.streams)
            job.waiting = None
            job.script = _steps.answered(job.script, status, job.now_ms())
            return True
        job.script = _steps.answered(job.script, job.script.status, job.now_ms() + max(pause_ms, 1))
        return False
