"""Values of awk: numbers, strings, and input that looks like a number."""

from __future__ import annotations

import math
import re
from typing import Final

_NUMBER: Final = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)", re.ASCII)
_EXACT_MAX: Final = 1e16


class Strnum(str):
    """Text from input: it compares as a number when it looks like one."""

    __slots__ = ()


Value = float | str
"""Strings, numbers (always floats), and `Strnum`."""


def to_number(value: Value) -> float:
    """Return a value as a number: the longest numeric start of a string, or 0."""
    if isinstance(value, float):
        return value
    found = _NUMBER.match(value)
    return float(found.group(1)) if found is not None else 0.0


def looks_numeric(text: str) -> bool:
    """Tell whether input text is a number and nothing else."""
    found = _NUMBER.match(text)
    return found is not None and not text[found.end() :].strip()


def to_string(value: Value, template: str = "%.6g") -> str:
    """Return a value as text; numbers that are no integers by `template` (CONVFMT or OFMT)."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < _EXACT_MAX:
        return str(int(value))
    if template == "%.6g":
        return f"{value:.6g}"
    try:
        return template % value
    except (ValueError, TypeError):
        return f"{value:.6g}"


def is_true(value: Value) -> bool:
    """Tell whether a value counts as true."""
    if isinstance(value, float):
        return value != 0
    if isinstance(value, Strnum) and looks_numeric(value):
        return to_number(value) != 0
    return value != ""


def compare(left: Value, right: Value, template: str) -> int:
    """Return -1, 0 or 1: by number if both are numbers or look like them, else by text."""
    numeric = True
    for value in (left, right):
        if isinstance(value, Strnum):
            numeric = numeric and looks_numeric(value)
        elif isinstance(value, str):
            numeric = False
    if numeric:
        one, two = to_number(left), to_number(right)
        return (one > two) - (one < two)
    first, second = to_string(left, template), to_string(right, template)
    return (first > second) - (first < second)
