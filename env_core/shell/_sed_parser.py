"""The language of sed: from a script to commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from env_core.objects.regex import BASIC, EXTENDED, Expression, RegexProblem, compile_expression


class SedProblem(Exception):
    """The script is malformed; `text` is GNU sed's, `position` counts characters from 1."""

    def __init__(self, text: str, position: int) -> None:
        """Record what is wrong and where."""
        super().__init__(text)
        self.text = text
        self.position = position


@dataclass(frozen=True, slots=True)
class Address:
    """A line number (`step` for first~step), `$`, or an expression (None = the last one used)."""

    kind: str
    number: int = 0
    step: int = 0
    expression: Expression | None = None


@dataclass(slots=True)
class Command:
    """One command with its addresses and arguments."""

    name: str
    first: Address | None = None
    second: Address | None = None
    is_negated: bool = False
    text: str = ""
    expression: Expression | None = None
    replacement: tuple[str | int, ...] = ()
    flags: str = ""
    occurrence: int = 1
    target: int = -1
    table: dict[int, str] = field(default_factory=dict)


_ENDS: Final = "\n;}"


class SedParser:
    """Reads a script; `commands` come out flat, blocks and branches as jumps by index."""

    def __init__(self, script: str, *, is_extended: bool, is_busybox: bool = False) -> None:
        """Read `script` in basic or extended expression syntax."""
        self._is_busybox = is_busybox
        self._text = script
        self._position = 0
        self._syntax = EXTENDED if is_extended else BASIC
        self.commands: list[Command] = []
        self._blocks: list[int] = []
        self._labels: dict[str, int] = {}

    def parse(self) -> list[Command]:
        """Return the commands.

        Raises:
            SedProblem: if the script is malformed.
        """
        while True:
            self._skip(" \t\n;")
            if self._position >= len(self._text):
                break
            if self._text[self._position] == "#":
                self._line()
                continue
            self._command()
        if self._blocks:
            raise SedProblem("unmatched `{'", 0)
        for command in self.commands:
            if command.name in "bt":
                if command.text and command.text not in self._labels:
                    raise SedProblem(f"can't find label for jump to `{command.text}'", -1)
                command.target = self._labels.get(command.text, len(self.commands))
        return self.commands

    def _fail(self, text: str) -> SedProblem:
        return SedProblem(text, self._position)

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _skip(self, characters: str) -> None:
        while self._peek() and self._peek() in characters:
            self._position += 1

    def _line(self) -> str:
        end = self._text.find("\n", self._position)
        end = len(self._text) if end == -1 else end
        line = self._text[self._position : end]
        self._position = min(end + 1, len(self._text))
        return line

    def _number(self) -> int:
        start = self._position
        while self._peek().isdecimal():
            self._position += 1
        return int(self._text[start : self._position][:12])

    def _address(self) -> Address | None:
        char = self._peek()
        if char.isdecimal() and char:
            number = self._number()
            if self._peek() == "~":
                self._position += 1
                return Address("step", number, self._number() if self._peek().isdecimal() else 0)
            return Address("line", number)
        if char == "$":
            self._position += 1
            return Address("last")
        if char == "/" or char == "\\":
            self._position += 1
            delimiter = "/"
            if char == "\\":
                delimiter = self._peek()
                self._position += 1
            source = self._delimited(delimiter, "unterminated address regex")
            ignores_case = False
            while self._peek() and self._peek() in "IM":
                ignores_case = ignores_case or self._peek() == "I"
                self._position += 1
            return Address("regex", expression=self._expression(source, ignores_case=ignores_case))
        return None

    def _delimited(self, delimiter: str, problem: str) -> str:
        """Take text up to an unescaped delimiter (which a bracket expression may hold)."""
        out: list[str] = []
        in_bracket = False
        while True:
            if self._position >= len(self._text):
                raise self._fail(problem)
            char = self._text[self._position]
            self._position += 1
            if char == "\n" and "address" in problem:
                raise self._fail(problem)
            if in_bracket:
                in_bracket = char != "]" or (out[-1:] == ["["] or out[-2:] == ["[", "^"])
                out.append(char)
                continue
            if char == delimiter:
                return "".join(out)
            if char == "\\" and self._position < len(self._text):
                following = self._text[self._position]
                self._position += 1
                out.append(
                    following
                    if following == delimiter and delimiter not in ".*[]^$+?(){}|"
                    else "\\" + following
                )
                continue
            in_bracket = char == "["
            out.append(char)

    def _expression(self, source: str, *, ignores_case: bool) -> Expression | None:
        if not source:
            return None
        try:
            return compile_expression(source, self._syntax, ignore_case=ignores_case, escapes=True)
        except RegexProblem as problem:
            raise self._fail(problem.text) from None

    def _command(self) -> None:
        first = self._address()
        second: Address | None = None
        self._skip(" \t")
        if first is not None and self._peek() == ",":
            self._position += 1
            self._skip(" \t")
            second = self._second_address()
        self._skip(" \t")
        is_negated = False
        while self._peek() == "!":
            is_negated = True
            self._position += 1
            self._skip(" \t")
        name = self._peek()
        if not name or (name in ";\n" and first is not None):
            self._position += bool(name)
            raise self._fail("missing command")
        self._position += 1
        if (
            first is not None
            and first.kind == "line"
            and first.number == 0
            and (second is None or second.kind != "regex")
        ):
            raise self._fail("invalid usage of line address 0")
        command = Command(name, first, second, is_negated)
        self._arguments(command)

    def _second_address(self) -> Address:
        if self._peek() in ("+", "~") and self._peek():
            kind = self._peek()
            self._position += 1
            if not self._peek().isdecimal():
                raise self._fail("expected newer version of sed")
            return Address(kind, self._number())
        second = self._address()
        if second is None:
            raise self._fail("unexpected `,'")
        return second

    def _arguments(self, command: Command) -> None:
        name = command.name
        if name == "}":
            if not self._blocks:
                raise self._fail("unexpected `}'")
            if command.first is not None:
                raise self._fail("} doesn't want any addresses")
            self.commands[self._blocks.pop()].target = len(self.commands)
            self._end()
            return
        if name == ":":
            label = self._until(" \t\n;")
            if not label:
                raise self._fail('":" lacks a label')
            self._labels[label] = len(self.commands)
            return
        self.commands.append(command)
        if name == "{":
            self._blocks.append(len(self.commands) - 1)
            return
        if name == "s":
            self._substitute(command)
        elif name == "y":
            self._transliterate(command)
        elif name in "aic":
            self._appended(command)
            return
        elif name in "bt":
            self._skip(" \t")
            command.text = self._until("\n;}").strip()
        elif name in "rwW":
            self._skip(" \t")
            command.text = self._line()
            return
        elif name in "qQlL":
            self._skip(" \t")
            if self._peek().isdecimal():
                command.occurrence = self._number()
            else:
                command.occurrence = 0
        elif name not in "dDgGhHnNpPx=zF":
            raise self._fail(f"unknown command: `{name}'")
        self._end()

    def _until(self, stops: str) -> str:
        start = self._position
        while self._peek() and self._peek() not in stops:
            self._position += 1
        return self._text[start : self._position]

    def _end(self) -> None:
        self._skip(" \t")
        char = self._peek()
        if char == "#":
            return
        if char and char not in _ENDS:
            self._position += 1
            raise self._fail("extra characters after command")
        if char and char != "}":
            self._position += 1

    def _appended(self, command: Command) -> None:
        """Take the text of a, i or c: after a backslash and a line end, or on the same line."""
        self._skip(" \t")
        if self._peek() == "\\":
            self._position += 1
            self._skip(" \t")
            if self._peek() == "\n":
                self._position += 1
        elif not self._peek():
            raise self._fail("expected \\ after `a', `c' or `i'")
        out: list[str] = []
        while self._position < len(self._text):
            char = self._text[self._position]
            self._position += 1
            if char == "\\" and self._peek():
                out.append(self._peek())
                self._position += 1
            elif char == "\n":
                break
            else:
                out.append(char)
        command.text = "".join(out) + "\n"

    def _transliterate(self, command: Command) -> None:
        delimiter = self._peek()
        self._position += 1
        problem = "unterminated `y' command"
        first = _plain(self._delimited_plain(delimiter, problem))
        second = _plain(self._delimited_plain(delimiter, problem))
        if len(first) != len(second) and not self._is_busybox:
            raise self._fail("strings for `y' command are different lengths")
        command.table = {ord(char): replacement for char, replacement in zip(first, second)}

    def _delimited_plain(self, delimiter: str, problem: str) -> str:
        out: list[str] = []
        while True:
            if self._position >= len(self._text) or not delimiter:
                raise self._fail(problem)
            char = self._text[self._position]
            self._position += 1
            if char == delimiter:
                return "".join(out)
            if char == "\\" and self._peek():
                following = self._peek()
                self._position += 1
                out.append(following if following == delimiter else "\\" + following)
            else:
                out.append(char)

    def _substitute(self, command: Command) -> None:
        delimiter = self._peek()
        if not delimiter or delimiter in "\n\\":
            raise self._fail("unterminated `s' command")
        self._position += 1
        source = self._delimited(delimiter, "unterminated `s' command")
        replacement = self._delimited_plain(delimiter, "unterminated `s' command")
        while self._peek() and self._peek() not in _ENDS + " \t#":
            char = self._peek()
            if char.isdecimal():
                command.occurrence = self._number()
                if command.occurrence == 0:
                    raise self._fail("number option to `s' command may not be zero")
                command.flags += "#"
                continue
            self._position += 1
            if char == "w":
                self._skip(" \t")
                command.text = self._line()
                break
            if char not in "gpiIeMm":
                raise self._fail("unknown option to `s'")
            if char in command.flags and char in "gp":
                raise self._fail(f"multiple `{char}' options to `s' command")
            command.flags += char
        ignores_case = "i" in command.flags or "I" in command.flags
        command.expression = self._expression(source, ignores_case=ignores_case)
        command.replacement = _replacement(replacement)
        groups = command.expression.regex.groups if command.expression is not None else 9
        for part in command.replacement:
            if isinstance(part, int) and part > groups:
                raise self._fail(f"invalid reference \\{part} on `s' command's RHS")


def _plain(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")


def _replacement(text: str) -> tuple[str | int, ...]:
    """Return a replacement's parts: text, numbers of groups, and case changes (a backslash and a letter)."""
    parts: list[str | int] = []
    plain: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char == "\\" and index < len(text):
            following = text[index]
            index += 1
            if following.isdecimal() or following in "ULEul":
                if plain:
                    parts.append("".join(plain))
                    plain.clear()
                parts.append(int(following) if following.isdecimal() else "\\" + following)
            else:
                plain.append({"n": "\n", "t": "\t", "r": "\r"}.get(following, following))
        elif char == "&":
            if plain:
                parts.append("".join(plain))
                plain.clear()
            parts.append(0)
        else:
            plain.append(char)
    if plain:
        parts.append("".join(plain))
    return tuple(parts)
