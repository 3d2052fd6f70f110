r"""Sets of characters in regular expressions, as tests of one character.

Unicode classes are known by general category (`\pL`, `\p{Lu}`), not by script.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

POSIX: Final = {
    "alnum": "09AZaz", "alpha": "AZaz", "ascii": "\x00\x7f", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f",
    "digit": "09", "graph": "!~", "lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\r  ",
    "upper": "AZ", "word": "09AZaz__", "xdigit": "09AFaf",
}  # fmt: skip
PERL: Final = {"d": "09", "s": "\t\n\f\r  ", "w": "09AZaz__"}
CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
CATEGORIES: Final = frozenset(
    {
        "C", "Cc", "Cf", "Co", "Cs", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
        "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
    }
)  # fmt: skip

Test = Callable[[str], bool]


def folded(char: str) -> set[str]:
    """Return a character in upper and lower case."""
    return {each for each in (char, char.lower(), char.upper(), char.swapcase()) if len(each) == 1}


def is_any(_char: str) -> bool:
    """Whether it is a character."""
    return True


def is_not_newline(char: str) -> bool:
    """Whether it is no newline."""
    return char != "\n"


def one_of(chars: frozenset[str]) -> Test:
    """Return the test for some characters."""
    return chars.__contains__


def within(ranges: str, *, is_negated: bool) -> Test:
    """Return the test for ranges, given as pairs of characters."""
    pairs = [(ranges[index], ranges[index + 1]) for index in range(0, len(ranges), 2)]
    return lambda char: any(low <= char <= high for low, high in pairs) != is_negated


def category(name: str, *, is_negated: bool) -> Test:
    """Return the test for a Unicode category."""
    if name == "Any":
        return lambda _char: not is_negated
    return lambda char: unicodedata.category(char).startswith(name) != is_negated


def any_of(tests: tuple[Test, ...], *, is_negated: bool, fold: bool) -> Test:
    """Return the test that holds if one of several does."""

    def test(char: str) -> bool:
        chars = folded(char) if fold else (char,)
        return any(each(one) for each in tests for one in chars) != is_negated

    return test
