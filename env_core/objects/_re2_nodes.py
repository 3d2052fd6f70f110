"""What a regular expression of Go is made of, and its named classes of characters.

Source: https://pkg.go.dev/regexp/syntax
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CharClass:
    """A set of characters: ranges, classes by Unicode category, all of it perhaps negated."""

    ranges: tuple[tuple[str, str], ...] = ()
    categories: tuple[tuple[str, bool], ...] = ()
    is_negated: bool = False
    is_folded: bool = False

    def holds(self, char: str) -> bool:
        """Whether the character is in the set."""
        found = self._has(char) or (
            self.is_folded
            and (self._has(char.lower()) or self._has(char.upper()) or self._has(char.swapcase()))
        )
        return found != self.is_negated

    def _has(self, char: str) -> bool:
        if any(low <= char <= high for low, high in self.ranges):
            return True
        return any(
            unicodedata.category(char[:1]).startswith(name) != is_negated
            for name, is_negated in self.categories
        )


@dataclass(frozen=True, slots=True)
class Assertion:
    r"""A condition on a position: ^, $, (?m)^, (?m)$, \b or \B."""

    kind: str


@dataclass(frozen=True, slots=True)
class Group:
    """A group; number 0 does not capture."""

    inner: Node
    number: int


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One or another."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """Several times; `most` is None for any number."""

    inner: Node
    least: int
    most: int | None
    is_lazy: bool


Node = CharClass | Assertion | Group | Concatenation | Alternation | Repetition

ANY: Final = CharClass((("\0", "\U0010ffff"),))
PERL: Final = {
    "d": (("0", "9"),),
    "s": (("\t", "\n"), ("\f", "\r"), (" ", " ")),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
}
POSIX: Final = {
    "alnum": (("0", "9"), ("A", "Z"), ("a", "z")),
    "alpha": (("A", "Z"), ("a", "z")),
    "ascii": (("\0", "\x7f"),),
    "blank": (("\t", "\t"), (" ", " ")),
    "cntrl": (("\0", "\x1f"), ("\x7f", "\x7f")),
    "digit": (("0", "9"),),
    "graph": (("!", "~"),),
    "lower": (("a", "z"),),
    "print": ((" ", "~"),),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": (("\t", "\r"), (" ", " ")),
    "upper": (("A", "Z"),),
    "word": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
    "xdigit": (("0", "9"), ("A", "F"), ("a", "f")),
}
CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
CATEGORIES: Final = frozenset(
    [
        "C",
        "Cc",
        "Cf",
        "Co",
        "Cs",
        "L",
        "Ll",
        "Lm",
        "Lo",
        "Lt",
        "Lu",
        "M",
        "Mc",
        "Me",
        "Mn",
        "N",
        "Nd",
        "Nl",
        "No",
        "P",
        "Pc",
        "Pd",
        "Pe",
        "Pf",
        "Pi",
        "Po",
        "Ps",
        "S",
        "Sc",
        "Sk",
        "Sm",
        "So",
        "Z",
        "Zl",
        "Zp",
        "Zs",
    ]
)


def complement(ranges: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return all characters but those in the ranges."""
    out, low = [], 0
    for first, last in sorted(ranges):
        if ord(first) > low:
            out.append((chr(low), chr(ord(first) - 1)))
        low = ord(last) + 1
    if low <= 0x10FFFF:
        out.append((chr(low), "\U0010ffff"))
    return tuple(out)
