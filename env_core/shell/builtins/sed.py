"""sed: edits a stream by a script."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from env_core.shell._inputs import read_input, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell._regex import Expression, RegexProblem
from env_core.shell._sed_parser import Address, Command, SedParser, SedProblem
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {
    "quiet": "n", "silent": "n", "expression=": "e", "file=": "f", "regexp-extended": "E", "in-place=?": "i",
    "separate": "s", "null-data": "z", "unbuffered": "u", "posix": "p",
}  # fmt: skip
_STEPS_MAX = 500_000
_SPACE_MAX = 1024 * 1024


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "ne:f:Eri::suz", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    operands = list(options.operands)
    scripts = [value for letter, value in options.given if letter == "e"]
    for name in options.values("f"):
        try:
            scripts.append(read_input(process, name).removesuffix("\n"))
        except ShellFileError as error:
            return Output("", f"sed: couldn't open file {name}: {error.reason}\n", 1)
    if not scripts:
        if not operands:
            usage = "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n"
            return Output("", "" if process.is_busybox else usage, 1)
        scripts = [operands.pop(0)]
    try:
        commands = _parsed("\n".join(scripts), options.has("Er"))
    except SedProblem as problem:
        return Output("", _complaint(problem, scripts, process), 1)
    editor = _Editor(process, commands, is_quiet=options.has("n"))
    try:
        if options.has("i"):
            return _in_place(process, editor, operands, options.value("i"))
        return _stream(process, editor, operands)
    except RegexProblem as problem:
        return Output("", f"sed: {problem.text}\n", 1)


@lru_cache(maxsize=256)
def _parsed(script: str, is_extended: bool) -> tuple[Command, ...]:
    return tuple(SedParser(script, is_extended=is_extended).parse())


def _complaint(problem: SedProblem, scripts: list[str], process: Process) -> str:
    if process.is_busybox:
        return f"sed: {_busybox_text(problem, scripts[0])}\n"
    if problem.position < 0:
        return f"sed: {problem.text}\n"
    number, position = 1, problem.position
    while number < len(scripts) and position > len(scripts[number - 1]) + 1:
        position -= len(scripts[number - 1]) + 1
        number += 1
    return f"sed: -e expression #{number}, char {position}: {problem.text}\n"


def _busybox_text(problem: SedProblem, script: str) -> str:
    if problem.text.startswith("unterminated"):
        found = re.search(r"[sy](.)", script)
        return f"unmatched '{found.group(1) if found else '/'}'"
    if problem.text == "unknown option to `s'":
        return "bad option in substitution expression"
    if problem.text.startswith("unknown command"):
        return f"unsupported command {problem.text[-2]}"
    if problem.text.startswith(("Unmatched", "Invalid", "Trailing")):
        found = re.search(r"s(.)(.*?)\1|/(.*?)/", script)
        source = (found.group(2) or found.group(3)) if found else script
        return f"bad regex '{source}': {problem.text}"
    return problem.text


def _stream(process: Process, editor: _Editor, names: list[str]) -> Output:
    problems: list[str] = []
    lines: list[str] = []
    ends_line = True
    for name in names or ["-"]:
        try:
            text = read_input(process, name)
        except ShellFileError as error:
            problems.append(_cannot_read(process, name, error.reason))
            continue
        if text:
            lines += split_lines(text)
            ends_line = text.endswith("\n")
    out = editor.edit(lines, ends_line=ends_line)
    status = editor.exit_code or (1 if process.is_busybox else 2) * bool(problems)
    return Output(out, "".join(problems), status)


def _cannot_read(process: Process, name: str, reason: str) -> str:
    if process.is_busybox:
        return f"sed: {name}: {reason}\n"
    if reason == "Is a directory":
        return f"sed: read error on {name}: {reason}\n"
    return f"sed: can't read {name}: {reason}\n"


def _in_place(process: Process, editor: _Editor, names: list[str], suffix: str) -> Output:
    if not names:
        return Output("", "sed: no input files\n", 1)
    problems: list[str] = []
    status = 0
    for name in names:
        path = process.path(name)
        try:
            text = process.fs.read(path)
        except ShellFileError as error:
            if error.reason == "Is a directory":
                problems.append(f"sed: couldn't edit {name}: not a regular file\n")
                status = 4
            else:
                problems.append(_cannot_read(process, name, error.reason))
                status = 2
            continue
        edited = editor.edit(split_lines(text), ends_line=not text or text.endswith("\n"))
        try:
            if not process.fs.may(path.rpartition("/")[0] or "/", 2):
                raise ShellFileError(path, "Permission denied")
            if suffix:
                process.fs.write(path + suffix, text, process.now_ms())
            process.fs.write(path, edited, process.now_ms())
        except ShellFileError as error:
            directory = name.rpartition("/")[0] or "."
            temporary = f"{directory}/sedXXXXXX"
            problems.append(f"sed: couldn't open temporary file {temporary}: {error.reason}\n")
            return Output("", "".join(problems), 4)
        if editor.exit_code:
            return Output("", "".join(problems), editor.exit_code)
    return Output("", "".join(problems), status)


@dataclass(slots=True)
class _Editor:
    """Runs a script over lines."""

    process: Process
    commands: tuple[Command, ...]
    is_quiet: bool = False
    exit_code: int = 0
    _lines: list[str] = field(default_factory=list)
    _number: int = 0
    _space: str = ""
    _hold: str = ""
    _out: list[str] = field(default_factory=list)
    _queued: list[str] = field(default_factory=list)
    _active: dict[int, int] = field(default_factory=dict)
    _last: Expression | None = None
    _replaced: bool = False
    _quits: bool = False
    _steps: int = _STEPS_MAX

    def edit(self, lines: list[str], *, ends_line: bool) -> str:
        """Return what the script makes of `lines`; without `ends_line` the last output has no line end."""
        self._lines = lines
        self._number = 0
        self._out = []
        self._active = {}
        self._quits = False
        self.exit_code = 0
        restarts = False
        while not self._quits and (restarts or self._number < len(lines)):
            if not restarts:
                self._space = lines[self._number]
                self._number += 1
            self._replaced = False
            restarts = self._cycle()
        text = "".join(self._out)
        if not ends_line and self._number >= len(lines):
            text = text.removesuffix("\n")
        return text

    def _is_last(self) -> bool:
        return self._number >= len(self._lines)

    def _cycle(self) -> bool:
        """Run the script once; True asks for another run without a new line (the D command)."""
        index = 0
        while index < len(self.commands):
            self._steps -= 1
            if self._steps < 0:
                raise RegexProblem("stopped: the script runs too long")
            command = self.commands[index]
            if not self._applies(index, command):
                index = command.target if command.name == "{" else index + 1
                continue
            name = command.name
            if name == "{":
                index += 1
            elif name in "bt":
                jumps = name == "b" or self._replaced
                if name == "t":
                    self._replaced = False
                index = command.target if jumps else index + 1
            elif name == "d":
                self._flush()
                return False
            elif name == "D":
                if "\n" not in self._space:
                    self._flush()
                    return False
                self._space = self._space.partition("\n")[2]
                self._flush()
                return True
            elif name == "q":
                self.exit_code = command.occurrence & 0xFF
                self._quits = True
                break
            elif name == "Q":
                self.exit_code = command.occurrence & 0xFF
                self._quits = True
                return False
            elif name in "nN":
                if self._is_last():
                    self._quits = True
                    if name == "n" and self.is_quiet:
                        return False
                    break
                self._next(appends=name == "N")
                index += 1
            elif name == "c":
                in_range = command.second is not None and index in self._active and not command.is_negated
                if not in_range:
                    self._out.append(command.text)
                self._flush()
                return False
            else:
                self._do(command)
                index += 1
        if not self.is_quiet:
            self._print(self._space)
        self._flush()
        return False

    def _next(self, *, appends: bool) -> None:
        if not appends and not self.is_quiet:
            self._print(self._space)
        self._flush()
        line = self._lines[self._number]
        self._number += 1
        self._space = f"{self._space}\n{line}" if appends else line
        self._check(self._space)

    def _check(self, text: str) -> None:
        if len(text) > _SPACE_MAX:
            raise RegexProblem("pattern space too large")

    def _print(self, text: str) -> None:
        self._out.append(text + "\n")

    def _flush(self) -> None:
        self._out += self._queued
        self._queued.clear()

    def _do(self, command: Command) -> None:
        name = command.name
        if name == "s":
            self._substitute(command)
        elif name == "p":
            self._print(self._space)
        elif name == "P":
            self._print(self._space.partition("\n")[0])
        elif name == "y":
            self._space = self._space.translate(command.table)
        elif name == "a":
            self._queued.append(command.text)
        elif name == "i":
            self._out.append(command.text)
        elif name == "=":
            self._print(str(self._number))
        elif name == "h":
            self._hold = self._space
        elif name == "H":
            self._hold += "\n" + self._space
            self._check(self._hold)
        elif name == "g":
            self._space = self._hold
        elif name == "G":
            self._space += "\n" + self._hold
            self._check(self._space)
        elif name == "x":
            self._space, self._hold = self._hold, self._space
        elif name == "z":
            self._space = ""
        elif name == "l":
            self._print(self._space.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") + "$")
        elif name == "r":
            try:
                self._queued.append(read_input(self.process, command.text))
            except ShellFileError:
                return
        elif name == "w":
            self._write(command.text)

    def _write(self, name: str) -> None:
        if name == "/dev/stdout":
            self._print(self._space)
            return
        try:
            self.process.fs.append(self.process.path(name), self._space + "\n", self.process.now_ms())
        except ShellFileError as error:
            raise RegexProblem(f"couldn't open file {name}: {error.reason}") from None

    def _expression(self, expression: Expression | None) -> Expression:
        if expression is None:
            if self._last is None:
                raise RegexProblem("no previous regular expression")
            return self._last
        self._last = expression
        return expression

    def _substitute(self, command: Command) -> None:
        expression = self._expression(command.expression)
        text = self._space
        out: list[str] = []
        position = count = 0
        changed = False
        start = 0
        while start <= len(text):
            found = expression.search(text, start)
            if found is None:
                break
            count += 1
            if count >= command.occurrence and not (
                found.end() == found.start() == position and changed and position
            ):
                out.append(text[position : found.start()])
                out.append(_filled(command.replacement, found))
                position = found.end()
                changed = True
                if "g" not in command.flags:
                    break
            start = found.end() + (found.end() == found.start())
        if not changed:
            return
        self._space = "".join(out) + text[position:]
        self._check(self._space)
        self._replaced = True
        if "p" in command.flags:
            self._print(self._space)
        if command.text:
            self._write(command.text)

    def _applies(self, index: int, command: Command) -> bool:
        if command.first is None:
            return not command.is_negated
        if command.second is None:
            return self._matches(command.first) != command.is_negated
        return self._in_range(index, command) != command.is_negated

    def _in_range(self, index: int, command: Command) -> bool:
        first, second = command.first, command.second
        assert first is not None
        assert second is not None
        end = self._active.get(index)
        if end is None:
            starts = self._matches(first) or (
                first.kind == "line" and first.number == 0 and self._number == 1
            )
            if not starts:
                return False
            if first.kind == "line" and first.number == 0 and self._matches(second):
                return True
            last = self._range_end(second)
            if last == 0 or last > self._number:
                self._active[index] = last
            return True
        if end == 0:
            if self._matches(second):
                del self._active[index]
            return True
        if self._number >= end:
            del self._active[index]
        return self._number <= end

    def _range_end(self, second: Address) -> int:
        """Return the line on which a range ends, 0 when only a later line can tell."""
        if second.kind == "line":
            return max(second.number, self._number)
        if second.kind == "+":
            return self._number + second.number
        if second.kind == "~":
            step = second.number or 1
            return -(-self._number // step) * step
        if second.kind == "last":
            return len(self._lines)
        return 0

    def _matches(self, address: Address) -> bool:
        if address.kind == "line":
            return self._number == address.number
        if address.kind == "last":
            return self._is_last()
        if address.kind == "step":
            if address.step <= 0:
                return self._number == address.number
            return self._number >= address.number and (self._number - address.number) % address.step == 0
        return self._expression(address.expression).search(self._space) is not None


def _filled(replacement: tuple[str | int, ...], found: re.Match[str]) -> str:
    out: list[str] = []
    case = once = ""
    for part in replacement:
        if isinstance(part, str) and part[:1] == "\\" and len(part) == 2 and part[1] in "ULEul":
            if part[1] in "ul":
                once = part[1]
            else:
                case = "" if part[1] == "E" else part[1]
            continue
        text = part if isinstance(part, str) else found.group(part) or ""
        if case:
            text = text.upper() if case == "U" else text.lower()
        if once and text:
            text = (text[0].upper() if once == "u" else text[0].lower()) + text[1:]
            once = ""
        out.append(text)
    return "".join(out)


BUILTIN = Builtin(name="sed", run=_run, source="GNU sed 4.9 (Debian 12); tests/golden/programs/shell 163-173")
