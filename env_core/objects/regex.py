"""POSIX regular expressions on Python's engine, with a bound on the work they can cause."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from env_core.objects._regex_parser import PosixParser, RegexProblem
from env_core.objects._regex_work import Effort
from env_core.sim.work import Work

__all__ = ["BASIC", "EXTENDED", "PERL", "Expression", "RegexProblem", "compile_expression"]

BASIC: Final = "basic"
EXTENDED: Final = "extended"
PERL: Final = "perl"

_TEXT_MAX: Final = 8 * 1024 * 1024
_STEPS_MAX: Final = 500_000_000
"""Steps that one search may take, about: a third of a second."""
_STEPS_OF_A_UNIT: Final = 1_500


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression, and what searching with it may cost."""

    regex: re.Pattern[str]
    effort: Effort

    def search(self, text: str, position: int = 0, work: Work | None = None) -> re.Match[str] | None:
        """Return the first match at or after `position`; what it may cost is added to `work`.

        Raises:
            RegexProblem: if the search could take too much time, or there is too little work left.
        """
        if position == 0:  # What comes after a first match costs no more than that.
            self._check(text, work)
        return self.regex.search(text, position)

    def match(self, text: str, position: int = 0, work: Work | None = None) -> re.Match[str] | None:
        """Return the match that starts at `position`; counts and raises as `search` does."""
        if position == 0:
            self._check(text, work)
        return self.regex.match(text, position)

    def _check(self, text: str, work: Work | None) -> None:
        steps = self.effort.steps(text)
        if steps > _STEPS_MAX or len(text) > _TEXT_MAX:
            raise RegexProblem(f"expression too complex for a line of {len(text)} characters")
        if work is not None and steps > _STEPS_OF_A_UNIT:
            work.done += steps // _STEPS_OF_A_UNIT
            if work.is_spent:
                raise RegexProblem("stopped: too much work")


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
    effort = parser.effort
    if ignore_case and effort.start:
        effort = replace(effort, start="")
    if wrap.endswith(")"):  # What comes behind may fail, and the last repetition is tried at every length.
        effort = replace(effort, multiplying=(*effort.multiplying, re.compile("(?s:.)+")))
    return Expression(regex, effort)
