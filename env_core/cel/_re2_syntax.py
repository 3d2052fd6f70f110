r"""Reads regular expressions in RE2's syntax; complains as Go's regexp/syntax does.

Source: Go's regexp/syntax (parse.go), whose texts cel-go shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from env_core.cel._re2_chars import (
    CATEGORIES,
    CONTROLS,
    PERL,
    POSIX,
    Test,
    any_of,
    category,
    folded,
    is_any,
    is_not_newline,
    one_of,
    within,
)

_REPEAT_MAX: Final = 1000
_DEPTH_MAX: Final = 100


class RegexProblem(Exception):
    """The expression is malformed; the text is Go's."""

    def __init__(self, code: str, part: str = "") -> None:
        super().__init__(f"error parsing regexp: {code}: `{part}`")


@dataclass(frozen=True, slots=True)
class Chars:
    """One character that passes a test."""

    test: Test


@dataclass(frozen=True, slots=True)
class Place:
    r"""A place between characters: "^" and "$" of a line, "A" and "z" of the text, "b" and "B" at words."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other."""

    parts: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, the first preferred."""

    options: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part `low` to `high` times (-1: any number), as often or as seldom as possible."""

    part: Regex
    low: int
    high: int
    is_greedy: bool


Regex = Chars | Place | Sequence | Choice | Repeat
EMPTY: Final = Sequence(())


@dataclass(frozen=True, slots=True)
class _Flags:
    fold: bool = False
    multiline: bool = False
    dot_all: bool = False
    ungreedy: bool = False


def parse_re2(pattern: str) -> Regex:
    """Return the structure of an expression.

    Raises:
        RegexProblem: it is malformed.
    """
    reader = _Reader(pattern)
    regex = reader.alternatives(_Flags())
    if reader.position < len(pattern):
        raise RegexProblem("unexpected )", pattern)
    return regex


