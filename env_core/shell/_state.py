"""What a shell keeps from line to line: variables, functions, options, positional parameters."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.shell._bash import BASH, BASH_VARIABLES
from env_core.shell._control import Refused
from env_core.shell._dialect import ASH, DASH, Dialect
from env_core.shell._registry import builtin_programs, shell_programs
from env_core.shell.budget import Budget
from env_core.shell.context import Process, Program
from env_core.shell.syntax import Node, SyntaxProblem


class State:
    """The state of one shell, and how it names itself in errors."""

    def __init__(
        self,
        process: Process,
        programs: Mapping[str, Program] | None = None,
        *,
        name: str = "sh",
        positional: tuple[str, ...] = (),
        is_script: bool = False,
        is_string: bool = True,
        is_bash: bool | None = None,
    ) -> None:
        """Take over `process`: its programs become the built-in ones and `programs`.

        `is_script` says that the text is a file called `name`, `is_string` that it is the argument of `-c`,
        `is_bash` that the shell is bash (that of the process, if not said).
        """
        if is_bash is not None:
            process.is_bash = is_bash
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
        self.dialect: Dialect = BASH if process.is_bash else ASH if process.is_busybox else DASH
        self.arrays: dict[str, dict[str, str]] = {}
        """Arrays of bash, by name; each by its indexes as texts, in order."""
        self.status = 0
        self.line = 1
        self.locals: list[dict[str, str | None]] = []
        self.finished_jobs: list[int] = []
        self.exit_trap = ""
        """What `trap … EXIT` has asked for."""
        self.budget = Budget(work=process.work)
        self.loops = 0
        self._tested = 0
        self.owner = object()
        """What tells the jobs of this shell, or of a subshell of it, from others'."""
        self.is_job = False
        """Whether it runs in the background."""
        self.can_wait = False
        """Whether a client may get out of the way while it waits: nothing but the job's script comes after it."""

    def isolate(self, process: Process) -> None:
        """Make a copy of a shell the shell of a background command: what it sets is its own."""
        self.process = process
        self.variables, self.exported, self.readonly = (
            dict(self.variables),
            set(self.exported),
            set(self.readonly),
        )
        self.functions, self.options, self.arrays = (
            dict(self.functions),
            dict(self.options),
            dict(self.arrays),
        )
        self.positional, self.locals, self.finished_jobs = list(self.positional), [], []
        self.loops, self._tested, self.exit_trap = 0, 0, ""
        self.owner, self.is_job = object(), True

    def located(self, text: str, command: str = "") -> str:
        """Return an error line with the shell's name in front."""
        if self.dialect.is_bash:
            return self.dialect.located(self.sourced or self.name, self.line, text, command)
        command = command or self.sourced
        exact = self.is_script or self.sourced != "" or not self.is_string
        return self.dialect.located(self.name, self.line, text, command, in_file=self.is_script, exact=exact)

    def syntax_error(self, problem: SyntaxProblem, text: str, command: str) -> str:
        """Return the lines for a syntax error in `text`, which `command` (eval) may have been given."""
        is_argument = self.is_string and not command and not self.is_script
        name = self.sourced or (f"{self.name}: -c" if is_argument else self.name)
        lines = self.dialect.syntax_lines(problem, name, text, command)
        return lines or self.located(self.dialect.syntax(problem), command)

    def environment(self) -> dict[str, str]:
        """Return the exported variables that have a value."""
        return {name: self.variables[name] for name in sorted(self.exported) if name in self.variables}

    def parameter(self, name: str) -> str | None:
        """Return the value of a variable or special parameter, None if it is unset."""
        value = self.variables.get(name)
        if value is not None:
            return value
        if self.arrays:
            bare, _, index = name.partition("[")
            rows = self.arrays.get(bare)
            if rows is not None:
                return rows.get(index.removesuffix("]") or "0")
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
        if self.dialect.is_bash and name in BASH_VARIABLES:
            return BASH_VARIABLES[name](self.process)
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
