"""The agent's terminal: a shell with kubectl and curl, a home directory, and a bound on what it may print."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

from env_core.apiserver.client import ApiClient
from env_core.apiserver.registry import Kinds
from env_core.apiserver.request import Identity
from env_core.dataplane.network import Network
from env_core.kubectl import command as kubectl
from env_core.kubectl.context import Context
from env_core.kubectl.discovery_cache import CachedDiscovery
from env_core.node.machines import Machines
from env_core.shell import pipeline
from env_core.shell._clients import nodectl
from env_core.shell.clients import outside_programs
from env_core.shell.context import Interrupted, Process, Program
from env_core.shell.filesystem import EXISTS, NOT_DIRECTORY, FileSystem, ShellFileError
from env_core.sim.work import LINE_MAX, Work
from env_core.world import Output

HOME = "/root"
TIMED_OUT = 124
"""The exit code of a line that ran out of time, as `timeout` gives it."""
STOPPED = pipeline.LIMIT_STATUS
"""The exit code of a line that was stopped because it did too much."""
Check = Callable[[list[str]], None]


class Host(Protocol):
    """The world that the terminal reaches: a cluster, its clock and its network."""

    network: Network

    @property
    def machines(self) -> Machines:
        """The machines under its nodes."""

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""

    @property
    def work(self) -> Work:
        """The meter of all that is done in it."""

    @property
    def registry(self) -> Kinds:
        """The kinds that the API serves."""

    def client(self, identity: Identity) -> ApiClient:
        """Return a client for an identity."""

    def advance(self, duration_ms: int) -> None:
        """Let time pass."""

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until a condition holds."""


