"""What a program of the shell sees: its file system, its process, and the other programs."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from env_core.shell.budget import Budget
from env_core.shell.filesystem import FileSystem, ShellFileError
from env_core.sim.work import Work
from env_core.world import Interrupted, Output

if TYPE_CHECKING:
    from env_core.shell._jobs import Jobs
    from env_core.shell._streams import Pipe

__all__ = [
    "FileSystem",
    "Interleaved",
    "Interrupted",
    "Process",
    "Program",
    "ShellFileError",
    "Talk",
    "Talking",
]

NOWHERE = "/\0/\0"
"""A path that no name leads to: what an empty name stands for."""


class Process:
    """One running program.

    `stdin` is all that is left to read; reading it marks it as read, so that `while read` loops know whether a
    command in their body took their input. `advance` lets virtual milliseconds pass. A program that waits
    should stop by itself at `deadline_ms`, printing what it has; otherwise `advance` raises `Interrupted` there.
    """

    __slots__ = (
        "_advance",
        "_stdin",
        "budget",
        "cwd",
        "deadline_ms",
        "env",
        "flavour",
        "fs",
        "has_terminal",
        "hostname",
        "is_bash",
        "jobs",
        "now_ms",
        "pipe",
        "programs",
        "stdin_was_read",
        "user",
        "work",
    )

    def __init__(
        self,
        stdin: str = "",
        fs: FileSystem | None = None,
        env: dict[str, str] | None = None,
        cwd: str = "/root",
        now_ms: Callable[[], int] = lambda: 0,
        advance: Callable[[int], None] = lambda duration_ms: None,
        programs: Mapping[str, Program] | None = None,
        user: str = "root",
        hostname: str = "toolbox",
        *,
        flavour: str = "gnu",
        deadline_ms: int | None = None,
        budget: Budget | None = None,
        has_terminal: bool = False,
        is_bash: bool = False,
        work: Work | None = None,
    ) -> None:
        """Describe a process.

        `flavour` is "gnu" (Debian's tools) or "busybox"; `budget` is that of the shell that started it;
        `work` is the meter of the world around it.
        `has_terminal` says that it writes to a terminal, `is_bash` that the shell around it is bash.
        """
        self._stdin = stdin
        self.stdin_was_read = False
        self.fs = FileSystem() if fs is None else fs
        self.env = {} if env is None else env
        self.cwd = cwd
        self.now_ms = now_ms
        self._advance = advance
        self.programs: Mapping[str, Program] = {} if programs is None else programs
        self.user = user
        self.hostname = hostname
        self.flavour = flavour
        self.deadline_ms = deadline_ms
        self.budget = budget
        self.has_terminal = has_terminal
        self.is_bash = is_bash
        self.work = Work() if work is None else work
        self.jobs: Jobs | None = None
        """The background commands of the shell around it, which go on while it waits."""
        self.pipe: Pipe | None = None
        """Standard input, where another command writes it while this one runs."""

    @property
    def stdin(self) -> str:
        """The rest of standard input."""
        self.stdin_was_read = True
        return self._stdin

    @property
    def is_busybox(self) -> bool:
        """Whether the tools are BusyBox applets."""
        return self.flavour == "busybox"

    def advance(self, duration_ms: int) -> None:
        """Let virtual time pass.

        Raises:
            Interrupted: when the deadline comes first; time stands at the deadline then.
        """
        if self.deadline_ms is not None:
            left_ms = self.deadline_ms - self.now_ms()
            if duration_ms >= left_ms:
                self._pass(max(left_ms, 0))
                raise Interrupted
        self._pass(duration_ms)

    def _pass(self, duration_ms: int) -> None:
        if self.jobs is not None and self.jobs.are_running:
            self.jobs.advance(duration_ms, self._advance)
        else:
            self._advance(duration_ms)

    def path(self, name: str) -> str:
        """Return the absolute, normalised path of `name`; an empty name leads nowhere."""
        if not name:
            return NOWHERE
        joined = posixpath.normpath(posixpath.join(self.cwd, name))
        return joined[1:] if joined.startswith("//") else joined

    def child(
        self,
        stdin: str | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        deadline_ms: int | None = None,
    ) -> Process:
        """Return a process that differs only in what is given; an earlier deadline of the parent stays."""
        if deadline_ms is None or (self.deadline_ms is not None and self.deadline_ms < deadline_ms):
            deadline_ms = self.deadline_ms
        process = Process(
            self._stdin if stdin is None else stdin,
            self.fs,
            self.env if env is None else env,
            self.cwd if cwd is None else cwd,
            self.now_ms,
            self._advance,
            self.programs,
            self.user,
            self.hostname,
            flavour=self.flavour,
            deadline_ms=deadline_ms,
            budget=self.budget,
            has_terminal=self.has_terminal,
            is_bash=self.is_bash,
            work=self.work,
        )
        process.jobs = self.jobs
        return process

    def find(self, name: str) -> Program | None:
        """Return the program that `name` (a bare name or a path into a bin directory) starts, if any."""
        directory, _, base = name.rpartition("/")
        if directory and (directory not in BIN_DIRECTORIES or self.fs.exists(name)):
            return None
        return self.programs.get(base)

    def start(
        self, argv: list[str], stdin: str | None = None, env: dict[str, str] | None = None
    ) -> Output | None:
        """Run another program as a child and return what it leaves, or None when there is no such program.

        Raises:
            LimitReached: when the line has started too many programs.
        """
        program = self.find(argv[0]) if argv else None
        if program is None:
            return None
        process = self.child(stdin=stdin, env=env)
        if self.budget is None:
            return program(process, argv)
        self.budget.step()
        before = process.fs.moved
        output = program(process, argv)
        self.budget.spend(process.cost(argv, output, before))
        return output

    def cost(self, argv: list[str], output: Output, before: int) -> int:
        """Return the units of work of a program that has run here; `before` is what its files had moved until then."""
        moved = self.fs.moved - before + len(output.stdout) + len(output.stderr)
        if self.stdin_was_read:
            moved += len(self._stdin)
        # kubectl only prints what it is told; text tools look at every character.
        return moved // (6 if argv[0] == "kubectl" else 3)


Program = Callable[[Process, list[str]], Output]
"""A program: its process and its argv (the name comes first), to what it leaves behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleaved(Output):
    """What a program leaves behind that writes at once whatever it has to say."""

    parts: tuple[tuple[bool, str], ...] = ()
    """Texts in order; the flag says that one is for standard error."""


Talk = Generator[int, None, Output]
"""A program that tells its caller how long to wait, in milliseconds, before it goes on.

It may be let go on sooner, and looks for itself whether what it waits for has come about.
"""


@dataclass(frozen=True, slots=True)
class Talking:
    """A program that others may run beside something else, for it waits where its caller sees it."""

    begin: Callable[[Process, list[str]], Talk]

    def __call__(self, process: Process, argv: list[str]) -> Output:
        """Run it to its end."""
        talk = self.begin(process, argv)
        try:
            while True:
                process.advance(next(talk))
        except StopIteration as ended:
            output: Output = ended.value
            return output
        finally:
            talk.close()


BIN_DIRECTORIES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
