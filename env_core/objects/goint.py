"""Integers as Go's strconv reads them: signed 64-bit numbers, of any number of digits on the way in."""

from __future__ import annotations

import re
from typing import Final

from env_core.objects.problems import quoted

INT32_MAX: Final = 2**31 - 1
_INT64_MAX: Final = 2**63 - 1
_DIGITS_MAX: Final = 19
_is_integer = re.compile(r"[+-]?[0-9]+").fullmatch


class IntegerError(ValueError):
    """A text is no integer, or one that needs more than 64 bits; the message is Go's."""


def atoi(text: str) -> int:
    """Return the integer that `text` is.

    Source: Go strconv Atoi; tests/golden/l0/int_or_percent, validation.

    Raises:
        IntegerError: with Go's text.
    """
    if _is_integer(text) is None:
        raise IntegerError(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    digits = text.lstrip("+-").lstrip("0") or "0"
    number = int(digits[: _DIGITS_MAX + 1])
    if text.startswith("-"):
        number = -number
    if not -_INT64_MAX - 1 <= number <= _INT64_MAX:
        raise IntegerError(f"strconv.Atoi: parsing {quoted(text)}: value out of range")
    return number