class _Reader:
    """One reading of one pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._depth = 0
        self._names: set[str] = set()
        self._flags = _Flags()

    def alternatives(self, flags: _Flags) -> Regex:
        """Read up to the end or an unmatched closing parenthesis."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise RegexProblem("expression nests too deeply", self.text)
        outer, self._flags = self._flags, flags
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        self._flags = outer
        self._depth -= 1
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _take(self, text: str) -> bool:
        if self.text.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _sequence(self) -> Regex:
        parts: list[Regex] = []
        last_repeat = ""
        while self.position < len(self.text) and self._peek() not in "|)":
            start = self.position
            repeat = self._repetition()
            if repeat is not None:
                low, high = repeat
                operator = self.text[start : self.position]
                is_lazy = self._take("?")
                operator_shown = self.text[start : self.position]
                if last_repeat:
                    raise RegexProblem("invalid nested repetition operator", last_repeat + operator_shown)
                if not parts:
                    raise RegexProblem("missing argument to repetition operator", operator)
                if max(low, high) > _REPEAT_MAX or (high != -1 and high < low):
                    raise RegexProblem("invalid repeat count", operator)
                parts[-1] = Repeat(parts[-1], low, high, is_lazy == self._flags.ungreedy)
                last_repeat = operator_shown
                continue
            last_repeat = ""
            parts += self._item()
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repetition(self) -> tuple[int, int] | None:
        """Read a repetition; braces that are none are characters."""
        for operator, bounds in (("*", (0, -1)), ("+", (1, -1)), ("?", (0, 1))):
            if self._take(operator):
                return bounds
        if self._peek() != "{":
            return None
        end = self.text.find("}", self.position)
        low, comma, high = self.text[self.position + 1 : end].partition(",") if end > 0 else ("", "", "")
        if not _is_count(low) or (comma and high and not _is_count(high)):
            return None
        self.position = end + 1
        first = min(int(low), _REPEAT_MAX + 1)
        if not comma:
            return first, first
        return first, min(int(high), _REPEAT_MAX + 1) if high else -1

    def _item(self) -> list[Regex]:
        char = self._peek()
        if char == "(":
            return self._group()
        if char == "[":
            return [self._class()]
        if char == "\\":
            return self._escape()
        self.position += 1
        if char == ".":
            return [Chars(is_any if self._flags.dot_all else is_not_newline)]
        if char == "^":
            return [Place("^" if self._flags.multiline else "A")]
        if char == "$":
            return [Place("$" if self._flags.multiline else "z")]
        return [self._literal(char)]

    def _literal(self, char: str) -> Regex:
        return Chars(one_of(frozenset(folded(char)) if self._flags.fold else frozenset({char})))

    def _group(self) -> list[Regex]:
        self.position += 1
        if not self._take("?"):
            return [self._closed(self._flags)]
        if self._take("P<") or (self._peek() == "<" and self._take("<")):
            self._name()
            return [self._closed(self._flags)]
        return self._flag_group()

    def _closed(self, flags: _Flags) -> Regex:
        regex = self.alternatives(flags)
        if not self._take(")"):
            raise RegexProblem("missing closing )", self.text)
        return regex

    def _name(self) -> None:
        start = self.text.rindex("(", 0, self.position)
        end = self.text.find(">", self.position)
        if end < 0:
            raise RegexProblem("invalid named capture", self.text[start:])
        name = self.text[self.position : end]
        if not name or not all(char == "_" or (char.isascii() and char.isalnum()) for char in name):
            raise RegexProblem("invalid named capture", self.text[start : end + 1])
        if name in self._names:
            raise RegexProblem("duplicate capture group name", name)
        self._names.add(name)
        self.position = end + 1

    def _flag_group(self) -> list[Regex]:
        start = self.position - 2
        known = {"i": "fold", "m": "multiline", "s": "dot_all", "U": "ungreedy"}
        values = {name: getattr(self._flags, name) for name in known.values()}
        is_set, seen = True, False
        while self.position < len(self.text):
            char = self.text[self.position]
            self.position += 1
            if char in known:
                values[known[char]] = is_set
                seen = True
            elif char == "-" and is_set:
                is_set, seen = False, False
            elif char in ":)" and (is_set or seen):
                flags = _Flags(**values)
                if char == ":":
                    return [self._closed(flags)]
                self._flags = flags
                return []
            else:
                break
        else:
            raise RegexProblem("missing closing )", self.text)
        raise RegexProblem("invalid or unsupported Perl syntax", self.text[start : self.position])

    def _escape(self) -> list[Regex]:
        start = self.position
        letter = self.text[start + 1 : start + 2]
        if letter in ("A", "z", "b", "B"):
            self.position += 2
            return [Place(letter)]
        if letter == "Q":
            end = self.text.find("\\E", start + 2)
            quoted = self.text[start + 2 : end] if end >= 0 else self.text[start + 2 :]
            self.position = end + 2 if end >= 0 else len(self.text)
            return [self._literal(char) for char in quoted]
        if letter == "C":
            raise RegexProblem("invalid escape sequence", "\\C")
        test = self._class_escape()
        if test is not None:
            return [Chars(test)]
        return [self._literal(self._character())]

    def _class_escape(self) -> Test | None:
        r"""Read \d and its like, if one comes."""
        letter = self.text[self.position + 1 : self.position + 2]
        if letter.lower() in PERL and letter:
            self.position += 2
            return within(PERL[letter.lower()], is_negated=letter.isupper())
        if letter not in ("p", "P"):
            return None
        start = self.position
        self.position += 2
        name = self._peek()
        self.position += 1
        if name == "{":
            end = self.text.find("}", self.position)
            if end < 0:
                raise RegexProblem("invalid character class range", self.text[start:])
            name = self.text[self.position : end]
            self.position = end + 1
        is_negated = (letter == "P") != name.startswith("^")
        name = name.removeprefix("^")
        if name not in CATEGORIES and name != "Any":
            raise RegexProblem("invalid character class range", self.text[start : self.position])
        return category(name, is_negated=is_negated)

    def _character(self) -> str:
        """Read an escape that stands for one character."""
        start = self.position
        self.position += 2
        if self.position > len(self.text):
            raise RegexProblem("trailing backslash at end of expression", "")
        letter = self.text[self.position - 1]
        if letter in CONTROLS:
            return CONTROLS[letter]
        if letter == "x":
            return self._hexadecimal(start)
        if letter in "01234567":
            end = self.position
            if letter == "0" or (self.text[end : end + 1] in "01234567" and self.text[end : end + 1]):
                while end < len(self.text) and end - start < 4 and self.text[end] in "01234567":
                    end += 1
                self.position = end
                return chr(int(self.text[start + 1 : end], 8))
        elif ord(letter) < 0x80 and not letter.isalnum():
            return letter
        raise RegexProblem("invalid escape sequence", self.text[start : self.position])

    def _hexadecimal(self, start: int) -> str:
        if self._take("{"):
            end = self.text.find("}", self.position)
            digits = self.text[self.position : end] if end >= 0 else ""
            self.position = end + 1 if end >= 0 else len(self.text)
        else:
            digits = self.text[self.position : self.position + 2]
            self.position += len(digits)
            if len(digits) < 2:
                digits = ""
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise RegexProblem("invalid escape sequence", self.text[start : self.position]) from None

    def _class(self) -> Regex:
        start = self.position
        self.position += 1
        is_negated = self._take("^")
        tests: list[Test] = []
        is_first = True
        while is_first or self._peek() != "]":
            if self.position >= len(self.text):
                raise RegexProblem("missing closing ]", self.text[start:])
            is_first = False
            tests.append(self._class_part(start))
        self.position += 1
        return Chars(any_of(tuple(tests), is_negated=is_negated, fold=self._flags.fold))

    def _class_part(self, start: int) -> Test:
        if self.text.startswith("[:", self.position):
            end = self.text.find(":]", self.position)
            if end >= 0:
                name = self.text[self.position + 2 : end]
                is_negated = name.startswith("^")
                if name.removeprefix("^") not in POSIX:
                    part = self.text[self.position : end + 2]
                    raise RegexProblem("invalid character class range", part)
                self.position = end + 2
                return within(POSIX[name.removeprefix("^")], is_negated=is_negated)
        if self._peek() == "\\":
            test = self._class_escape()
            if test is not None:
                return test
        begin = self.position
        low = self._class_character(start)
        if self._peek() == "-" and self.text[self.position + 1 : self.position + 2] not in ("]", ""):
            self.position += 1
            high = self._class_character(start)
            if high < low:
                raise RegexProblem("invalid character class range", self.text[begin : self.position])
            return within(low + high, is_negated=False)
        return one_of(frozenset({low}))

    def _class_character(self, start: int) -> str:
        if self.position >= len(self.text):
            raise RegexProblem("missing closing ]", self.text[start:])
        if self._peek() == "\\":
            return self._character()
        self.position += 1
        return self.text[self.position - 1]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9
