"""The shell: runs lines of POSIX shell against an in-memory file system, with no subprocess."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from env_core.shell import _script
from env_core.shell._bash_builtins import BASH_COMMANDS, refuse_exec
from env_core.shell._bash_grammar import bash_parser
from env_core.shell._bash_run import bash_assignments, calculation, conditional, counting
from env_core.shell._commands import parse, simple_commands
from env_core.shell._control import Exit, LoopControl, Refused, Return
from env_core.shell._expansion import Expander, ExpansionProblem
from env_core.shell._flow import case, for_each, if_else, while_loop
from env_core.shell._grammar import parser
from env_core.shell._jobs import Jobs
from env_core.shell._pipes import collected, pipeline
from env_core.shell._redirection import redirected
from env_core.shell._runner import Runner
from env_core.shell._special import SPECIAL
from env_core.shell._streams import PIPE_MAX, Buffer, Source, Streams
from env_core.shell._utilities import UTILITIES
from env_core.shell.budget import Budget, LimitReached
from env_core.shell.context import Interrupted
from env_core.shell.syntax import (
    AndOr,
    Array,
    Background,
    Calculation,
    Case,
    Conditional,
    Counting,
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
def _parsed(text: str, *, is_bash: bool = False) -> tuple[tuple[Sequence, ...], SyntaxProblem | None]:
    """Return the complete commands of a text up to its first syntax error, and that error."""
    reader = bash_parser(text) if is_bash else parser(text)
    nodes: list[Sequence] = []
    try:
        while (node := reader.next_command()) is not None:
            nodes.append(node)
    except SyntaxProblem as problem:
        return tuple(nodes), problem
    return tuple(nodes), None


class Shell(Runner):
    """One shell: variables, functions and working directory live from line to line.

    `programs` are the external programs (kubectl, curl, …); they hide built-in ones of the same name. Commands
    run one after the other: a pipeline's stages hand their whole output on.
    """

    def run(self, line: str, stdin: str | None = None) -> Output:
        """Run a line (or a script) and return all it printed; never raises for what the line says.

        Raises:
            Interrupted: when the process has a deadline and virtual time reaches it; carries the output so far.
        """
        is_outermost = self.process.budget is None
        if is_outermost:
            self.process.budget = Budget(work=self.process.work)
            self.process.jobs = Jobs(self.process.now_ms)
        self.budget = self.process.budget or Budget(work=self.process.work)
        limits = () if is_outermost else (PIPE_MAX,)
        stdout, stderr = Buffer(*limits), Buffer(*limits)
        streams = Streams(Source(self.process.stdin if stdin is None else stdin), stdout, stderr)
        try:
            self.status = self._run_text(line, streams)
            if is_outermost and self.process.jobs is not None:
                self.process.jobs.finish(self.process)
        except LimitReached as limit:
            if not is_outermost:
                raise
            self.status = LIMIT_STATUS
            stderr.parts.append(self.located(limit.text))
        except Interrupted:
            raise Interrupted(Output(stdout.text(), stderr.text(), 124)) from None
        finally:
            if is_outermost:
                if self.process.jobs is not None:
                    self.process.jobs.close()
                self.process.budget = self.process.jobs = None
        self.process.env = self.environment()
        return Output(stdout.text(), stderr.text(), self.status)

    def _run_text(self, text: str, streams: Streams) -> int:
        """Run `text` as the whole of a shell's input, and then what it left for the end."""
        status = self._run_to_end(text, streams)
        trap, self.exit_trap = self.exit_trap, ""
        if trap:
            self.status = status
            self._run_to_end(trap, streams)
        return status

    def _run_to_end(self, text: str, streams: Streams) -> int:
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
        self.budget.parse(text)
        nodes, problem = _parsed(text, is_bash=self.dialect.is_bash)
        status = 0
        for node in nodes:
            try:
                status = self.execute(node, streams)
            except Refused as given:
                refused = self.dialect.refused(given)
                streams.stderr.write(self.located(refused.text, refused.command))
                raise Exit(refused.status) from None
        if problem is not None:
            self.line = problem.line
            streams.stderr.write(self.syntax_error(problem, text, command))
            raise Exit(2)
        return status

    def substituted(self, body: Sequence, streams: Streams) -> tuple[str, int]:
        """Return what a command substitution prints, and its status."""
        buffer = Buffer(PIPE_MAX)
        status = collected(self, body, Streams(streams.stdin, buffer, streams.stderr))
        return buffer.text(), status

    def isolated(self, node: Node, streams: Streams) -> int:
        """Run `node` as a subshell does: nothing that it sets outlives it."""
        kept = (
            dict(self.variables), set(self.exported), set(self.readonly), dict(self.functions),
            dict(self.options), list(self.positional), self.process.cwd, self.loops, self.status,
            dict(self.arrays), self.owner,
        )  # fmt: skip
        self.loops = 0
        self.owner = object()
        try:
            return self.execute(node, streams)
        except Exit as ended:
            return ended.status
        except (Return, LoopControl):
            return self.status
        except Refused as given:
            problem = self.dialect.refused(given)
            streams.stderr.write(self.located(problem.text, problem.command))
            return problem.status
        finally:
            (
                self.variables, self.exported, self.readonly, self.functions,
                self.options, self.positional, self.process.cwd, self.loops, self.status, self.arrays,
                self.owner,
            ) = kept  # fmt: skip

    def execute(self, node: Node, streams: Streams) -> int:
        """Run one node and return its status, which also becomes `$?`."""
        self.budget.enter()
        try:
            status = _EXECUTORS[type(node)](self, node, streams)
        finally:
            self.budget.leave()
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

    def test(self, node: Node, streams: Streams) -> int:
        """Run a node whose failure is an answer, which `set -e` ignores."""
        self._tested += 1
        try:
            return self.execute(node, streams)
        finally:
            self._tested -= 1

    def _and_or(self, node: AndOr, streams: Streams) -> int:
        status = self.test(node.first, streams)
        for position, (operator, following) in enumerate(node.rest):
            if (operator == "&&") == (status == 0):
                is_last = position == len(node.rest) - 1
                status = (self.execute if is_last else self.test)(following, streams)
                if is_last and status and self.options.get("e") and not self._tested:
                    raise Exit(status)
        return status

    def _background(self, node: Background, streams: Streams) -> int:
        """Begin a background command; in a container's script, which others may look at in its midst, it runs at once."""
        inner = Streams(Source(""), streams.stdout, streams.stderr)
        if self.process.jobs is None:
            self.isolated(node.body, inner)
        else:
            self.process.jobs.start(self, node.body, inner)
        self.finished_jobs.append(len(self.finished_jobs) + 1)
        return 0

    def _group(self, node: Group, streams: Streams) -> int:
        if node.is_subshell:
            return self.isolated(node.body, streams)
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
            self.give_up(problem, streams)
            return None

    def give_up(self, problem: ExpansionProblem, streams: Streams) -> None:
        """End the shell after an expansion that failed.

        Raises:
            Exit: always.
        """
        streams.stderr.write(self.located(problem.text))
        is_string = self.is_string and not self.is_script
        raise Exit(
            self.dialect.expansion_status(problem.status, is_unset=problem.is_unset, is_string=is_string)
        )

    def _function(self, node: Function, streams: Streams) -> int:
        self.functions[node.name] = node.body
        return 0

    def expanded(self, words: tuple[Word, ...], streams: Streams) -> list[str]:
        """Return the fields that words expand to."""
        try:
            return Expander(self, streams).fields(words)
        except ExpansionProblem as problem:
            self.give_up(problem, streams)
            return []

    def _simple(self, node: Simple, streams: Streams) -> int:
        self.budget.step()
        self.line = node.line
        expander = Expander(self, streams)
        try:
            argv = expander.fields(node.words)
            special = bool(argv) and argv[0] in SPECIAL
            opened = self._opened(node.redirects, streams, is_fatal=special)
            if opened is None:
                return self.dialect.redirect_status
            if self.dialect.is_bash and node.assignments:
                status = bash_assignments(self, node, argv, expander)
                if status is not None:
                    return status
            values = [
                (name, expander.one(word)) for name, word in node.assignments if not isinstance(word, Array)
            ]
            if not argv:
                for name, value in values:
                    self.assign(name, value)
                return expander.last_status or 0
            if special:
                for name, value in values:
                    self.assign(name, value)
            return self._command(argv, dict(values), opened)
        except ExpansionProblem as problem:
            self.give_up(problem, streams)
        except Refused as given:
            refused = self.dialect.refused(given)
            streams.stderr.write(self.located(refused.text, refused.command))
            if refused.is_fatal:
                raise Exit(refused.status) from None
            return refused.status
        return 2

    def _command(self, argv: list[str], values: dict[str, str], streams: Streams) -> int:
        name = argv[0]
        function = self.functions.get(name)
        if function is not None and name not in SPECIAL:
            return self._call_function(function, argv, streams)
        builtin = SPECIAL.get(name) or UTILITIES.get(name)
        if builtin is None and self.dialect.is_bash:
            builtin = BASH_COMMANDS.get(name)
        if builtin is not None and (name != "let" or self.dialect.is_ash or self.dialect.is_bash):
            return builtin(self, argv, streams)
        environment = {**self.environment(), **values}
        program = self.process.find(name)
        if program is None:
            return self.execute_file(argv, environment, streams)
        return self.call(program, argv, environment, streams)

    def _call_function(self, body: Node, argv: list[str], streams: Streams) -> int:
        outer, self.positional = self.positional, argv[1:]
        self.can_wait = False
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

    def execute_file(self, argv: list[str], env: dict[str, str], streams: Streams, command: str = "") -> int:
        """Run what is no known program: a script file, or an error that says why not."""
        outcome = _script.opened(self.process, argv)
        if isinstance(outcome, _script.Unrunnable):
            if self.dialect.is_bash and command:
                return refuse_exec(self, argv[0], outcome, streams)
            text = self.dialect.unrunnable(argv[0], outcome)
            streams.stderr.write(self.located(text, command))
            return outcome.status
        if outcome.program is not None:
            return self.call(outcome.program, outcome.argv, env, streams)
        process = self.process.child(stdin=streams.stdin.text, env=env)
        inner = Shell(
            process,
            name=outcome.argv[0],
            positional=tuple(outcome.argv[1:]),
            is_script=True,
            is_bash=outcome.is_bash,
        )
        inner.budget = self.budget
        self.budget.enter()
        try:
            return inner._run_text(outcome.text, streams)
        finally:
            self.budget.leave()


_Executor = Callable[[Shell, Any, Streams], int]
_EXECUTORS: Final[dict[type, _Executor]] = {
    Simple: Shell._simple,
    Pipeline: pipeline,
    AndOr: Shell._and_or,
    Background: Shell._background,
    Sequence: Shell._sequence,
    Group: Shell._group,
    Redirected: Shell._redirected,
    For: for_each,
    Loop: while_loop,
    If: if_else,
    Case: case,
    Function: Shell._function,
    Conditional: conditional,
    Calculation: calculation,
    Counting: counting,
}
