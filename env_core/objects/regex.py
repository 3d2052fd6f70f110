"""POSIX regular expressions on Python's engine, with a bound on the work they can cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from env_core.objects._regex_parser import PosixParser, RegexProblem

__all__ = ["BASIC", "EXTENDED", "PERL", "Expression", "RegexProblem", "compile_expression"]

BASIC: Final = "basic"
EXTENDED: Final = "extended"
PERL: Final = "perl"

_LINE_MAX: Final = (8 * 1024 * 1024, 40_000, 4_000, 1_000, 300, 120, 60)
"""Longest text to search, by how many repetitions such as `.*` can take what follows them: each tries every length."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression and how long a text it may be asked about."""

    regex: re.Pattern[str]
    text_max: int

    def search(self, text: str, position: int = 0) -> re.Match[str] | None:
        """Return the first match at or after `position`.

        Raises:
            RegexProblem: if the text is so long that the search could take too much time.
        """
        if len(text) > self.text_max:
            raise RegexProblem(f"expression too complex for a line of {len(text)} characters")
        return self.regex.search(text, position)

    def match(self, text: str, position: int = 0) -> re.Match[str] | None:
        """Return the match that starts at `position`; raises as `search` does."""
        if len(text) > self.text_max:
            raise RegexProblem(f"expression too complex for a line of {len(text)} characters")
        return self.regex.match(text, position)


@lru_cache(maxsize=1024)
def compile_expression(
    pattern: str,
    syntax: str = EXTENDED,
    *,
    ignore_case: bool = False,
    wrap: str = "%s",
    escapes: bool = False,
) -> Expression:
    r"""Compile a POSIX (or, with `PERL`, Perl-like) expression.

    `wrap` is Python source with one `%s` around the whole; `escapes` reads `\n`, `\t` and their like as the
    characters they stand for. Alternatives are tried from left to right, where POSIX takes the longest.

    Raises:
        RegexProblem: with glibc's text for a malformed expression; for nested repetitions that could take
            exponential time.
    """
    parser = PosixParser(pattern, syntax, escapes=escapes)
    source = parser.translate()
    if parser.is_anchorable and wrap == "%s":
        source = rf"\A{source}"
    try:
        regex = re.compile(wrap.replace("%s", source), re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise RegexProblem("Invalid regular expression") from error
    wide = parser.wide_repetitions - parser.is_anchorable
    return Expression(regex, _LINE_MAX[min(max(wide, 0), len(_LINE_MAX) - 1)])
