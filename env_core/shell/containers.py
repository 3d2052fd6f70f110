"""Containers whose command is a client or a script of clients: they run as time goes, and log what they print.

What such a command prints depends on the network at that moment, so that it cannot be told when the container starts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from env_core.dataplane.network import Network
from env_core.programs import Line, Run, Runtime
from env_core.programs._runs import RunKey
from env_core.shell import _steps
from env_core.shell._commands import parse_script
from env_core.shell._streams import Source, Streams
from env_core.shell.context import Interrupted, Process
from env_core.shell.inside import Inside
from env_core.shell.pipeline import Shell
from env_core.shell.syntax import Node, SyntaxProblem
from env_core.sim.loop import EventLoop
from env_core.sim.state import State

HANDLER: Final = "script"
LONGEST_MS: Final = 1 << 40
"""Longer than any episode."""


class Row(NamedTuple):
    """A container's script in its midst, and what its shell has set so far."""

    started_ms: int
    script: _steps.Script
    variables: tuple[tuple[str, str], ...]
    exported: frozenset[str]
    functions: tuple[tuple[str, Node], ...]
    options: tuple[tuple[str, bool], ...]
    directory: str
    line: int
    unfinished: tuple[str, str]
    """What was printed of a last line without its end: on stdout, on stderr."""


_AT_ONCE_WORK: Final = 500_000
"""Units of work that a script may do without any time going by."""


@dataclass(slots=True)
class _Recorder:
    """Takes what a stream prints, with the time of it."""

    stream: str
    now_ms: Callable[[], int]
    lines: list[Line]
    unfinished: str = ""
    written: int = field(default=0)

    def write(self, text: str) -> bool:
        """Take `text`; whole lines go to the log."""
        *whole, self.unfinished = (self.unfinished + text).split("\n")
        self.lines += [Line(self.now_ms(), line, self.stream) for line in whole]
        return True


class Scripts:
    """Runs the live commands of all containers, one row of plain data each."""

    __slots__ = ("_loop", "_network", "_rows", "_runtime")

    def __init__(self, *, network: Network, runtime: Runtime, loop: EventLoop, state: State) -> None:
        self._network = network
        self._runtime = runtime
        self._loop = loop
        self._rows = state.table("shell/scripts")

    def handle(self, key: Hashable) -> None:
        """Let a container's script go on: the key is the pod's uid and the container's name."""
        uid, name = cast("tuple[str, str]", key)
        run = self._runtime.run(uid, name)
        place = RunKey(uid, name)
        if run is None or not run.launch.live or not run.is_running(self._loop.now_ms):
            self._rows.pop(place)
            return
        row: Row | None = self._rows.get(place)
        if row is not None and row.started_ms != run.container.started_ms:
            row = None
        self._go_on(run, row, place)

    def _go_on(self, run: Run, row: Row | None, place: RunKey) -> None:
        clock = _steps.Clock(self._loop.now_ms)
        inside = Inside(run, self._network, self._runtime)
        process = inside.process(clock.now_ms, clock.wait, "", self._loop.now_ms + LONGEST_MS)
        lines: list[Line] = []
        out = _Recorder("stdout", clock.now_ms, lines, row.unfinished[0] if row else "")
        err = _Recorder("stderr", clock.now_ms, lines, row.unfinished[1] if row else "")
        streams = Streams(Source(""), out, err)
        shell, text, positional = _shell_of(process, run.launch.live)
        if row is None:
            script = self._begun(shell, text, err)
        else:
            _restore(shell, row, positional)
            script = row.script
        if not script.is_over:
            try:
                with self._loop.work.limited(_AT_ONCE_WORK):
                    script = _steps.stepped(script, shell, streams, clock)
            except Interrupted:
                script = _steps.Script((), clock.now_ms(), 124, is_over=True)
        if script.is_over:
            for each in (out, err):
                if each.unfinished:
                    each.write("\n")
        inside.keep(process)
        self._runtime.log(run, tuple(lines))
        if script.is_over:
            self._rows.pop(place)
            self._end(run, script)
            return
        self._rows[place] = _kept(run, script, shell, (out.unfinished, err.unfinished))
        self._loop.wake(script.due_ms, HANDLER, (place.pod_uid, place.container))

    def _begun(self, shell: Shell, text: str, err: _Recorder) -> _steps.Script:
        try:
            tree = parse_script(text, is_bash=shell.dialect.is_bash)
        except SyntaxProblem as problem:
            shell.line = problem.line
            err.write(shell.syntax_error(problem, text, ""))
            return _steps.Script((), self._loop.now_ms, 2, is_over=True)
        return _steps.begun(tree, self._loop.now_ms)

    def _end(self, run: Run, script: _steps.Script) -> None:
        at_ms = max(script.due_ms, self._loop.now_ms)
        reason = "Completed" if script.status == 0 else "Error"
        self._runtime.end(run, at_ms, script.status, reason)
        container = run.container
        self._loop.wake(at_ms, "kubelet", ("run", container.pod_uid, container.name))


def _shell_of(process: Process, argv: tuple[str, ...]) -> tuple[Shell, str, tuple[str, ...]]:
    """Return the shell that runs a container's argv, and the text that it runs.

    A command that is no shell is what that text consists of.
    """
    name = argv[0].rpartition("/")[2]
    if name in ("sh", "bash", "ash", "dash") and len(argv) > 2 and argv[1].startswith("-") and "c" in argv[1]:
        shell = Shell(process, name=argv[3] if len(argv) > 3 else argv[0], is_bash=name == "bash")
        for letter in argv[1][1:].replace("c", "").replace("l", ""):
            shell.options[letter] = True
        shell.positional = list(argv[4:])
        return shell, argv[2], tuple(argv[4:])
    shell = Shell(process, name=argv[0])
    return shell, " ".join(_quoted(word) for word in argv), ()


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _restore(shell: Shell, row: Row, positional: tuple[str, ...]) -> None:
    shell.variables = dict(row.variables)
    shell.exported = set(row.exported)
    shell.functions = dict(row.functions)
    shell.options = dict(row.options)
    shell.positional = list(positional)
    shell.process.cwd = row.directory
    shell.line = row.line


def _kept(run: Run, script: _steps.Script, shell: Shell, unfinished: tuple[str, str]) -> Row:
    return Row(
        run.container.started_ms,
        script,
        tuple(shell.variables.items()),
        frozenset(shell.exported),
        tuple(shell.functions.items()),
        tuple(shell.options.items()),
        shell.process.cwd,
        shell.line,
        unfinished,
    )
