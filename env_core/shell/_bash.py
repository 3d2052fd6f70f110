"""How bash words its errors, and what its own variables hold.

Source: tests/golden/programs/shell (ids ending in .bash); bash(1), "PARAMETERS".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from env_core.shell._arithmetic import ArithmeticProblem
from env_core.shell._control import Refused
from env_core.shell._dialect import Dialect
from env_core.shell._script import Unrunnable
from env_core.shell.context import Process
from env_core.shell.syntax import SyntaxProblem

BASH_VARIABLES: Final[dict[str, Callable[[Process], str]]] = {
    "BASH": lambda process: "/bin/bash",
    "BASH_VERSION": lambda process: "5.2.15(1)-release",
    "EUID": lambda process: "0" if process.user == "root" else "1000",
    "HOSTNAME": lambda process: process.hostname,
    "SECONDS": lambda process: "0",
    "UID": lambda process: "0" if process.user == "root" else "1000",
}
"""Variables that are always set, from the process."""

_NUMERIC_STATUSES: Final = {"exit": 2, "return": 2, "break": 128, "continue": 128}
_REFUSALS: Final[tuple[tuple[str, str], ...]] = (
    (r"Illegal number: (.*)", r"\1: numeric argument required"),
    (r"(.*): is read only", r"\1: readonly variable"),
    (r"not in a function", "can only be used in a function"),
    (r"No current job", "no job control"),
    (r"error setting limit .*", "open files: cannot modify limit: Operation not permitted"),
    (r"Illegal option -o (.*)", r"\1: invalid option name"),
    (r"Illegal option (-.)", r"\1: invalid option"),
    (r"bad trap: (.*)", r"\1: invalid signal specification"),
)
"""What dash's built-ins say, as bash's do."""


@dataclass(frozen=True, slots=True)
class Bash(Dialect):
    """bash 5.2."""

    def located(
        self, name: str, line: int, text: str, command: str = "", *, in_file: bool = False, exact: bool = True
    ) -> str:
        """Return one error line."""
        del in_file, exact
        return f"{name}: line {line}: {command + ': ' if command else ''}{text}\n"

    def cannot_open(self, name: str, reason: str) -> str:
        """Return the text for a file that `<` cannot open."""
        return f"{name}: {reason}"

    def cannot_create(self, name: str, reason: str) -> str:
        """Return the text for a file that `>` cannot create."""
        return f"{name}: {reason}"

    def cannot_change_directory(self, name: str, reason: str) -> str:
        """Return the text of `cd`."""
        return f"{name}: {reason}"

    def arithmetic(self, problem: ArithmeticProblem) -> str:
        """Return the text for a bad arithmetic expression."""
        texts = {
            "division by zero": "division by 0",
            "expecting primary": "syntax error: operand expected",
            "expecting EOF": "syntax error in expression",
            "expecting ')'": "missing `)'",
            "expecting ':'": "`:' expected for conditional expression",
        }
        reason = texts.get(problem.reason)
        if reason is None:
            return str(problem)
        return f'{problem.expression.strip()}: {reason} (error token is "{problem.rest.rstrip()}")'

    def refused(self, problem: Refused) -> Refused:
        """Return a built-in's failure: most of them only have the status 1, and the shell goes on."""
        text = problem.text
        for pattern, worded in _REFUSALS:
            found = re.fullmatch(pattern, text)
            if found is not None:
                text = found.expand(worded)
                break
        if text.endswith("numeric argument required"):
            status = _NUMERIC_STATUSES.get(problem.command, 1)
            return Refused(text, status, is_fatal=problem.command == "exit", command=problem.command)
        is_assignment = text.endswith("readonly variable") and not problem.command
        status = 1 if problem.status == 2 and problem.command != "set" else problem.status
        return Refused(text, status, is_fatal=is_assignment, command=problem.command)

    def bad_name(self, name: str, given: str) -> str:
        """Return the text for a name that is none."""
        del name
        return f"`{given}': not a valid identifier"

    def unset(self, name: str) -> str:
        """Return the text for a parameter that is not set under `set -u`."""
        return f"{name}: unbound variable"

    def bad_substitution(self, raw: str) -> str:
        """Return the text for an expansion that is none."""
        return f"{raw}: bad substitution"

    def expansion_status(self, status: int, *, is_unset: bool, is_string: bool) -> int:
        """Return the status with which an expansion that fails ends the shell."""
        del status
        return 127 if is_unset and is_string else 1

    def syntax_lines(self, problem: SyntaxProblem, name: str, source: str, command: str) -> str:
        """Return a syntax error's one or two lines; `name` already says where the text comes from."""
        if command:
            name = f"{name}: {command}"
        lines = source.split("\n")
        if problem.quote:
            return (
                f"{name}: line {problem.line}: unexpected EOF while looking for matching `{problem.quote}'\n"
            )
        if not problem.near:
            last = len(lines) + (0 if source.endswith("\n") else 1)
            return f"{name}: line {last}: syntax error: unexpected end of file\n"
        shown = lines[problem.line - 1] if 0 < problem.line <= len(lines) else ""
        return (
            f"{name}: line {problem.line}: syntax error near unexpected token `{problem.near}'\n"
            f"{name}: line {problem.line}: `{shown}'\n"
        )

    def unrunnable(self, name: str, outcome: Unrunnable) -> str:
        """Return the text for a command that cannot be run."""
        if outcome.is_directory:
            return f"{name}: Is a directory"
        if outcome.has_bad_interpreter:
            return f"{name}: cannot execute: required file not found"
        if outcome.reason == "not found":
            return f"{name}: No such file or directory" if "/" in name else f"{name}: command not found"
        if outcome.reason == "Exec format error":
            return f"{name}: cannot execute binary file: Exec format error"
        return f"{name}: {outcome.reason}"

    def write_error(self, name: str) -> str:
        """Return the text for a built-in whose output has no room."""
        return f"{name}: write error: No space left on device"


BASH: Final = Bash(is_ash=False, redirect_status=1, is_bash=True)
