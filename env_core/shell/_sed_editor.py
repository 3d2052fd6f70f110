"""Runs a parsed sed script over lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from env_core.objects.regex import Expression, RegexProblem
from env_core.shell._inputs import read_input
from env_core.shell._sed_parser import Address, Command
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError

_STEPS_MAX = 200_000
_STEP_WORK = 3
_SPACE_MAX = 1024 * 1024


@dataclass(slots=True)
class Editor:
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
    """What is left; a step counts as some units of work."""

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
            self.process.work.done += _STEP_WORK
            if self._steps < 0 or self.process.work.is_spent:
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
            found = expression.search(text, start, self.process.work)
            if found is None:
                break
            count += 1
            self.process.work.done += 1
            if not count & 1023 and self.process.work.is_spent:
                raise RegexProblem("stopped: the script runs too long")
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
        return self._expression(address.expression).search(self._space, 0, self.process.work) is not None


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
