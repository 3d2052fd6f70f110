"""Functions of one number, and operators of two.

Source: github.com/prometheus/prometheus promql/functions.go and engine.go (vectorElemBinop); IEEE 754 where Python raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from env_core.observability.promql._numbers import divided, power, remainder

_PER_DECADE: Final = 0.4342944819032518  # 1 / ln 10
_SMALLEST_NORMAL: Final = 2.2250738585072014e-308
Number1 = Callable[[float], float]


def _total(function: Number1, *, overflow: float = math.inf) -> Number1:
    """Return the function with NaN outside of its domain and infinity beyond its range."""

    def computed(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.copysign(overflow, value) if function is math.sinh else overflow

    return computed


def _natural(value: float) -> float:
    if 0 < value < _SMALLEST_NORMAL:
        # Go's assembly takes the bits of a subnormal number for those of a normal one.
        return math.log1p(value / 5e-324 * 2.0**-52) - 1023 * math.log(2)
    return -math.inf if value == 0 else _total(math.log)(value)


def _binary_logarithm(value: float) -> float:
    """Return Go's math.Log2: exact for powers of two, else through the natural logarithm of the fraction."""
    if not 0 < value < math.inf:
        return _natural(value)
    fraction, exponent = math.frexp(value)
    return exponent - 1.0 if fraction == 0.5 else math.log(fraction) * (1 / math.log(2)) + exponent


def _whole(function: Callable[[float], int]) -> Number1:
    def computed(value: float) -> float:
        return math.copysign(float(function(value)), value) if math.isfinite(value) else value

    return computed


def _sign(value: float) -> float:
    return -1.0 if value < 0 else 1.0 if value > 0 else value


def _atanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) == 1 else _total(math.atanh)(value)


def rounded(value: float, nearest: float) -> float:
    """Return the multiple of `nearest` next to `value`, halves up."""
    inverse = divided(1.0, nearest)
    scaled = value * inverse + 0.5
    whole = float(math.floor(scaled)) if math.isfinite(scaled) else scaled
    return divided(whole, inverse)


ELEMENTWISE: Final[dict[str, Number1]] = {
    "abs": abs,
    "acos": _total(math.acos),
    "acosh": _total(math.acosh),
    "asin": _total(math.asin),
    "asinh": _total(math.asinh),
    "atan": math.atan,
    "atanh": _atanh,
    "ceil": _whole(math.ceil),
    "cos": _total(math.cos),
    "cosh": _total(math.cosh),
    "deg": lambda value: value * 180 / math.pi,
    "exp": _total(math.exp),
    "floor": _whole(math.floor),
    "ln": _natural,
    "log10": lambda value: _natural(value) * _PER_DECADE,
    "log2": _binary_logarithm,
    "rad": lambda value: value * math.pi / 180,
    "sgn": _sign,
    "sin": _total(math.sin),
    "sinh": _total(math.sinh),
    "sqrt": _total(math.sqrt),
    "tan": _total(math.tan),
    "tanh": math.tanh,
}


def _product(left: float, right: float) -> float:
    return left * right


ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": _product,
    "/": divided,
    "%": remainder,
    "^": power,
    "atan2": math.atan2,
}
COMPARING: Final[dict[str, Callable[[float, float], bool]]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def clamped(value: float, low: float, high: float) -> float:
    """Return a value within bounds; NaN if any of the three is."""
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return math.nan
    return max(low, min(high, value))
