"""Lengths of time as sleep and timeout read them: a number with a unit, or without end."""

from __future__ import annotations

import re
from typing import Final

_TIME: Final = re.compile(r"(\d{1,12}(?:\.\d*)?|\.\d+)([smhd]?)\Z", re.ASCII)
_ENDLESS: Final = re.compile(r"\+?inf(?:inity)?[smhd]?\Z", re.ASCII | re.IGNORECASE)
_UNITS_MS: Final = {"": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

ENDLESS_MS: Final = 10**15
"""More than anything waits for: some thirty thousand years."""


def duration_ms(text: str) -> int | None:
    """Return a length of time in milliseconds, `ENDLESS_MS` for one without end, None for what is none.

    Source: coreutils 9.1 sleep.c apply_suffix, strtod; busybox sleep.c takes "inf" and "infinity" too.
    """
    found = _TIME.match(text)
    if found is not None:
        return int(float(found.group(1)) * _UNITS_MS[found.group(2)])
    return ENDLESS_MS if _ENDLESS.match(text) else None
