"""What a configuration of nginx declares: servers, locations, upstreams; and how it writes times and sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from env_core.programs._nginx_patterns import Pattern

_TIME_PART: Final = re.compile(r"(\d+)(ms|[smhdwMy])?")


_TIME_UNITS: Final = {
    "ms": 1,
    "s": 1000,
    "": 1000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}


Settings = Mapping[str, tuple[tuple[str, ...], ...]]
"""Directives in force, by name: the arguments of each occurrence."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Location:
    """A location and the directives in force in it."""

    modifier: str
    path: str
    settings: Settings
    inner: tuple[Location, ...] = ()
    pattern: Pattern | None = None

    def one(self, name: str) -> tuple[str, ...] | None:
        """Return the arguments of a directive, or None."""
        found = self.settings.get(name)
        return found[-1] if found else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Server:
    """A server block."""

    listens: tuple[tuple[str, int], ...]
    """Addresses and ports."""
    names: tuple[str, ...]
    settings: Settings
    locations: tuple[Location, ...]
    is_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Config:
    """A configuration that nginx accepts."""

    servers: tuple[Server, ...]
    upstreams: Mapping[str, tuple[tuple[str, int], ...]]
    warnings: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)
    main: Settings = field(default_factory=dict)
    """The settings outside of any block."""
    hosts: tuple[tuple[str, str, str], ...] = ()
    """Names that must resolve at the start: (name, as it is shown, place)."""
    peers: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """(max_fails, fail_timeout in milliseconds) of each server of an upstream block."""
    formats: Mapping[str, str] = field(default_factory=dict)
    """Log formats by name."""
    maps: Mapping[str, str] = field(default_factory=dict)
    """The source variable of each variable that a map with only a default of another variable makes."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where some settings of the main block stand."""
    order: tuple[str, ...] = ()
    """The files that it consists of, as they are read."""


@lru_cache(maxsize=256)
def milliseconds(text: str) -> int:
    """Return a time value in milliseconds."""
    return sum(int(number) * _TIME_UNITS.get(unit, 1000) for number, unit in _TIME_PART.findall(text))


@lru_cache(maxsize=256)
def size_bytes(text: str) -> int:
    """Return a size value in bytes."""
    factor = {"k": 1024, "m": 1024**2, "g": 1024**3}.get(text[-1:].lower(), 0)
    return int(text[:-1]) * factor if factor else int(text)
