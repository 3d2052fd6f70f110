"""Brace expansion of bash: `{a,b}`, `{1..5}`, `{a..e..2}`.

Only braces that stand in one unquoted piece of a word are expanded.

Source: bash(1), "Brace Expansion".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from env_core.shell.budget import LimitReached
from env_core.shell.syntax import Text, Word

_RANGE: Final = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?\Z", re.ASCII)
_WORDS_MAX: Final = 10_000


def braced(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return words with their braces expanded."""
    if not any("{" in word.raw for word in words):
        return words
    out: list[Word] = []
    for word in words:
        out += _expanded(word)
        if len(out) > _WORDS_MAX:
            raise LimitReached("Argument list too long")
    return tuple(out)


def _expanded(word: Word) -> list[Word]:
    for index, part in enumerate(word.parts):
        if not isinstance(part, Text) or part.quoted or "{" not in part.text:
            continue
        texts = _alternatives(part.text)
        if texts == (part.text,):
            continue
        before, after = word.parts[:index], word.parts[index + 1 :]
        found: list[Word] = []
        for text in texts:
            own = (Text(text, quoted=False),) if text else ()
            found += _expanded(Word((*before, *own, *after), word.raw.replace(part.text, text, 1)))
        return found
    return [word]


@lru_cache(maxsize=256)
def _alternatives(text: str) -> tuple[str, ...]:
    """Return what the first pair of braces that is one makes of a text, the rest being expanded, too."""
    start = text.find("{")
    while start != -1:
        end = _closing(text, start)
        if end == -1:
            return (text,)
        items = _items(text[start + 1 : end])
        if items and not text.endswith("$", 0, start):
            tails = _alternatives(text[end + 1 :])
            heads = [each for item in items for each in _alternatives(item)]
            return tuple(f"{text[:start]}{head}{tail}" for head in heads for tail in tails)
        start = text.find("{", start + 1)
    return (text,)


def _closing(text: str, start: int) -> int:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0:
            return index
    return -1


def _items(inner: str) -> list[str]:
    found = _RANGE.match(inner)
    if found is not None:
        return _range(found.group(1), found.group(2), found.group(3))
    items, depth, start = [], 0, 0
    for index, char in enumerate(inner):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            items.append(inner[start:index])
            start = index + 1
    return [*items, inner[start:]] if items else []


def _range(first: str, last: str, step: str | None) -> list[str]:
    is_number = first.lstrip("-").isdigit() and last.lstrip("-").isdigit()
    if not is_number and (len(first) != 1 or len(last) != 1 or first.isdigit() or last.isdigit()):
        return []
    low, high = (int(first), int(last)) if is_number else (ord(first), ord(last))
    size = abs(int(step)) if step else 1
    way = (size or 1) * (1 if high >= low else -1)
    if abs(high - low) // abs(way) > _WORDS_MAX:
        raise LimitReached("Argument list too long")
    numbers = range(low, high + (1 if way > 0 else -1), way)
    if not is_number:
        return [chr(number) for number in numbers]
    is_padded = any(len(each.lstrip("-")) > 1 and each.lstrip("-")[0] == "0" for each in (first, last))
    width = max(len(first), len(last)) if is_padded else 0
    return [f"{number:0{width}d}" if width else str(number) for number in numbers]
