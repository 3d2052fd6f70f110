"""Time zones: which there are, and how far their clocks are from UTC at any moment.

The rules come from the package `tzdata` and not from the host, since hosts differ.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


def is_time_zone(name: str) -> bool:
    """Tell whether `name` is a time zone ("Europe/Berlin")."""
    return name in _names()


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as rules:
        return ZoneInfo.from_file(rules, key=name)


def utc_offset_s(zone: str, utc_s: int) -> int:
    """Return by how many seconds the clocks of `zone` (a name; "" is UTC) are ahead at a Unix second.

    Raises:
        FileNotFoundError: if there is no such zone.
    """
    if not zone or zone == "UTC":
        return 0
    offset = (_EPOCH + timedelta(seconds=utc_s)).astimezone(_zone(zone)).utcoffset()
    assert offset is not None, "a zone's clocks always have an offset"
    return int(offset.total_seconds())
