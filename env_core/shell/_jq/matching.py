"""Matches of regular expressions as jq's objects, and substitution."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from env_core.objects.regex import PERL, RegexProblem, compile_expression
from env_core.shell._jq.operators import add
from env_core.shell._jq.values import JqError, Json, typed
from env_core.sim.work import Work

_MATCHES_MAX: Final = 20_000


def match_all(value: Json, pattern: Json, flags: Json, work: Work) -> Iterator[dict[str, Any]]:
    """Yield jq's match objects; without the flag "g" only the first.

    Raises:
        JqError: for what is no string, bad flags, or a bad expression.
    """
    if not isinstance(value, str):
        raise JqError(f"{typed(value)} cannot be matched, as it is not a string")
    if not isinstance(pattern, str):
        raise JqError(f"{typed(pattern)} cannot be matched, as it is not a string")
    if flags is not None and not isinstance(flags, str):
        raise JqError(f"{typed(flags)} is not a string")
    letters = flags or ""
    if any(letter not in "gixsnlp" for letter in letters):
        raise JqError(f"{letters} is not a valid modifier string")
    if "x" in letters:
        pattern = re.sub(r"(?<!\\)\s+|(?<!\\)#.*", "", pattern)
    try:
        expression = compile_expression(pattern, PERL, ignore_case="i" in letters)
    except RegexProblem as problem:
        text = "end pattern with unmatched parenthesis" if "parenthesis" in problem.text else problem.text
        raise JqError(f"Regex failure: {text}") from None
    position = 0
    for _ in range(_MATCHES_MAX):
        try:
            found = expression.search(value, position, work)
        except RegexProblem as problem:
            raise JqError(f"Regex failure: {problem.text}") from None
        if found is None:
            return
        yield _match_object(found)
        if "g" not in letters:
            return
        position = found.end() + (found.end() == found.start())
        if position > len(value):
            return


def _match_object(found: re.Match[str]) -> dict[str, Any]:
    names = {number: name for name, number in found.re.groupindex.items()}
    captures = []
    for number in range(1, (found.re.groups or 0) + 1):
        text = found.group(number)
        captures.append(
            {
                "offset": found.start(number),
                "length": len(text or ""),
                "string": text,
                "name": names.get(number),
            }
        )
    return {
        "offset": found.start(),
        "length": found.end() - found.start(),
        "string": found.group(),
        "captures": captures,
    }


def sub_text(
    value: Json,
    pattern: Json,
    flags: Json,
    replacement: Callable[[dict[str, Json]], Iterator[Json]],
    work: Work,
) -> Iterator[str]:
    """Yield `value` with the matches replaced: once for each replacement that the first match gets."""
    matches = list(match_all(value, pattern, flags, work))
    texts: list[list[Json]] = []
    for found in matches:
        captures = {each["name"]: each["string"] for each in found["captures"] if each["name"] is not None}
        texts.append(list(replacement(captures)))
    if not matches:
        yield value
        return
    for first in texts[0]:
        out: Json = ""
        position = 0
        for number, found in enumerate(matches):
            text = first if number == 0 else (texts[number] or [""])[0]
            out = add(add(out, value[position : found["offset"]]), text)
            position = found["offset"] + found["length"]
        yield add(out, value[position:])
