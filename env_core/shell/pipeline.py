"""The shell: runs lines of POSIX shell against an in-memory file system, with no subprocess."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from env_core.shell import _pattern, _script
from env_core.shell._commands import parse, simple_commands
from env_core.shell._control import Exit, LoopControl, Refused, Return
from env_core.shell._dialect import ASH, DASH, Dialect
from env_core.shell._expansion import Expander, ExpansionProblem
from env_core.shell._grammar import parser
from env_core.shell._redirection import redirected
from env_core.shell._registry import builtin_programs, shell_programs
from env_core.shell._special import SPECIAL, UTILITIES
from env_core.shell._streams import PIPE_MAX, Buffer, Source, Streams
from env_core.shell.budget import Budget, LimitReached
from env_core.shell.context import Interrupted, Process, Program
from env_core.shell.syntax import (
    AndOr,
    Background,
    Case,
    For,
    Function,
    Group,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Redirected,
    Sequence,
    Simple,
    SyntaxProblem,
    Word,
)
from env_core.world import Output

__all__ = ["Shell", "SyntaxProblem", "parse", "simple_commands"]

LIMIT_STATUS: Final = 125
"""The exit status of a line that was stopped because it did too much."""


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[tuple[Sequence, ...], SyntaxProblem | None]:
    """Return the complete commands of a text up to its first syntax error, and that error."""
    reader = parser(text)
    nodes: list[Sequence] = []
    try:
        while (node := reader.next_command()) is not None:
            nodes.append(node)
    except SyntaxProblem as problem:
        return tuple(nodes), problem
    return tuple(nodes), None


class Shell:
    """One shell: variables, functions and working directory live from line to line.

    `programs` are the external programs (kubectl, curl, …); they hide built-in ones of the same name. Commands
    run one after the other: a pipeline's stages hand their whole output on.
    """

    def __init__(
        self,
        process: Process,
        programs: Mapping[str, Program] | None = None,
        *,
        name: str = "sh",
        positional: tuple[str, ...] = (),
        is_script: bool = False,
        is_string: bool = True,
    ) -> None:
        """Take over `process`: its programs become the built-in ones and `programs`.

        `is_script` says that the text is a file called `name`, `is_string` that it is the argument of `-c`.
        """
        if programs is not None or not process.programs:
            process.programs = {**builtin_programs(process.flavour), **(programs or {})}
        self.process = process
        self.name = name
        self.positional = list(positional)
        self.is_script = is_script
        self.is_string = is_string
        self.sourced = ""
        self.variables: dict[str, str] = dict(process.env)
        self.exported: set[str] = set(process.env)
        self.readonly: set[str] = set()
        self.functions: dict[str, Node] = {}
        self.options: dict[str, bool] = {}
        self.dialect: Dialect = ASH if process.is_busybox else DASH
        self.status = 0
        self.line = 1
        self.locals: list[dict[str, str | None]] = []
        self.finished_jobs: list[int] = []
        self._budget = Budget()
        self.loops = 0
        self._tested = 0

    def run(self, line: str, stdin: str | None = None) -> Output:
        """Run a line (or a script) and return all it printed; never raises for what the line says.

        Raises:
            Interrupted: when the process has a deadline and virtual time reaches it; carries the output so far.
        """
        is_outermost = self.process.budget is None
        if is_outermost:
            self.process.budget = Budget()
        self._budget = self.process.budget or Budget()
        limits = () if is_outermost else (PIPE_MAX,)
        stdout, stderr = Buffer(*limits), Buffer(*limits)
        streams = Streams(Source(self.process.stdin if stdin is None else stdin), stdout, stderr)
        try:
            self.status = self._run_text(line, streams)
        except LimitReached as limit:
            if not is_outermost:
                raise
            self.status = LIMIT_STATUS
            stderr.parts.append(self.located(limit.text))
        except Interrupted:
            raise Interrupted(Output(stdout.text(), stderr.text(), 124)) from None
        finally:
            if is_outermost:
                self.process.budget = None
        self.process.env = self.environment()
        return Output(stdout.text(), stderr.text(), self.status)

    def _run_text(self, text: str, streams: Streams) -> int:
        """Run `text` as the whole of a shell's input."""
        try:
            return self.execute_text(text, streams)
        except Exit as ended:
            return ended.status
        except Return as returned:
            return returned.status
        except LoopControl:
            return self.status

    def execute_text(self, text: str, streams: Streams, command: str = "") -> int:
        """Run commands one line at a time, so that a syntax error stops only what follows it."""
        nodes, problem = _parsed(text)
        status = 0
        for node in nodes:
            try:
                status = self.execute(node, streams)
            except Refused as refused:
                streams.stderr.write(self.located(refused.text, refused.command))
                raise Exit(refused.status) from None
        if problem is not None:
            self.line = problem.line
            streams.stderr.write(self.located(self.dialect.syntax(problem), command))
            raise Exit(2)
        return status

    def located(self, text: str, command: str = "") -> str:
        """Return an error line with the shell's name in front."""
        command = command or self.sourced
        exact = self.is_script or self.sourced != "" or not self.is_string
        return self.dialect.located(self.name, self.line, text, command, in_file=self.is_script, exact=exact)

    def environment(self) -> dict[str, str]:
        """Return the exported variables that have a value."""
        return {name: self.variables[name] for name in sorted(self.exported) if name in self.variables}

    def parameter(self, name: str) -> str | None:
        """Return the value of a variable or special parameter, None if it is unset."""
        value = self.variables.get(name)
        if value is not None:
            return value
        if name.isdecimal():
            number = int(name[:6])
            if number == 0:
                return self.name
            return self.positional[number - 1] if number <= len(self.positional) else None
        if name in ("@", "*"):
            return " ".join(self.positional)
        if name == "?":
            return str(self.status)
        if name == "#":
            return str(len(self.positional))
        return self._environment_parameter(name)

    def _environment_parameter(self, name: str) -> str | None:
        """Return what is always set, variable or not."""
        if name == "$":
            return "4242"
        if name == "!":
            return "4243" if self.finished_jobs else ""
        if name == "-":
            return "".join(sorted(letter for letter, is_on in self.options.items() if is_on))
        if name == "PWD":
            return self.process.cwd
        if name == "HOME":
            return "/root" if self.process.user == "root" else f"/home/{self.process.user}"
        return {"LINENO": str(self.line), "PPID": "1"}.get(name)

    def is_built_in(self, name: str) -> bool:
        """Tell whether `name` is a program that the shell has built in."""
        return self.process.programs.get(name) in shell_programs()

    def assign(self, name: str, value: str) -> None:
        """Set a variable.

        Raises:
            Refused: if it is read-only.
        """
        if name in self.readonly:
            raise Refused(f"{name}: is read only")
        self.variables[name] = value

    def substituted(self, body: Sequence, streams: Streams) -> tuple[str, int]:
        """Return what a command substitution prints, and its status."""
        buffer = Buffer(PIPE_MAX)
        status = self._isolated(body, Streams(streams.stdin, buffer, streams.stderr))
        return buffer.text(), status

    def _isolated(self, node: Node, streams: Streams) -> int:
        """Run `node` as a subshell does: nothing that it sets outlives it."""
        kept = (
            dict(self.variables), set(self.exported), set(self.readonly), dict(self.functions),
            dict(self.options), list(self.positional), self.process.cwd, self.loops, self.status,
        )  # fmt: skip
        self.loops = 0
        try:
            return self.execute(node, streams)
        except Exit as ended:
            return ended.status
        except (Return, LoopControl):
            return self.status
        except Refused as problem:
            streams.stderr.write(self.located(problem.text, problem.command))
            return problem.status
        finally:
            (
                self.variables, self.exported, self.readonly, self.functions,
                self.options, self.positional, self.process.cwd, self.loops, self.status,
            ) = kept  # fmt: skip

    def execute(self, node: Node, streams: Streams) -> int:
        """Run one node and return its status, which also becomes `$?`."""
        self._budget.enter()
        try:
            status = _EXECUTORS[type(node)](self, node, streams)
        finally:
            self._budget.leave()
        self.status = status
        return status

    def _sequence(self, node: Sequence, streams: Streams) -> int:
        status = 0
        for item in node.items:
            status = self.execute(item, streams)
            is_plain = isinstance(item, Simple | Group | Redirected) or (
                isinstance(item, Pipeline) and not item.is_negated
            )
            if status and is_plain and self.options.get("e") and not self._tested:
                raise Exit(status)
        return status

    def _test(self, node: Node, streams: Streams) -> int:
        """Run a node whose failure is an answer, which `set -e` ignores."""
        self._tested += 1
        try:
            return self.execute(node, streams)
        finally:
            self._tested -= 1

    def _and_or(self, node: AndOr, streams: Streams) -> int:
        status = self._test(node.first, streams)
        for position, (operator, following) in enumerate(node.rest):
            if (operator == "&&") == (status == 0):
                is_last = position == len(node.rest) - 1
                status = (self.execute if is_last else self._test)(following, streams)
                if is_last and status and self.options.get("e") and not self._tested:
                    raise Exit(status)
        return status

    def _pipeline(self, node: Pipeline, streams: Streams) -> int:
        if len(node.commands) == 1:
            status = self._test(node.commands[0], streams)
            return int(status == 0)
        source = streams.stdin
        status = 0
        self._tested += node.is_negated
        for stage in node.commands[:-1]:
            buffer = Buffer(PIPE_MAX)
            self._isolated(stage, Streams(source, buffer, streams.stderr))
            source = Source(buffer.text())
        status = self._isolated(node.commands[-1], Streams(source, streams.stdout, streams.stderr))
        self._tested -= node.is_negated
        return int(status == 0) if node.is_negated else status

    def _background(self, node: Background, streams: Streams) -> int:
        """Run a background command at once: there is one thing at a time here."""
        self._isolated(node.body, Streams(Source(""), streams.stdout, streams.stderr))
        self.finished_jobs.append(len(self.finished_jobs) + 1)
        return 0

    def _group(self, node: Group, streams: Streams) -> int:
        if node.is_subshell:
            return self._isolated(node.body, streams)
        return self.execute(node.body, streams)

    def _redirected(self, node: Redirected, streams: Streams) -> int:
        self.line = node.line
        inner = self._opened(node.redirects, streams, is_fatal=False)
        return self.dialect.redirect_status if inner is None else self.execute(node.body, inner)

    def _opened(self, redirects: tuple[Redirect, ...], streams: Streams, *, is_fatal: bool) -> Streams | None:
        """Return the streams after redirections; None after an error that has been printed."""
        if not redirects:
            return streams
        expander = Expander(self, streams)
        try:
            return redirected(self, redirects, streams, expander)
        except Refused as problem:
            streams.stderr.write(self.located(problem.text))
            if is_fatal:
                raise Exit(self.dialect.redirect_status) from None
            return None
        except ExpansionProblem as problem:
            self._give_up(problem, streams)
            return None

    def _give_up(self, problem: ExpansionProblem, streams: Streams) -> None:
        streams.stderr.write(self.located(problem.text))
        raise Exit(problem.status)

    def _for(self, node: For, streams: Streams) -> int:
        if node.words is None:
            values = list(self.positional)
        else:
            values = self._expanded(node.words, streams)
        bodies = ((value, node.body) for value in values)
        return self._looped(bodies, node.name, streams)

    def _looped(self, turns: Iterator[tuple[str, Sequence]], name: str, streams: Streams) -> int:
        status = 0
        self.loops += 1
        try:
            for value, body in turns:
                self._budget.iterate()
                if name:
                    self.assign(name, value)
                try:
                    status = self.execute(body, streams)
                except LoopControl as control:
                    status = 0
                    if control.levels > 1:
                        raise LoopControl(control.levels - 1, is_break=control.is_break) from None
                    if control.is_break:
                        break
        finally:
            self.loops -= 1
        return status

    def _loop(self, node: Loop, streams: Streams) -> int:
        def turns() -> Iterator[tuple[str, Sequence]]:
            while (self._test(node.condition, streams) == 0) != node.is_until:
                yield "", node.body

        return self._looped(turns(), "", streams)

    def _if(self, node: If, streams: Streams) -> int:
        for condition, body in node.branches:
            if self._test(condition, streams) == 0:
                return self.execute(body, streams)
        return 0 if node.otherwise is None else self.execute(node.otherwise, streams)

    def _case(self, node: Case, streams: Streams) -> int:
        expander = Expander(self, streams)
        try:
            subject = expander.one(node.word)
            for patterns, body in node.items:
                for pattern in patterns:
                    if _pattern.compiled(expander.pattern(pattern)).match(subject):
                        return self.execute(body, streams)
        except ExpansionProblem as problem:
            self._give_up(problem, streams)
        return 0

    def _function(self, node: Function, streams: Streams) -> int:
        self.functions[node.name] = node.body
        return 0

    def _expanded(self, words: tuple[Word, ...], streams: Streams) -> list[str]:
        try:
            return Expander(self, streams).fields(words)
        except ExpansionProblem as problem:
            self._give_up(problem, streams)
            return []

    def _simple(self, node: Simple, streams: Streams) -> int:
        self._budget.step()
        self.line = node.line
        expander = Expander(self, streams)
        try:
            argv = expander.fields(node.words)
            special = bool(argv) and argv[0] in SPECIAL
            opened = self._opened(node.redirects, streams, is_fatal=special)
            if opened is None:
                return self.dialect.redirect_status
            values = [(name, expander.one(word)) for name, word in node.assignments]
            if not argv:
                for name, value in values:
                    self.assign(name, value)
                return expander.last_status or 0
            if special:
                for name, value in values:
                    self.assign(name, value)
            return self._command(argv, dict(values), opened)
        except ExpansionProblem as problem:
            self._give_up(problem, streams)
        except Refused as problem:
            streams.stderr.write(self.located(problem.text, problem.command))
            if problem.is_fatal:
                raise Exit(problem.status) from None
            return problem.status
        return 2

    def _command(self, argv: list[str], values: dict[str, str], streams: Streams) -> int:
        name = argv[0]
        function = self.functions.get(name)
        if function is not None and name not in SPECIAL:
            return self._call_function(function, argv, streams)
        builtin = SPECIAL.get(name) or UTILITIES.get(name)
        if builtin is not None and (name != "let" or self.dialect.is_ash):
            return builtin(self, argv, streams)
        environment = {**self.environment(), **values}
        program = self.process.find(name)
        if program is None:
            return self.execute_file(argv, environment, streams)
        return self.call(program, argv, environment, streams)

    def _call_function(self, body: Node, argv: list[str], streams: Streams) -> int:
        outer, self.positional = self.positional, argv[1:]
        self.locals.append({})
        try:
            return self.execute(body, streams)
        except Return as returned:
            return returned.status
        finally:
            self.positional = outer
            for name, value in self.locals.pop().items():
                if value is None:
                    self.variables.pop(name, None)
                else:
                    self.variables[name] = value

    def call(self, program: Program, argv: list[str], env: dict[str, str], streams: Streams) -> int:
        """Run a program with the shell's streams and return its exit code."""
        process = self.process.child(stdin=streams.stdin.text, env=env)
        output = program(process, argv)
        if process.stdin_was_read:
            streams.stdin.take_all()
        return self.deliver(output, argv[0], streams, in_shell=program in shell_programs())

    def deliver(self, output: Output, name: str, streams: Streams, *, in_shell: bool = False) -> int:
        """Write a program's output and return its exit code, 1 if there was no room for it.

        When both streams are one, a successful program's messages come before its (buffered) output, a
        failing one's after it.
        """
        message = output.stderr
        if message and in_shell:
            message = "".join(self.located(line) for line in message.splitlines())
        if message and (output.exit_code == 0 or streams.stdout is not streams.stderr):
            streams.stderr.write(message)
            message = ""
        if output.stdout and not streams.stdout.write(output.stdout):
            if not in_shell:
                streams.stderr.write(f"{name}: write error: No space left on device\n")
            elif self.dialect.is_ash:
                streams.stderr.write(self.located("write error: No space left on device"))
            else:
                streams.stderr.write(self.located(f"{name}: {name}: I/O error"))
            return 1
        if message:
            streams.stderr.write(message)
        return output.exit_code

    def execute_file(self, argv: list[str], env: dict[str, str], streams: Streams, command: str = "") -> int:
        """Run what is no known program: a script file, or an error that says why not."""
        outcome = _script.opened(self.process, argv)
        if isinstance(outcome, _script.Unrunnable):
            text = f"{argv[0]}: {outcome.reason}"
            streams.stderr.write(self.located(text, command))
            return outcome.status
        if outcome.program is not None:
            return self.call(outcome.program, outcome.argv, env, streams)
        process = self.process.child(stdin=streams.stdin.text, env=env)
        inner = Shell(process, name=outcome.argv[0], positional=tuple(outcome.argv[1:]), is_script=True)
        inner._budget = self._budget
        self._budget.enter()
        try:
            return inner._run_text(outcome.text, streams)
        finally:
            self._budget.leave()


_Executor = Callable[[Shell, Any, Streams], int]
_EXECUTORS: Final[dict[type, _Executor]] = {
    Simple: Shell._simple,
    Pipeline: Shell._pipeline,
    AndOr: Shell._and_or,
    Background: Shell._background,
    Sequence: Shell._sequence,
    Group: Shell._group,
    Redirected: Shell._redirected,
    For: Shell._for,
    Loop: Shell._loop,
    If: Shell._if,
    Case: Shell._case,
    Function: Shell._function,
}
