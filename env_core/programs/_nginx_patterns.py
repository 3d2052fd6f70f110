"""nginx's regular expressions: what it says of a bad one, and where it gives one up.

Python's engine tries every way to divide a text, so an expression whose ways could explode is never run: each match of
it ends at PCRE's own limit, whatever the text.

Source: nginx src/core/ngx_regex.c, src/http/ngx_http_variables.c ngx_http_regex_exec; pcre2api(3), match_limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from env_core.objects.regex import PERL, Expression, RegexProblem, compile_expression

_MATCH_LIMIT: Final = -47
"""PCRE2_ERROR_MATCHLIMIT."""

_TEXTS: Final = {
    "unterminated character set": "missing terminating ] for character class",
    "missing ), unterminated subpattern": "missing closing parenthesis",
    "unbalanced parenthesis": "unmatched closing parenthesis",
    "nothing to repeat": "quantifier does not follow a repeatable item",
    "multiple repeat": "quantifier does not follow a repeatable item",
}
_AT_END: Final = frozenset({"unterminated character set", "missing ), unterminated subpattern"})
"""Errors that PCRE notices where the expression ends."""


class PatternProblem(Exception):
    """nginx does not compile an expression; `text` says why."""

    def __init__(self, text: str) -> None:
        """Record the text."""
        super().__init__(text)
        self.text = text


class RequestFailed(Exception):
    """nginx gives a request up with status 500; `text` and `level` are what it logs."""

    def __init__(self, text: str, level: str) -> None:
        """Record what is logged."""
        super().__init__(text)
        self.text = text
        self.level = level


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression that nginx accepts."""

    text: str
    expression: Expression | None
    """None when a search could take too long."""

    def search(self, subject: str) -> re.Match[str] | None:
        """Return the first match.

        Raises:
            RequestFailed: when the search could take too many steps.
        """
        if self.expression is not None:
            try:
                return self.expression.search(subject)
            except RegexProblem:
                pass
        raise RequestFailed(
            f'pcre2_match() failed: {_MATCH_LIMIT} on "{subject}" using "{self.text}"', "alert"
        )


@lru_cache(maxsize=512)
def pattern(text: str, *, ignores_case: bool = False) -> Pattern:
    """Return a compiled expression.

    Raises:
        PatternProblem: with PCRE's words for a malformed one.
    """
    plain = text.removeprefix("(?i)")
    try:
        return Pattern(
            text, compile_expression(plain, PERL, ignore_case=ignores_case or len(plain) < len(text))
        )
    except RegexProblem:
        pass
    try:
        re.compile(text)
    except re.error as error:
        problem = f'pcre2_compile() failed: {_TEXTS.get(error.msg, error.msg)} in "{text}"'
        if error.msg not in _AT_END and error.pos is not None:
            problem += f' at "{text[error.pos :]}"'
        raise PatternProblem(problem) from None
    except (OverflowError, RecursionError):
        raise PatternProblem(f'pcre2_compile() failed: regular expression is too large in "{text}"') from None
    return Pattern(text, None)
