"""Reads Go's regular expressions into a tree.

Source: Go regexp/syntax parse.go (grammar, error texts).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

ANY_BEGIN: Final = "A"
ANY_END: Final = "z"
LINE_BEGIN: Final = "^"
LINE_END: Final = "$"
WORD_EDGE: Final = "b"
NO_WORD_EDGE: Final = "B"
_REPEAT_MAX: Final = 1000
_DEPTH_MAX: Final = 200
_ESCAPES: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PERL: Final = {"d": "0-9", "s": "\t\n\f\r ", "w": "0-9A-Za-z_"}
_POSIX: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\x00-\x7f", "blank": "\t ", "cntrl": "\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@[-`{-~", "space": "\t\n\v\f\r ",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
Test = Callable[[str], bool]


class Re2Error(ValueError):
    """The text is no expression; the message is Go's."""

    def __init__(self, code: str, part: str) -> None:
        super().__init__(
            f"error parsing regexp: {code}: `{part}`" if part else f"error parsing regexp: {code}"
        )


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression: "sequence", "either", "repeat", "edge" or "chars"."""

    kind: str
    parts: tuple[Node, ...] = ()
    low: int = 0
    high: int | None = 0
    edge: str = ""
    test: Test | None = None

    def accepts(self, char: str) -> bool:
        """Whether a "chars" node accepts a character."""
        return self.test is not None and self.test(char)


def _spans(text: str) -> tuple[tuple[str, str], ...]:
    found, at = [], 0
    while at < len(text):
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            found.append((text[at], text[at + 2]))
            at += 3
        else:
            found.append((text[at], text[at]))
            at += 1
    return tuple(found)


def _within(spans: tuple[tuple[str, str], ...], *, negated: bool = False) -> Test:
    return lambda char: any(low <= char <= high for low, high in spans) is not negated


def _category(name: str, *, negated: bool) -> Test:
    return lambda char: unicodedata.category(char).startswith(name) is not negated


def _folded(test: Test) -> Test:
    return lambda char: test(char) or test(char.lower()) or test(char.upper())


class _Parser:
    """One expression being read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags = ""
        self.depth = 0

    def peek(self, count: int = 1) -> str:
        """Return the next characters."""
        return self.text[self.at : self.at + count]

    def either(self) -> Node:
        """Read alternatives up to a closing parenthesis or the end."""
        parts = [self._sequence()]
        while self.peek() == "|":
            self.at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Node("either", tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self.at < len(self.text) and self.peek() not in ("|", ")"):
            if self.peek() in ("*", "+", "?"):
                raise Re2Error("missing argument to repetition operator", self.peek())
            start = self.at
            atom = self._atom()
            parts.extend(self._repeated(part, start) for part in atom)
        return parts[0] if len(parts) == 1 else Node("sequence", tuple(parts))

    def _repeated(self, atom: Node, start: int) -> Node:
        while (bounds := self._bounds()) is not None:
            low, high = bounds
            if (high is not None and high < low) or max(low, high or 0) > _REPEAT_MAX:
                raise Re2Error("invalid repeat count", self.text[self.last : self.at])
            if self.peek() == "?":
                self.at += 1
            if self._bounds_follow():
                raise Re2Error("invalid nested repetition operator", self.text[self.last : self.at + 1])
            atom = Node("repeat", (atom,), low, high)
        return atom

    def _bounds_follow(self) -> bool:
        return self.peek() in ("*", "+", "?") and self.at < len(self.text)

    last = 0

    def _bounds(self) -> tuple[int, int | None] | None:
        char = self.peek()
        self.last = self.at
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(char) if char else None
        if simple is not None:
            self.at += 1
            return simple
        if char != "{":
            return None
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : max(end, self.at + 1)].partition(",")
        if end < 0 or not low.isdecimal() or (high and not high.isdecimal()):
            return None
        self.at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def _atom(self) -> list[Node]:
        char = self.peek()
        if char == "(":
            return self._group()
        if char == "[":
            return [self._chars(self._set())]
        if char == "\\":
            return self._escape()
        self.at += 1
        if char == ".":
            if "s" in self.flags:
                return [Node("chars", test=lambda _char: True)]
            return [Node("chars", test=lambda each: each != "\n")]
        if char == "^":
            return [Node("edge", edge=LINE_BEGIN if "m" in self.flags else ANY_BEGIN)]
        if char == "$":
            return [Node("edge", edge=LINE_END if "m" in self.flags else ANY_END)]
        return [self._literal(char)]

    def _literal(self, char: str) -> Node:
        return self._chars(lambda each: each == char)

    def _chars(self, test: Test) -> Node:
        return Node("chars", test=_folded(test) if "i" in self.flags else test)

    def _group(self) -> list[Node]:
        start, flags = self.at, self.flags
        self.at += 1
        if self.peek() == "?":
            if self.peek(3) == "?P<" or self.peek(2) == "?<":
                end = self.text.find(">", self.at)
                name = self.text[self.text.index("<", self.at) + 1 : end] if end >= 0 else ""
                if not name or not name.replace("_", "a").isalnum():
                    part = self.text[start : end + 1] if end >= 0 else self.text[start:]
                    raise Re2Error("invalid named capture", part)
                self.at = end + 1
            elif not self._read_flags(start):
                return []
        self.depth += 1
        if self.depth > _DEPTH_MAX:
            raise Re2Error("expression nests too deeply", self.text)
        inside = self.either()
        self.depth -= 1
        if self.peek() != ")":
            raise Re2Error("missing closing )", self.text)
        self.at += 1
        self.flags = flags
        return [inside]

    def _read_flags(self, start: int) -> bool:
        """Read "?flags:" or "?flags)"; return whether a group begins."""
        self.at += 1
        is_set = True
        while self.at < len(self.text):
            char = self.peek()
            self.at += 1
            if char in ("i", "m", "s", "U"):
                self.flags = self.flags.replace(char, "") + (char if is_set else "")
            elif char == "-" and is_set:
                is_set = False
            elif char in (":", ")"):
                return char == ":"
            else:
                break
        raise Re2Error("invalid or unsupported Perl syntax", self.text[start : self.at])

    def _escape(self) -> list[Node]:
        char = self.text[self.at + 1 : self.at + 2]
        edges = {"A": ANY_BEGIN, "z": ANY_END, "b": WORD_EDGE, "B": NO_WORD_EDGE}
        if char and char in edges:
            self.at += 2
            return [Node("edge", edge=edges[char])]
        if char == "Q":
            end = self.text.find("\\E", self.at)
            quoted = self.text[self.at + 2 : end if end >= 0 else None]
            self.at = end + 2 if end >= 0 else len(self.text)
            return [self._literal(each) for each in quoted]
        test = self._class_escape()
        return [self._chars(test)] if test is not None else [self._literal(self._escaped_char())]

    def _class_escape(self) -> Test | None:
        char = self.text[self.at + 1 : self.at + 2]
        if char and char.lower() in _PERL:
            self.at += 2
            return _within(_spans(_PERL[char.lower()]), negated=char.isupper())
        if char in ("p", "P"):
            start = self.at
            self.at += 2
            name = self.peek()
            self.at += 1
            if name == "{":
                end = self.text.find("}", self.at)
                name, self.at = self.text[self.at : end], end + 1
            negated = (char == "P") is not name.startswith("^")
            name = name.removeprefix("^")
            if len(name) not in (1, 2) or name[0] not in "CLMNPSZ":
                raise Re2Error("invalid character class range", self.text[start : self.at])
            return _category(name, negated=negated)
        return None

    def _escaped_char(self) -> str:
        start = self.at
        char = self.text[self.at + 1 : self.at + 2]
        if not char:
            raise Re2Error("trailing backslash at end of expression", "")
        self.at += 2
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char == "x":
            if self.peek() == "{":
                end = self.text.find("}", self.at)
                digits, self.at = self.text[self.at + 1 : max(end, self.at)], end + 1
            else:
                digits = self.peek(2)
                self.at += 2
            try:
                return chr(int(digits, 16))
            except (ValueError, OverflowError):
                raise Re2Error("invalid escape sequence", self.text[start : self.at]) from None
        if char in "01234567" and (char == "0" or self.peek() in tuple("01234567")):
            while self.at - start < 4 and self.peek() in tuple("01234567"):
                self.at += 1
            return chr(int(self.text[start + 1 : self.at], 8))
        if char.isascii() and not char.isalnum():
            return char
        raise Re2Error("invalid escape sequence", self.text[start : self.at])

    def _set(self) -> Test:
        start = self.at
        self.at += 1
        negated = self.peek() == "^"
        self.at += negated
        tests: list[Test] = []
        spans: list[tuple[str, str]] = []
        is_first = True
        while is_first or self.peek() != "]":
            if self.at >= len(self.text):
                raise Re2Error("missing closing ]", self.text[start:])
            is_first = False
            test = self._set_class()
            if test is not None:
                tests.append(test)
                continue
            span_start = self.at
            low = high = self._set_char()
            if self.peek() == "-" and self.peek(2) != "-]" and self.at + 1 < len(self.text):
                self.at += 1
                high = self._set_char()
                if high < low:
                    raise Re2Error("invalid character class range", self.text[span_start : self.at])
            spans.append((low, high))
        self.at += 1
        found = (_within(tuple(spans)), *tests)
        return lambda char: any(test(char) for test in found) is not negated

    def _set_char(self) -> str:
        if self.peek() == "\\":
            return self._escaped_char()
        char = self.peek()
        self.at += 1
        return char

    def _set_class(self) -> Test | None:
        if self.peek(2) == "[:":
            end = self.text.find(":]", self.at + 2)
            if end < 0:
                return None
            name = self.text[self.at + 2 : end]
            negated, plain = name.startswith("^"), name.removeprefix("^")
            if plain not in _POSIX:
                raise Re2Error("invalid character class range", self.text[self.at : end + 2])
            self.at = end + 2
            return _within(_spans(_POSIX[plain]), negated=negated)
        return self._class_escape() if self.peek() == "\\" else None


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Raises:
        Re2Error: with Go's text.
    """
    parser = _Parser(text)
    node = parser.either()
    if parser.at < len(text):
        raise Re2Error("unexpected )", text)
    return node
