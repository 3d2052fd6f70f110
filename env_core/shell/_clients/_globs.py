"""curl's URL patterns: {a,b} and [1-3]."""

from __future__ import annotations

import re
from typing import Final

_RANGE: Final = re.compile(r"\[(\d+)-(\d+)(?::(\d+))?\]|\[([a-z])-([a-z])\]", re.IGNORECASE)
_URLS_MAX: Final = 200


class GlobProblem(ValueError):
    """A pattern is malformed: what is wrong, and where (from 1)."""

    def __init__(self, text: str, position: int) -> None:
        super().__init__(text)
        self.text = f"{text} in URL position {position}"
        self.position = position


def expand(url: str) -> list[str]:
    """Return the URLs that a pattern stands for.

    Raises:
        GlobProblem: if the pattern is malformed.
    """
    found = [""]
    position = 0
    while position < len(url):
        character = url[position]
        if character == "{":
            end = url.find("}", position)
            if end == -1:
                raise GlobProblem("unmatched brace", position + 1)
            parts = url[position + 1 : end].split(",")
            position = end + 1
        elif character == "[" and not _is_address(url, position):
            match = _RANGE.match(url, position)
            if match is None:
                raise GlobProblem("bad range", position + 2)
            parts = _members(match)
            position = match.end()
        else:
            parts = [character]
            position += 1
        found = [before + part for before in found for part in parts][:_URLS_MAX]
    return found


def _is_address(url: str, position: int) -> bool:
    """Whether a bracket opens an IPv6 address."""
    end = url.find("]", position)
    return end != -1 and ":" in url[position:end] and url[:position].endswith("//")


def _members(match: re.Match[str]) -> list[str]:
    if match[4]:
        return [chr(code) for code in range(ord(match[4]), ord(match[5]) + 1)]
    width = len(match[1]) if match[1].startswith("0") else 0
    last = min(int(match[2]), int(match[1]) + _URLS_MAX)
    return [
        str(number).rjust(width, "0") for number in range(int(match[1]), last + 1, int(match[3] or "1") or 1)
    ]
