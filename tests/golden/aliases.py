"""Recorded names and drawn values, from their aliases to what they really were and back.

l2 README: "aliases have the raw token's length, so columns stay aligned"; "Row order of `get` output is by raw name".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_PORT_MIN = 30_000


class Aliases:
    """The aliases of one recording (alias → raw)."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        raws = dict(aliases)
        self._to_raw = _pattern(raws)
        self._raws = raws
        self._aliases = {raw: alias for alias, raw in raws.items()}
        self._to_alias = _pattern(self._aliases)

    def raw(self, text: str) -> str:
        """Return a text with raw tokens for aliases."""
        if self._to_raw is None:
            return text
        return self._to_raw.sub(lambda match: self._raws[match[0]], text)

    def alias(self, text: str) -> str:
        """Return a text with aliases for raw tokens."""
        if self._to_alias is None:
            return text
        return self._to_alias.sub(lambda match: self._aliases[match[0]], text)

    def raw_value(self, value: Any) -> Any:
        """Return a JSON value with raw tokens for aliases."""
        return _through(value, self.raw)

    def alias_value(self, value: Any) -> Any:
        """Return a JSON value with aliases for raw tokens."""
        return _through(value, self.alias)


def _through(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text of a JSON value, and every number that a port's text would be."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _through(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_through(item, change) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and value > _PORT_MIN:
        return int(change(str(value)))
    return value


def _pattern(tokens: Mapping[str, str]) -> re.Pattern[str] | None:
    if not tokens:
        return None
    longest_first = sorted(tokens, key=lambda token: (-len(token), token))
    return re.compile("(?<![0-9A-Za-z])(?:" + "|".join(map(re.escape, longest_first)) + ")(?![0-9A-Za-z])")
