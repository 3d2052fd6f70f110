"""How a shell words its errors: dash (Debian's sh), BusyBox ash; bash has a module of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.shell._arithmetic import ArithmeticProblem
from env_core.shell._control import Refused
from env_core.shell._script import Unrunnable
from env_core.shell.filesystem import NO_SUCH_FILE
from env_core.shell.syntax import SyntaxProblem


@dataclass(frozen=True, slots=True)
class Dialect:
    """Texts and exit codes in which the two shells differ.

    Source: tests/golden/programs/shell (ids ending in .dash and .ash).
    """

    is_ash: bool
    redirect_status: int
    is_bash: bool = False

    def located(
        self, name: str, line: int, text: str, command: str = "", *, in_file: bool = False, exact: bool = True
    ) -> str:
        """Return one error line.

        `command` is the built-in that failed, or the file that `.` reads; `in_file` a script file. Without
        `exact` (for `-c`) ash counts lines from 0.
        """
        if not self.is_ash:
            return f"{name}: {line}: {command + ': ' if command else ''}{text}\n"
        if command:
            return f"{name}: {command}: line {line if exact else line - 1}: {text}\n"
        return f"{name}: line {line}: {text}\n" if in_file else f"{name}: {text}\n"

    def syntax(self, problem: SyntaxProblem) -> str:
        """Return the text for a syntax error."""
        if not self.is_ash:
            return f"Syntax error: {problem.text}"
        if problem.found:
            expected = f" (expecting {problem.expected})" if problem.expected else ""
            return f"syntax error: unexpected {problem.found}{expected}"
        return f"syntax error: {problem.text[:1].lower()}{problem.text[1:]}"

    def cannot_open(self, name: str, reason: str) -> str:
        """Return the text for a file that `<` cannot open."""
        if self.is_ash:
            return f"can't open {name}: {'no such file' if reason == NO_SUCH_FILE else reason}"
        return f"cannot open {name}: {'No such file' if reason == NO_SUCH_FILE else reason}"

    def cannot_create(self, name: str, reason: str) -> str:
        """Return the text for a file that `>` cannot create."""
        if self.is_ash:
            return f"can't create {name}: {'nonexistent directory' if reason == NO_SUCH_FILE else reason}"
        return f"cannot create {name}: {'Directory nonexistent' if reason == NO_SUCH_FILE else reason}"

    def cannot_change_directory(self, name: str, reason: str) -> str:
        """Return the text of `cd`."""
        return f"can't cd to {name}: {reason}" if self.is_ash else f"can't cd to {name}"

    def arithmetic(self, problem: ArithmeticProblem) -> str:
        """Return the text for a bad arithmetic expression."""
        if not self.is_ash:
            return str(problem)
        return "divide by zero" if "division by zero" in str(problem) else "arithmetic syntax error"

    def refused(self, problem: Refused) -> Refused:
        """Return a built-in's failure as this shell has it."""
        return problem

    def bad_name(self, name: str, given: str) -> str:
        """Return the text for a name that is none; `given` is the whole argument."""
        del given
        return f"{name}: bad variable name"

    def unset(self, name: str) -> str:
        """Return the text for a parameter that is not set under `set -u`."""
        return f"{name}: parameter not set"

    def bad_substitution(self, raw: str) -> str:
        """Return the text for an expansion that is none."""
        del raw
        return "bad substitution" if self.is_ash else "Bad substitution"

    def expansion_status(self, status: int, *, is_unset: bool, is_string: bool) -> int:
        """Return the status with which an expansion that fails ends the shell."""
        del is_unset, is_string
        return status

    def syntax_lines(self, problem: SyntaxProblem, name: str, source: str, command: str) -> str | None:
        """Return a syntax error's lines where they are not one `located` line."""
        del problem, name, source, command
        return None

    def unrunnable(self, name: str, outcome: Unrunnable) -> str:
        """Return the text for a command that cannot be run."""
        return f"{name}: {outcome.reason}"

    def write_error(self, name: str) -> str:
        """Return the text for a built-in whose output has no room."""
        return "write error: No space left on device" if self.is_ash else f"{name}: {name}: I/O error"


DASH: Final = Dialect(is_ash=False, redirect_status=2)
ASH: Final = Dialect(is_ash=True, redirect_status=1)
