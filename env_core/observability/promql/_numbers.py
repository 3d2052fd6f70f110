"""Numbers, durations and quoted strings as Prometheus reads and writes them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from env_core.objects.jsonout import shortest_float
from env_core.objects.problems import quoted as quote

__all__ = [
    "api_number",
    "api_time",
    "divided",
    "duration_text",
    "general",
    "parse_duration_ms",
    "parse_number",
    "plain_number",
    "power",
    "quote",
    "remainder",
]

_UNIT_MS: Final = {
    "y": 365 * 86_400_000,
    "w": 7 * 86_400_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}
_NANOSECONDS_MAX: Final = 1 << 63
_DIGITS: Final = re.compile(r"[0-9]+")
_LETTERS: Final = re.compile(r"[^0-9]+")


def plain_number(value: float) -> str:
    """Return a number as the shortest decimal, never with an exponent."""
    if not math.isfinite(value):
        return shortest_float(value)
    text = repr(value)
    if "e" in text:
        text = format(Decimal(text), "f")
    return text.removesuffix(".0")


def api_number(value: float) -> str:
    """Return a sample value as the HTTP API writes it: with an exponent below 1e-6 and from 1e21 on."""
    if value != 0 and math.isfinite(value) and not 1e-6 <= abs(value) < 1e21:
        return shortest_float(value)
    return plain_number(value)


def api_time(at_ms: int) -> int | float:
    """Return a time in seconds with at most three decimals, whole numbers without any."""
    return at_ms // 1000 if at_ms % 1000 == 0 else at_ms / 1000


def general(value: float) -> str:
    """Return a number as Go's %g prints it."""
    return shortest_float(value)


def divided(left: float, right: float) -> float:
    """Return a quotient as IEEE 754 has it."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder(left: float, right: float) -> float:
    """Return Go's math.Mod."""
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.fmod(left, right)


def power(base: float, exponent: float) -> float:
    """Return Go's math.Pow, which squares and multiplies: its last digit is not always that of C.

    Source: https://pkg.go.dev/math#Pow and its portable implementation.
    """
    if exponent == 0 or base == 1:
        return 1.0
    if exponent == 1:
        return base
    if math.isnan(base) or math.isnan(exponent) or base == 0 or math.isinf(base) or math.isinf(exponent):
        return _extreme_power(base, exponent)
    if abs(exponent) == 0.5:
        root = math.sqrt(base) if base >= 0 else math.nan
        return root if exponent > 0 else divided(1.0, root)
    fraction, whole = math.modf(abs(exponent))
    if fraction and base < 0:
        return math.nan
    if whole >= 2.0**63:
        if base == -1:
            return 1.0
        return 0.0 if (abs(base) < 1) == (exponent > 0) else math.inf
    result, shift = 1.0, 0
    if fraction:
        if fraction > 0.5:
            fraction -= 1
            whole += 1
        result = math.exp(fraction * math.log(base))
    factor, scale = math.frexp(base)
    count = int(whole)
    while count:
        if not -4096 < scale < 4096:
            shift += scale
            break
        if count & 1:
            result *= factor
            shift += scale
        factor *= factor
        scale <<= 1
        if factor < 0.5:
            factor += factor
            scale -= 1
        count >>= 1
    if exponent < 0:
        result, shift = 1 / result, -shift
    try:
        return math.ldexp(result, shift)
    except OverflowError:
        return math.copysign(math.inf, result)


def _extreme_power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):  # zero to a negative exponent
        is_odd = math.isfinite(exponent) and exponent == int(exponent) and int(exponent) % 2 == 1
        return math.copysign(math.inf, base) if is_odd else math.inf


def parse_duration_ms(text: str) -> int:
    """Return a duration such as 1h30m in milliseconds.

    Source: github.com/prometheus/common model.ParseDuration.

    Raises:
        ValueError: with Prometheus's text.
    """
    if text == "0":
        return 0
    if not text:
        raise ValueError("empty duration string")
    invalid = ValueError(f"not a valid duration string: {quote(text)}")
    total, position, last = 0, 0, -1
    units = list(_UNIT_MS)
    while position < len(text):
        digits = _DIGITS.match(text, position)
        if digits is None:
            raise invalid
        amount = int(digits[0])
        letters = _LETTERS.match(text, digits.end())
        if amount >= 1 << 64 or letters is None:
            raise invalid
        unit = letters[0]
        if unit not in _UNIT_MS:
            raise ValueError(f"unknown unit {quote(unit)} in duration {quote(text)}")
        if units.index(unit) <= last:
            raise invalid
        last = units.index(unit)
        total += amount * _UNIT_MS[unit]
        if total * 1_000_000 >= _NANOSECONDS_MAX:
            raise ValueError("duration out of range")
        position = letters.end()
    return total


def duration_text(duration_ms: int) -> str:
    """Return a duration as Prometheus prints it: 1h30m, 90s as 1m30s, whole weeks and years where they are.

    Source: github.com/prometheus/common model.Duration.String.
    """
    if duration_ms == 0:
        return "0s"
    rest, out = duration_ms, []
    for unit, size in _UNIT_MS.items():
        if unit in ("y", "w") and rest % size:
            continue
        if rest >= size:
            out.append(f"{rest // size}{unit}")
            rest %= size
    return "".join(out)


_INTEGER: Final = re.compile(
    r"(?:0[xX]_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0_?[0-7]+(?:_[0-7]+)*|[1-9][0-9]*(?:_[0-9]+)*|0)\Z"
)


def parse_number(text: str) -> float:
    """Return the value of a number literal (Go's integer syntax first, then its floating-point syntax).

    Raises:
        ValueError: with the text of Go's strconv.
    """
    if _INTEGER.match(text):
        digits = text.replace("_", "")
        if digits[:2] in ("0x", "0X"):
            value = int(digits[2:], 16)
        elif len(digits) > 1 and digits[0] == "0":
            value = int(digits, 8)
        else:
            value = int(digits)
        if value < 1 << 63:
            return float(value)
    lower = text.lower()
    if lower in ("inf", "nan"):
        return math.inf if lower == "inf" else math.nan
    refused = ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax")
    if lower.startswith("0x"):
        if "p" not in lower:
            raise refused
        return float.fromhex(lower.replace("_", ""))
    if "_" in text:
        raise refused
    try:
        value_float = float(text)
    except ValueError:
        raise refused from None
    if math.isinf(value_float):
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: value out of range")
    return value_float
