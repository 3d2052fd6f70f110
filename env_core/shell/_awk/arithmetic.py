"""What awk's operators make of numbers and of orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from env_core.shell._awk.lexer import AwkProblem

COMPARISONS: Final[dict[str, Callable[[int], bool]]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
"""What `compare` gives, to whether the operator holds."""


def arithmetic(operator: str, left: float, right: float, *, has_infinity: bool = False) -> float:
    """Return what an operator makes of two numbers.

    With `has_infinity` a division by zero has a value, as mawk has it.

    Raises:
        AwkProblem: for a division by zero.
    """
    if operator in ("/", "%") and right == 0:
        if has_infinity:
            is_nothing = operator == "%" or left == 0 or math.isnan(left)
            return math.copysign(math.nan, -1.0) if is_nothing else math.copysign(math.inf, left)
        if operator == "/":
            raise AwkProblem("division by zero", "zero")
        raise AwkProblem("division by zero in %", "zero")
    try:
        if operator == "+":
            return left + right
        if operator == "-":
            return left - right
        if operator == "*":
            return left * right
        if operator == "/":
            return left / right
        if operator == "%":
            return math.fmod(left, right)
        return math.pow(left, right)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan
