"""Arithmetic and comparison of jq."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from env_core.shell._jq.values import JqError, Json, is_number, order_key, typed

_TEXT_MAX: Final = 4 * 1024 * 1024


def _pair(left: Json, right: Json, text: str) -> JqError:
    return JqError(f"{typed(left)} and {typed(right)} {text}")


def _exact(value: float) -> float:
    """Return whole doubles as integers, which print and index faster; jq has doubles only."""
    if isinstance(value, int):
        return value if abs(value) < 2**53 else float(value)
    return int(value) if math.isfinite(value) and value.is_integer() and abs(value) < 2**53 else value


def add(left: Json, right: Json) -> Json:
    """Return the sum; null is neutral, arrays and strings are joined, objects merged."""
    if left is None:
        return right
    if right is None:
        return left
    if is_number(left) and is_number(right):
        return _exact(left + right)
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > _TEXT_MAX:
            raise JqError("string too long")
        return left + right
    if isinstance(left, list) and isinstance(right, list):
        if len(left) + len(right) > _TEXT_MAX:
            raise JqError("array too long")
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    raise _pair(left, right, "cannot be added")


def subtract(left: Json, right: Json) -> Json:
    """Return the difference; arrays lose the other's items."""
    if is_number(left) and is_number(right):
        return _exact(left - right)
    if isinstance(left, list) and isinstance(right, list):
        gone = [order_key(item) for item in right]
        return [item for item in left if order_key(item) not in gone]
    raise _pair(left, right, "cannot be subtracted")


def multiply(left: Json, right: Json) -> Json:
    """Return the product; strings repeat, objects merge deeply."""
    if is_number(left) and is_number(right):
        try:
            return _exact(left * right)
        except OverflowError:
            return math.inf
    if isinstance(left, dict) and isinstance(right, dict):
        return _merged(left, right)
    if isinstance(right, str) and is_number(left):
        left, right = right, left
    if isinstance(left, str) and is_number(right):
        if right <= 0 or math.isnan(right):
            return None
        count = max(math.ceil(right), 1) if math.isfinite(right) else _TEXT_MAX
        if len(left) * count > _TEXT_MAX:
            raise JqError("string too long")
        return left * count
    raise _pair(left, right, "cannot be multiplied")


def _merged(left: dict[str, Json], right: dict[str, Json]) -> dict[str, Json]:
    out = dict(left)
    for key, value in right.items():
        before = out.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        out[key] = _merged(before, value) if both and before is not None else value
    return out


def divide(left: Json, right: Json) -> Json:
    """Return the quotient; strings are split."""
    if is_number(left) and is_number(right):
        if right == 0:
            raise _pair(left, right, "cannot be divided because the divisor is zero")
        return _exact(left / right)
    if isinstance(left, str) and isinstance(right, str):
        return split(left, right)
    raise _pair(left, right, "cannot be divided")


def split(text: str, separator: str) -> list[str]:
    """Return the pieces of `text` between `separator`s."""
    if not text:
        return []
    return list(text) if not separator else text.split(separator)


def remainder(left: Json, right: Json) -> Json:
    """Return the remainder of whole numbers, with the sign of the first."""
    if not (is_number(left) and is_number(right)):
        raise _pair(left, right, "cannot be divided (remainder)")
    one = _integer(left)
    two = abs(_integer(right))
    if two == 0:
        raise _pair(left, right, "cannot be divided (remainder) because the divisor is zero")
    value = abs(one) % two
    return -value if one < 0 else value


def _integer(value: float) -> int:
    if math.isnan(value):
        return 0
    return int(max(min(value, 2.0**63 - 1024), -(2.0**63)))


def _less(left: Json, right: Json) -> bool:
    if isinstance(left, float) and math.isnan(left) and is_number(right):
        return True
    return order_key(left) < order_key(right)


OPERATORS: Final[dict[str, Callable[[Json, Json], Json]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "==": lambda left, right: order_key(left) == order_key(right),
    "!=": lambda left, right: order_key(left) != order_key(right),
    "<": _less,
    "<=": lambda left, right: _less(left, right) or order_key(left) == order_key(right),
    ">": lambda left, right: _less(right, left),
    ">=": lambda left, right: _less(right, left) or order_key(left) == order_key(right),
}