class Terminal:
    """One user's terminal on one host. Files, variables and the current namespace live from line to line."""

    __slots__ = (
        "_check",
        "_context",
        "_discovery",
        "_fs",
        "_has_node_tool",
        "_host",
        "_identity",
        "_process",
        "_shell",
        "_status",
    )

    def __init__(
        self,
        host: Host,
        identity: Identity,
        *,
        namespace: str,
        fs: FileSystem | None = None,
        discovery: CachedDiscovery | None = None,
        has_node_tool: bool = False,
    ) -> None:
        """Open a terminal; `has_node_tool` offers `nodectl`."""
        self._host = host
        self._has_node_tool = has_node_tool
        self._identity = identity
        self._fs = FileSystem() if fs is None else fs
        self._discovery = CachedDiscovery(host.registry, lambda: host.now_ms, origin=discovery)
        self._context = Context(
            api=host.client(identity),
            clock=host,
            files=ShellFiles(Process(fs=self._fs, cwd=HOME)),
            discovery=self._discovery,
            namespace=namespace,
            user=identity.name,
        )
        self._process = self._make_process()
        self._shell: pipeline.Shell | None = None
        """Made for the first line that is more than one plain command: forks are many, and most never need it."""
        self._status = 0
        self._check: Check = _allow

    @staticmethod
    def commands(line: str) -> list[list[str]]:
        """Return the words of every command in a line, as far as they can be told before it runs."""
        try:
            return pipeline.simple_commands(pipeline.parse(line))
        except pipeline.SyntaxProblem:
            return []

    def run(self, line: str, check: Check, limit_ms: int) -> Output:
        """Run a line for at most `limit_ms` of virtual time and `LINE_MAX` of work; what takes more is stopped.

        `check` sees each kubectl and curl command before it runs and may raise to stop the line.
        """
        self._check = check
        process = self._process
        process.deadline_ms = self._host.now_ms + limit_ms
        with self._host.work.limited(LINE_MAX):
            try:
                words = _plain_words(line)
                if words is not None and (self._shell is None or words[0] not in self._shell.functions):
                    # Most lines are one command without anything for a shell to do.
                    return self._run_plain(list(words))
                return self._started_shell().run(line, "")
            except Interrupted as stopped:
                output = stopped.output or Output()
                if self._host.work.is_spent:
                    return Output(output.stdout, f"{output.stderr}stopped: too much work\n", STOPPED)
                text = f"command timed out after {limit_ms // 1000} s\n"
                return Output(output.stdout, output.stderr + text, TIMED_OUT)

    def _run_plain(self, words: list[str]) -> Output:
        if words[0] == "kubectl":
            self._check(words)
            output = self._kubectl(self._process.child(stdin=""), words)
        else:
            process = self._started_shell().process
            output = process.programs[words[0]](process.child(stdin=""), words)
        self._status = output.exit_code
        if self._shell is not None:
            self._shell.status = output.exit_code
        return output

    def _started_shell(self) -> pipeline.Shell:
        if self._shell is None:
            self._shell = pipeline.Shell(self._process, self._programs())
            self._shell.status = self._status
        return self._shell

    def _make_process(self) -> Process:
        return Process(
            fs=self._fs,
            env={
                "HOME": HOME,
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "USER": self._identity.name,
                "TERM": "dumb",
            },
            cwd=HOME,
            now_ms=lambda: self._host.now_ms,
            advance=self._host.advance,
            hostname="bastion",
            work=self._host.work,
        )

    def _programs(self) -> dict[str, Program]:
        programs = dict(outside_programs(self._host.network))
        programs["kubectl"] = self._kubectl
        if self._has_node_tool:
            programs["nodectl"] = nodectl.bound(self._host.machines, self._host.client(self._identity))
        return {name: self._checked(name, program) for name, program in programs.items()}

    def _checked(self, name: str, program: Program) -> Program:
        def run(process: Process, argv: list[str]) -> Output:
            self._check([name, *argv[1:]])
            return program(process, argv)

        return run

    def _kubectl(self, process: Process, argv: list[str]) -> Output:
        context = self._context
        context.stdin = process.stdin if _reads_input(argv[1:]) else ""
        _count_text(process, context.stdin)
        context.files = ShellFiles(process)
        context.launcher = ShellLauncher(process)
        if process.deadline_ms is not None:
            context.clock = _BoundedClock(self._host, process.deadline_ms)
        return kubectl.run(argv[1:], context)

    def fork(self, host: Host) -> Terminal:
        """Return the same terminal on a forked host."""
        copy = Terminal(
            host,
            self._identity,
            namespace=self._context.namespace,
            fs=self._fs.fork(),
            discovery=self._discovery,
            has_node_tool=self._has_node_tool,
        )
        copy._context.kubeconfig = self._context.kubeconfig
        copy._status = self._status
        if self._shell is not None:
            shell = copy._started_shell()
            shell.variables = dict(self._shell.variables)
            shell.exported = set(self._shell.exported)
            shell.functions = dict(self._shell.functions)
            shell.process.cwd = self._shell.process.cwd
        return copy


_PLAIN = re.compile(r"(?:kubectl|curl)(?: [\w./:=,@%+-]+)*", re.ASCII)


@lru_cache(maxsize=4096)
def _plain_words(line: str) -> tuple[str, ...] | None:
    """Return the words of a line that is one kubectl or curl command with nothing to expand, None of any other."""
    return tuple(line.split(" ")) if _PLAIN.fullmatch(line) else None


_ATTACHED = re.compile(r"-[A-Za-z]*i[A-Za-z]*|--stdin(?:=.*)?|--interactive(?:=.*)?", re.ASCII)
_ATTACHING = frozenset({"attach", "debug", "delete", "exec", "run"})
_ASKING = frozenset({"edit", "kuberc"})


def _reads_input(argv: list[str]) -> bool:
    """Whether kubectl may look at its standard input: any other leaves it to whoever comes next, as in `while read`."""
    own = argv[: argv.index("--")] if "--" in argv else argv
    if any(word in ("-", "-f-") or word.endswith("=-") for word in own):
        return True
    if not _ATTACHING.isdisjoint(own):
        return any(_ATTACHED.fullmatch(word) for word in own)
    return not _ASKING.isdisjoint(own) or "edit-last-applied" in own


