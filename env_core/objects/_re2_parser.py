"""The syntax of Go's regular expressions.

Source: https://pkg.go.dev/regexp/syntax, with the flag Perl.
"""

from __future__ import annotations

from typing import Final

from env_core.objects._re2_nodes import (
    ANY,
    CATEGORIES,
    CONTROLS,
    PERL,
    POSIX,
    Alternation,
    Assertion,
    CharClass,
    Concatenation,
    Group,
    Node,
    Repetition,
    complement,
)


class Re2Error(ValueError):
    """The text is no expression; the message is Go's."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"error parsing regexp: {problem}")


_REPEAT_MAX: Final = 1000
_DEPTH_MAX: Final = 200


def parse_regex(pattern: str, *, dot_all: bool = False) -> tuple[Node, tuple[str, ...]]:
    """Return the tree and the names of the groups ("" where there is none), group 0 being the whole.

    With `dot_all`, a dot matches line ends too from the start.

    Raises:
        Re2Error: if the expression is none.
    """
    parser = _Parser(pattern, dot_all=dot_all)
    tree = parser.alternation(0)
    if parser.position < len(pattern):
        raise Re2Error(f"unexpected ): `{pattern}`")
    return tree, tuple(parser.names)


class _Parser:
    def __init__(self, pattern: str, *, dot_all: bool) -> None:
        self.text = pattern
        self.position = 0
        self.names = [""]
        self.flags = {"i": False, "m": False, "s": dot_all, "U": False}

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def alternation(self, depth: int) -> Node:
        if depth > _DEPTH_MAX:
            raise Re2Error(f"expression nests too deeply: `{self.text}`")
        parts = [self._concatenation(depth)]
        while self._peek() == "|":
            self.position += 1
            parts.append(self._concatenation(depth))
        return parts[0] if len(parts) == 1 else Alternation(tuple(parts))

    def _concatenation(self, depth: int) -> Node:
        parts: list[Node] = []
        last_repeat = -1
        while self._peek() not in ("", "|", ")"):
            start = self.position
            repeat = self._repeat()
            if repeat is None:
                last_repeat = -1
                parts += self._atom(depth)
                continue
            operator = self.text[start : self.position]
            if last_repeat >= 0:
                raise Re2Error(
                    f"invalid nested repetition operator: `{self.text[last_repeat : self.position]}`"
                )
            if not parts:
                raise Re2Error(f"missing argument to repetition operator: `{operator}`")
            last_repeat = start
            parts[-1] = Repetition(parts[-1], *repeat)
        return Concatenation(tuple(parts))

    def _repeat(self) -> tuple[int, int | None, bool] | None:
        char = self._peek()
        if char in ("*", "+", "?") and char:
            self.position += 1
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        elif char == "{":
            counts = self._counts()
            if counts is None:
                return None
            least, most = counts
        else:
            return None
        is_lazy = self._peek() == "?"
        self.position += is_lazy
        return least, most, is_lazy != self.flags["U"]

    def _counts(self) -> tuple[int, int | None] | None:
        end = self.text.find("}", self.position)
        inner = self.text[self.position + 1 : end] if end > 0 else ""
        low, comma, high = inner.partition(",")
        if not (low.isascii() and low.isdigit()) or (high and not (high.isascii() and high.isdigit())):
            return None
        operator = self.text[self.position : end + 1]
        least = int(low)
        most = int(high) if high else None if comma else least
        if max(least, most or 0) > _REPEAT_MAX or (most is not None and least > most):
            raise Re2Error(f"invalid repeat count: `{operator}`")
        self.position = end + 1
        return least, most

    def _atom(self, depth: int) -> list[Node]:
        char = self._peek()
        if char == "(":
            return self._group(depth)
        if char == "[":
            return [self._char_class()]
        if char == "\\":
            return self._escape()
        self.position += 1
        if char == ".":
            return [ANY if self.flags["s"] else CharClass((("\n", "\n"),), is_negated=True)]
        if char in "^$":
            return [Assertion(("(?m)" if self.flags["m"] else "") + char)]
        return [self._literal(char)]

    def _literal(self, char: str) -> CharClass:
        return CharClass(((char, char),), is_folded=self.flags["i"])

    def _group(self, depth: int) -> list[Node]:
        start, flags = self.position, dict(self.flags)
        self.position += 1
        number = 0
        if self._peek() != "?":
            number = self._capture("")
        elif self.text.startswith(("?P<", "?<"), self.position):
            number = self._named_capture(start)
        elif not self._set_flags(start):
            return []
        inner = self.alternation(depth + 1)
        if self._peek() != ")":
            raise Re2Error(f"missing closing ): `{self.text}`")
        self.position += 1
        self.flags = flags
        return [Group(inner, number)]

    def _capture(self, name: str) -> int:
        self.names.append(name)
        return len(self.names) - 1

    def _named_capture(self, start: int) -> int:
        end = self.text.find(">", start)
        if end < 0:
            raise Re2Error(f"invalid named capture: `{self.text[start:]}`")
        name = self.text[self.text.index("<", start) + 1 : end]
        whole = self.text[start : end + 1]
        if not name or not all(char.isalnum() or char == "_" for char in name):
            raise Re2Error(f"invalid named capture: `{whole}`")
        if name in self.names:
            raise Re2Error(f"duplicate capture group name: `{name}`")
        self.position = end + 1
        return self._capture(name)

    def _set_flags(self, start: int) -> bool:
        """Read `?flags:` or `?flags)`; return whether a group follows."""
        self.position += 1
        value, has_some = True, False
        flags = dict(self.flags)
        while True:
            char = self._peek()
            self.position += 1
            if char and char in flags:
                flags[char], has_some = value, True
            elif char == "-" and value:
                value, has_some = False, False
            elif char and char in ":)" and (value or has_some):
                self.flags = flags
                return char == ":"
            else:
                text = self.text[start : self.position] if char else self.text[start:]
                kind = "missing closing )" if not char else "invalid or unsupported Perl syntax"
                raise Re2Error(f"{kind}: `{text if char else self.text}`")

    def _escape(self) -> list[Node]:
        start = self.position
        if self.text.startswith("\\Q", start):
            end = self.text.find("\\E", start)
            literal = self.text[start + 2 : end if end >= 0 else len(self.text)]
            self.position = end + 2 if end >= 0 else len(self.text)
            return [self._literal(char) for char in literal]
        following = self.text[start + 1 : start + 2]
        simple = {"A": "^", "z": "$", "b": r"\b", "B": r"\B"}.get(following)
        if simple is not None:
            self.position += 2
            return [Assertion(simple)]
        named = self._named_class()
        if named is not None:
            return [named]
        return [self._literal(self._escaped_char())]

    def _named_class(self) -> CharClass | None:
        r"""Return the class of \d, \pL and their like, if one stands here."""
        following = self.text[self.position + 1 : self.position + 2]
        if following and following.lower() in PERL:
            self.position += 2
            return CharClass(PERL[following.lower()], is_negated=following.isupper())
        if following not in ("p", "P"):
            return None
        start = self.position
        if self.text[start + 2 : start + 3] == "{":
            end = self.text.find("}", start)
            if end < 0:
                raise Re2Error(f"invalid character class range: `{self.text[start:]}`")
            name, self.position = self.text[start + 3 : end], end + 1
        else:
            name, self.position = self.text[start + 2 : start + 3], start + 3
        is_negated = (following == "P") != name.startswith("^")
        name = name.removeprefix("^")
        if name not in CATEGORIES:
            raise Re2Error(f"invalid character class range: `{self.text[start : self.position]}`")
        return CharClass((), ((name, is_negated),))

    def _escaped_char(self) -> str:
        start = self.position
        char = self.text[start + 1 : start + 2]
        if not char:
            raise Re2Error("trailing backslash at end of expression: ``")
        self.position += 2
        if char in CONTROLS:
            return CONTROLS[char]
        if char.isascii() and not char.isalnum():
            return char
        if char == "x":
            return self._hexadecimal(start)
        if char in "01234567":
            digits = self.text[start + 1 : start + 4]
            length = len(digits) - len(digits.lstrip("01234567"))
            if char == "0" or length > 1:
                self.position = start + 1 + length
                return chr(int(digits[:length], 8))
        raise Re2Error(f"invalid escape sequence: `{self.text[start : self.position]}`")

    def _hexadecimal(self, start: int) -> str:
        if self._peek() == "{":
            end = self.text.find("}", start)
            digits = self.text[start + 3 : end] if end > 0 else ""
            self.position = end + 1 if end > 0 else len(self.text)
        else:
            digits = self.text[start + 2 : start + 4]
            self.position = start + 4 if len(digits) == 2 else len(self.text)
            digits = digits if len(digits) == 2 else ""
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise Re2Error(f"invalid escape sequence: `{self.text[start : self.position]}`") from None

    def _char_class(self) -> CharClass:
        start = self.position
        self.position += 1
        is_negated = self._peek() == "^"
        self.position += is_negated
        ranges: list[tuple[str, str]] = []
        categories: list[tuple[str, bool]] = []
        is_first = True
        while self._peek() != "]" or is_first:
            if not self._peek():
                raise Re2Error(f"missing closing ]: `{self.text[start:]}`")
            is_first = False
            if self._posix_class(ranges):
                continue
            named = self._named_class() if self._peek() == "\\" else None
            if named is not None:
                ranges += complement(named.ranges) if named.is_negated else named.ranges
                categories += named.categories
                continue
            ranges.append(self._range(start))
        self.position += 1
        return CharClass(tuple(ranges), tuple(categories), is_negated, self.flags["i"])

    def _posix_class(self, ranges: list[tuple[str, str]]) -> bool:
        if not self.text.startswith("[:", self.position):
            return False
        end = self.text.find(":]", self.position + 2)
        if end < 0:
            return False
        name = self.text[self.position + 2 : end]
        found = POSIX.get(name.removeprefix("^"))
        if found is None:
            raise Re2Error(f"invalid character class range: `{self.text[self.position : end + 2]}`")
        ranges += complement(found) if name.startswith("^") else found
        self.position = end + 2
        return True

    def _range(self, start: int) -> tuple[str, str]:
        begin = self.position
        low = self._class_char(start)
        following = self.text[self.position : self.position + 2]
        if not following.startswith("-") or following in ("-]", "-"):
            return low, low
        self.position += 1
        high = self._class_char(start)
        if high < low:
            raise Re2Error(f"invalid character class range: `{self.text[begin : self.position]}`")
        return low, high

    def _class_char(self, start: int) -> str:
        char = self._peek()
        if not char:
            raise Re2Error(f"missing closing ]: `{self.text[start:]}`")
        if char == "\\":
            return self._escaped_char()
        self.position += 1
        return char
