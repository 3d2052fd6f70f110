"""What a YAML reader makes of a plain scalar, as go-yaml v2 resolves it."""

from __future__ import annotations

import re
from typing import Final

_REFUSED: Final = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
_NEXT_LINE: Final = re.compile(" *(\x85(?: *\x85)*) *")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

_WORD_LIST: Final = """
    y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF
    ~ null Null NULL .nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF
"""
_WORDS: Final = frozenset(_WORD_LIST.split())
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_INTEGER: Final = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)\Z")
_BASE_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+](\d\d):(\d\d)))"
    r"|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?))?\Z",
    re.ASCII,
)
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class YamlTextError(ValueError):
    """The text holds characters that go-yaml refuses to read back."""


def checked_text(text: str, prefix: str = "") -> str:
    """Return `text` as it comes through the JSON that the printers read back as YAML.

    U+0085 is a line break inside a quoted YAML scalar, so it folds to a blank; lone surrogates become U+FFFD.

    Raises:
        YamlTextError: with `prefix` and go-yaml's text, for DEL, C1 controls, U+FFFE and U+FFFF.
    """
    if text.isascii():
        if "\x7f" in text:
            raise YamlTextError(prefix + "yaml: control characters are not allowed")
        return text
    if _REFUSED.search(text) is not None:
        raise YamlTextError(prefix + "yaml: control characters are not allowed")
    if "\x85" in text:
        text = _NEXT_LINE.sub(lambda found: _folded_breaks(found.group(1)), text)
    return _SURROGATE.sub("\ufffd", text)


def _folded_breaks(breaks: str) -> str:
    count = breaks.count("\x85")
    return " " if count == 1 else "\n" * (count - 1)


def reads_as_string(text: str) -> bool:
    """Tell whether go-yaml v2 would read the plain scalar `text` back as a string."""
    if not text or text in _WORDS:
        return False
    first = text[0]
    if first == ".":
        return not (_FLOAT.match(text) and _is_finite(text))
    if not ("0" <= first <= "9" or first in "+-"):
        return True
    if is_timestamp(text):
        return False
    bare = text.replace("_", "")
    if parses_as_integer(bare, unsigned=True):
        return False
    if _FLOAT.match(bare) and _is_finite(bare):
        return False
    return _BASE_60.match(text) is None


def _is_finite(text: str) -> bool:
    return abs(float(text)) != float("inf")


def parses_as_integer(text: str, *, unsigned: bool) -> bool:
    """Tell whether Go's ParseInt (or, with `unsigned`, ParseUint too) takes `text` with base 0."""
    found = _INTEGER.match(text)
    if found is None:
        return False
    sign, digits = found.groups()
    prefix = digits[:2].lower()
    if prefix in ("0x", "0b", "0o"):
        value = int(digits, 0)
    elif digits[0] == "0" and len(digits) > 1:
        value = int(digits, 8)
    elif len(digits) > 20:
        return False
    else:
        value = int(digits)
    if sign == "-":
        return value <= 2**63
    return value < 2**63 or (unsigned and not sign and value < 2**64)


def is_timestamp(text: str) -> bool:
    """Tell whether go-yaml v2 reads `text` as a timestamp."""
    found = _TIMESTAMP.match(text)
    if found is None:
        return False
    year, month, day, *rest = (int(part) if part else 0 for part in found.groups())
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _MONTH_DAYS[month - 1] + leap:
        return False
    hour, minute, second, zone_hour, zone_minute, plain_hour, plain_minute, plain_second = rest
    return (
        max(hour, plain_hour) < 24
        and max(minute, plain_minute) < 60
        and max(second, plain_second) < 60
        and zone_hour <= 24
        and zone_minute < 60
    )