def _allow(_argv: list[str]) -> None:
    """Let every command pass."""


def _count_text(process: Process, text: str) -> None:
    """Count what reading a manifest takes before it is read: YAML is slow.

    Raises:
        Interrupted: when it is more than the line may do.
    """
    process.work.done += len(text) // 3 if text[:1] in ("{", "[") else len(text)
    if process.work.is_spent:
        raise Interrupted


class _BoundedClock:
    """The host's clock up to a deadline; waiting beyond it is interrupted."""

    __slots__ = ("_deadline_ms", "_host")

    def __init__(self, host: Host, deadline_ms: int) -> None:
        self._host = host
        self._deadline_ms = deadline_ms

    @property
    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch."""
        return self._host.now_ms

    def advance(self, duration_ms: int) -> None:
        """Let time pass; raises `Interrupted` at the deadline."""
        left_ms = max(self._deadline_ms - self._host.now_ms, 0)
        self._host.advance(min(duration_ms, left_ms))
        if duration_ms > left_ms:
            raise Interrupted

    def advance_until(self, is_met: Callable[[], bool], timeout_ms: int) -> bool:
        """Let time pass until a condition holds; raises `Interrupted` at the deadline."""
        left_ms = max(self._deadline_ms - self._host.now_ms, 0)
        if self._host.advance_until(is_met, min(timeout_ms, left_ms)):
            return True
        if timeout_ms > left_ms:
            raise Interrupted
        return False


class ShellLauncher:
    """The programs of the shell, as kubectl starts them."""

    __slots__ = ("_process",)

    def __init__(self, process: Process) -> None:
        self._process = process

    def variable(self, name: str) -> str:
        """Return an environment variable, "" for none."""
        return self._process.env.get(name, "")

    def has(self, program: str) -> bool:
        """Whether there is a program of that name."""
        return self._process.find(program) is not None

    def start(self, argv: Sequence[str], stdin: str) -> Output:
        """Run a program, or the script that its path leads to."""
        # The shell knows how scripts are run; the words pass through it unread.
        output = self._process.start(["sh", "-c", '"$0" "$@"', *argv], stdin=stdin)
        return output if output is not None else Output("", "", 127)


class ShellFiles:
    """The files as kubectl sees them: relative to the shell's working directory."""

    __slots__ = ("_process",)

    def __init__(self, process: Process) -> None:
        self._process = process

    def read(self, path: str) -> str:
        """Return a file's text."""
        try:
            text = self._process.fs.read(self._process.path(path))
            _count_text(self._process, text)
            return text
        except ShellFileError as error:
            raise FileNotFoundError(path) from error

    def write(self, path: str, text: str) -> None:
        """Replace a file's text."""
        try:
            self._process.fs.write(self._process.path(path), text)
        except ShellFileError as error:
            raise OSError(f"open {path}: {error.reason.lower()}") from error

    def makedirs(self, path: str) -> None:
        """Make a directory and those above it, as far as they are missing."""
        try:
            self._process.fs.mkdir(self._process.path(path), parents=True)
        except ShellFileError as error:
            # Go's MkdirAll says of a file in the way that it is no directory.
            reason = NOT_DIRECTORY if error.reason == EXISTS else error.reason
            raise OSError(f"mkdir {path}: {reason.lower()}") from error

    def remove(self, path: str) -> None:
        """Remove a file, if there is one."""
        with suppress(ShellFileError):
            self._process.fs.remove(self._process.path(path))

    def listdir(self, path: str) -> list[str]:
        """Return the sorted names in a directory."""
        try:
            return sorted(self._process.fs.listdir(self._process.path(path)))
        except ShellFileError as error:
            raise FileNotFoundError(path) from error

    def is_dir(self, path: str) -> bool:
        """Whether `path` is a directory."""
        return self._process.fs.is_dir(self._process.path(path))

    def absolute(self, path: str) -> str:
        """Return `path` from the root on, cleaned."""
        return self._process.path(path)
