"""Arithmetic and patterns of SQL.

Source: https://www.postgresql.org/docs/15/functions-math.html, functions-matching.html (LIKE); postgres 15
src/backend/utils/adt/int.c, numeric.c.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from env_core.programs._postgres_bounds import DIGITS_MAX
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_syntax import Node
from env_core.programs._postgres_types import EXACT, INTEGER, NUMERIC, WHOLE, Typed, fits, is_number

NO_OPERATOR: Final = (
    "No operator matches the given name and argument types. You might need to add explicit type casts."
)


def is_like(text: str, pattern: str, *, is_loose: bool) -> bool:
    """Whether a text is as a pattern says; what stands between two `%` is looked for from left to right, once."""
    if is_loose:
        text, pattern = text.lower(), pattern.lower()
    found: list[list[str]] = [[]]
    for match in re.finditer(r"\\(.)|(%)|(_)|(.)", pattern, re.DOTALL):
        if match[2]:
            found.append([])
        else:
            found[-1].append("." if match[3] else re.escape(match[1] or match[4]))
    parts = [re.compile("".join(each), re.DOTALL) for each in found]
    if len(parts) == 1:
        return parts[0].fullmatch(text) is not None
    head = parts[0].match(text)
    if head is None:
        return False
    place = head.end()
    for part in parts[1:-1]:
        between = part.search(text, place)
        if between is None:
            return False
        place = between.end()
    start = len(text) - len(found[-1])
    return start >= place and parts[-1].fullmatch(text, start) is not None


def result(value: int | float | Decimal, kind: str) -> Typed:
    """Return a number of a type, if it is not too large for it."""
    if kind in WHOLE and not fits(int(value), kind):
        raise Problem(f"{kind} out of range")
    if isinstance(value, float) and abs(value) == float("inf"):
        raise Problem("value out of range: overflow")
    if isinstance(value, Decimal) and value.adjusted() > DIGITS_MAX:
        raise Problem("value overflows numeric format")
    return Typed(value, kind)


def counted(sign: str, left: Typed, right: Typed, node: Node) -> Typed:
    first, second, kind = left.value, right.value, _wider(left.type, right.type)
    if (
        not is_number(kind)
        or isinstance(first, str)
        or isinstance(second, str)
        or first is None
        or second is None
    ):
        raise Problem(f"operator does not exist: {left.type} {sign} {right.type}", node.at, hint=NO_OPERATOR)
    if sign in ("/", "%") and not second:
        raise Problem("division by zero")
    if kind in WHOLE:
        return result(_of_whole(sign, int(first), int(second)), kind)
    if kind == NUMERIC:
        return result(_of_exact(sign, Decimal(first), Decimal(second)), kind)
    one, other = float(first), float(second)
    if sign in ("/", "%"):
        if sign == "%":
            raise Problem(f"operator does not exist: {left.type} % {right.type}", node.at, hint=NO_OPERATOR)
        return result(one / other, kind)
    return result({"+": one + other, "-": one - other, "*": one * other}[sign], kind)


def negative(value: int | float | Decimal) -> int | float | Decimal:
    """Return a number with the other sign, to its last digit."""
    return EXACT.minus(value) if isinstance(value, Decimal) else -value


def _wider(left: str, right: str) -> str:
    order = ("smallint", INTEGER, "bigint", NUMERIC, "real", "double precision")
    return max(left, right, key=lambda kind: order.index(kind) if kind in order else -1)


def _of_whole(sign: str, first: int, second: int) -> int:
    if sign in ("/", "%"):
        quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
        return quotient if sign == "/" else first - second * quotient
    return {"+": first + second, "-": first - second, "*": first * second}[sign]


def _of_exact(sign: str, first: Decimal, second: Decimal) -> Decimal:
    if sign == "+":
        return EXACT.add(first, second)
    if sign == "-":
        return EXACT.subtract(first, second)
    if sign == "*":
        return EXACT.multiply(first, second)
    if sign == "%":
        return EXACT.remainder(first, second)
    quotient = EXACT.divide(first, second)
    return quotient.quantize(Decimal(1).scaleb(-_scale(first, second)), ROUND_HALF_UP, EXACT)


def _scale(first: Decimal, second: Decimal) -> int:
    """Return how many digits after the point a quotient has. Source: utils/adt/numeric.c (select_div_scale)."""

    def group(value: Decimal) -> tuple[int, int]:
        # Numbers are kept in groups of four digits.
        weight = value.adjusted() // 4 if value else 0
        return weight, int(abs(value).scaleb(-4 * weight, EXACT)) if value else 0

    (weight, digits), (other_weight, other_digits) = group(first), group(second)
    quotient_weight = weight - other_weight - (1 if digits <= other_digits else 0)
    scales = (-int(each.as_tuple().exponent) for each in (first, second))
    return min(max(16 - 4 * quotient_weight, *scales, 0), DIGITS_MAX)
