"""Values of jq: their order, their texts, and errors that are values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final

from env_core.objects.jsonout import decimal_digits

Json = Any
"""None, bool, int, float, str, list or dict."""

_EXACT: Final = 2**53
_DELETE: Final = re.compile("[\x7f\ud800-\udfff]")


class JqError(Exception):
    """A run-time error; its value is what `catch` gets."""

    def __init__(self, value: Json) -> None:
        """Record the value."""
        super().__init__(value)
        self.value = value


class Break(Exception):
    """`break $label`, on its way to its label."""

    def __init__(self, label: object) -> None:
        """Record the label's identity."""
        super().__init__()
        self.label = label


def kind(value: Json) -> str:
    """Return jq's name for a value's type."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def is_number(value: Json) -> bool:
    """Tell whether a value is a number."""
    return isinstance(value, int | float) and value is not True and value is not False


def order_key(value: Json) -> tuple[Any, ...]:
    """Return a key that sorts values as jq does: null, false, true, numbers, strings, arrays, objects."""
    if value is None:
        return (0,)
    if value is False:
        return (1,)
    if value is True:
        return (2,)
    if isinstance(value, str):
        return (4, value)
    if isinstance(value, list):
        return (5, [order_key(item) for item in value])
    if isinstance(value, dict):
        keys = sorted(value)
        return (6, keys, [order_key(value[key]) for key in keys])
    # NaN is smaller than every number, itself included.
    return (3, -math.inf if value != value else value)  # noqa: PLR0124


def equal(left: Json, right: Json) -> bool:
    """Tell whether two values are equal (booleans are no numbers here)."""
    return order_key(left) == order_key(right)


def is_true(value: Json) -> bool:
    """Tell whether a value counts as true: all but null and false."""
    return value is not None and value is not False


def number_text(value: float) -> str:
    """Return a number as jq 1.6 prints it: 17 digits at most, exponents from 16 zeros on."""
    if isinstance(value, int) and abs(value) <= _EXACT:
        digits = str(abs(value))
        if len(digits) <= len(digits.rstrip("0")) + 15:
            return str(value)
    value = float(value)
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        value = math.copysign(1.7976931348623157e308, value)
    digits, point = decimal_digits(value)
    sign = "-" if math.copysign(1, value) < 0 else ""
    if not digits:
        return sign + "0"
    if point <= -4 or point > len(digits) + 15:
        exponent = point - 1
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return sign + digits + "0" * (point - len(digits))
    return f"{sign}{digits[:point]}.{digits[point:]}"


@lru_cache(maxsize=4096)
def quoted(text: str) -> str:
    """Return a string as JSON."""
    out: str = encode_basestring(text)
    if _DELETE.search(out) is None:
        return out
    return _DELETE.sub(lambda found: "\\u007f" if found.group() == "\x7f" else "\ufffd", out)


def compact(value: Json, *, sorts: bool = False) -> str:
    """Return a value as JSON on one line."""
    return "".join(_pieces(value, None, "", sorts))


def pretty(value: Json, indent: str = "  ", *, sorts: bool = False) -> str:
    """Return a value as JSON with one item a line."""
    return "".join(_pieces(value, indent, "\n", sorts))


def _pieces(value: Json, indent: str | None, break_: str, sorts: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield quoted(value)
    elif isinstance(value, dict) and value:
        inner = "" if indent is None else break_ + indent
        lead = "{" + inner
        colon = ":" if indent is None else ": "
        for key in sorted(value) if sorts else value:
            yield f"{lead}{quoted(key)}{colon}"
            yield from _pieces(value[key], indent, inner, sorts)
            lead = "," + inner
        yield ("" if indent is None else break_) + "}"
    elif isinstance(value, list) and value:
        inner = "" if indent is None else break_ + indent
        lead = "[" + inner
        for item in value:
            yield lead
            yield from _pieces(item, indent, inner, sorts)
            lead = "," + inner
        yield ("" if indent is None else break_) + "]"
    elif value is None:
        yield "null"
    elif value is True:
        yield "true"
    elif value is False:
        yield "false"
    elif isinstance(value, dict):
        yield "{}"
    elif isinstance(value, list):
        yield "[]"
    else:
        yield number_text(value)


def shown(value: Json, size: int = 11) -> str:
    """Return a value as error texts show it: cut to `size` bytes, the last three then dots."""
    text = compact(value).encode("utf-8", "replace")
    if len(text) <= size:
        return text.decode()
    return text[: size - 3].decode("utf-8", "ignore") + "..."


def typed(value: Json) -> str:
    """Return `kind (value)`, as error texts name values."""
    return f"{kind(value)} ({shown(value)})"
