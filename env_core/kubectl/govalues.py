"""Values on command lines as Go reads them: integers, durations; and how Go prints a rune."""

from __future__ import annotations

import re
from functools import lru_cache

from env_core.objects.problems import quoted
from env_core.sim.timefmt import parse_go_duration

_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]+|[0-9][0-9_]*)\Z")


def integer(value: str, bits: int = 64) -> int:
    """Return what strconv.ParseInt reads from `value` with base 0, into so many bits.

    Raises:
        ValueError: in Go's words.
    """
    if not _INTEGER.match(value) or value.endswith("_"):
        raise ValueError(f"strconv.ParseInt: parsing {quoted(value)}: invalid syntax")
    text = value.replace("_", "").lower()
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        text = text.replace(digits, "0o" + digits[1:], 1)
    number = int(text, 0)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"strconv.ParseInt: parsing {quoted(value)}: value out of range")
    return number


def as_int32(number: int) -> int:
    """Return what Go's int32() makes of a number: what does not fit wraps around."""
    return (number + 2**31) % 2**32 - 2**31


@lru_cache(maxsize=256)
def duration_ms(text: str) -> int:
    """Return the milliseconds of a Go duration.

    Raises:
        ValueError: in the words of Go's time.ParseDuration.
    """
    return parse_go_duration(text)


def go_rune(char: str) -> str:
    """Return a character as Go's %q prints a rune."""
    return "'" + ("\\'" if char == "'" else quoted(char)[1:-1].replace('\\"', '"')) + "'"
