"""Kubernetes' resource.Quantity: exact decimal amounts with SI and binary suffixes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from env_core.objects._quantity_text import (
    FORMAT_WRONG,
    NUMBER_WRONG,
    Format,
    QuantityError,
    binary_text,
    decimal_text,
    scale_of,
    take_apart,
)

__all__ = [
    "KILO",
    "MICRO",
    "MILLI",
    "NANO",
    "ZERO",
    "Format",
    "Quantity",
    "QuantityError",
    "canonical",
    "from_milli",
    "from_units",
    "from_value",
    "parse",
    "parse_json",
    "to_bytes",
    "to_milli",
]

NANO: Final = -9
MICRO: Final = -6
MILLI: Final = -3
KILO: Final = 3

_INT64_MAX: Final = 2**63 - 1
_INT64_MIN: Final = -(2**63)
# More digits than this do not surely fit an int64 (apimachinery's maxInt64Factors).
_INT64_DIGITS: Final = 18
_EXPONENT_MAX: Final = 400
_WRAPPING_SHIFTS: Final = frozenset({1, 2, 3, 6, 9})


def _fits(value: int) -> bool:
    return _INT64_MIN <= value <= _INT64_MAX


def _wrapped(value: int) -> int:
    """Return the low 64 bits as a signed number, as Go's big.Int.Int64 does on overflow."""
    low = value & (2**64 - 1)
    return low - 2**64 if low > _INT64_MAX else low


def _divided_away(value: int, divisor: int) -> int:
    """Divide, rounding away from zero."""
    quotient = -(-abs(value) // divisor)
    return -quotient if value < 0 else quotient


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of `unscaled * 10 ** exponent`.

    `is_big` says that Go would hold it as an arbitrary-precision decimal rather than as an int64 with a
    scale; the two round and overflow differently. `text` is the text it was read from where Kubernetes
    keeps that, else None.
    """

    unscaled: int
    exponent: int = 0
    format: Format = Format.DECIMAL_SI
    is_big: bool = False
    text: str | None = None

    def __str__(self) -> str:
        """Return the canonical text."""
        return self.text if self.text is not None else self._canonical()

    def _canonical(self) -> str:
        if self.unscaled == 0:
            return "0"
        format_ = self.format
        if format_ is Format.BINARY_SI:
            whole = self._whole()
            if whole is not None and abs(whole) >= 1024:
                return binary_text(whole)
            # Rounding would lose something, or the number is small: show it as a decimal.
            format_ = Format.DECIMAL_SI
        return decimal_text(self.unscaled, self.exponent, format_)

    def _whole(self) -> int | None:
        if self.exponent >= 0:
            return self.unscaled * int(10**self.exponent)
        quotient, rest = divmod(self.unscaled, 10**-self.exponent)
        return None if rest else quotient

    def is_zero(self) -> bool:
        """Say whether the amount is nothing."""
        return self.unscaled == 0

    def sign(self) -> int:
        """Return -1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def value(self) -> int:
        """Return the amount in whole units, rounded up; 64-bit overflow behaves as in Go."""
        return self.scaled(0)

    def milli_value(self) -> int:
        """Return the amount in thousandths, rounded up."""
        return self.scaled(MILLI)

    def scaled(self, exponent: int) -> int:
        """Return the amount in units of `10 ** exponent`, rounded up.

        Source: apimachinery ScaledValue; int64 amounts round away from zero, and on overflow wrap for the usual
        steps between suffixes and give 0 for the others; big amounts wrap.
        """
        shift = self.exponent - exponent
        if self.is_big:
            return self._scaled_big(shift)
        if shift < 0:
            if -shift > 2 * _INT64_DIGITS + 2:
                return self.sign()
            return _divided_away(self.unscaled, 10**-shift)
        if self.unscaled == 0 or shift > _EXPONENT_MAX:
            return 0
        result = self.unscaled * int(10**shift)
        if _fits(result):
            return result
        return _wrapped(result) if shift in _WRAPPING_SHIFTS else 0

    def _scaled_big(self, shift: int) -> int:
        if shift >= 0:
            # A factor of 2 ** 64 leaves nothing in the low 64 bits.
            return 0 if shift > _EXPONENT_MAX else _wrapped(self.unscaled * int(10**shift))
        divisor = int(10**-shift)
        if self.unscaled < _INT64_MAX and -shift < 19:
            number = _wrapped(self.unscaled)
            quotient = abs(number) // divisor
            quotient = -quotient if number < 0 else quotient
            return quotient + 1 if number % divisor else quotient
        quotient, rest = divmod(self.unscaled, divisor)
        return _wrapped(quotient + 1 if rest else quotient)

    def as_int64(self) -> int | None:
        """Return the amount where Go can give it as an int64 without more ado, else None."""
        if self.is_big or self.exponent < 0 or self.exponent > _INT64_DIGITS:
            return None
        result = self.unscaled * int(10**self.exponent)
        return result if _fits(result) else None

    def as_float(self) -> float:
        """Return the amount as a float, infinite where it is out of range."""
        try:
            power = 10.0**self.exponent
        except OverflowError:
            power = float("inf")
        return float(self.unscaled) * power if self.exponent else float(self.unscaled)

    def rounded_up(self, exponent: int) -> Quantity:
        """Return the amount rounded away from zero to units of `10 ** exponent`."""
        if self.exponent >= exponent:
            return self if not self.is_big else _with_text_dropped(self)
        unscaled = _divided_away(self.unscaled, int(10 ** (exponent - self.exponent)))
        return Quantity(unscaled, exponent, self.format, self.is_big)

    def _aligned(self, other: Quantity) -> tuple[int, int, int]:
        """Return both amounts over one exponent, and that exponent."""
        if self.exponent == other.exponent:
            return self.unscaled, other.unscaled, self.exponent
        exponent = min(self.exponent, other.exponent)
        mine = self.unscaled * int(10 ** (self.exponent - exponent))
        return mine, other.unscaled * int(10 ** (other.exponent - exponent)), exponent

    def compare(self, other: Quantity) -> int:
        """Return -1, 0 or 1 as the amount is less than, equal to or more than the other."""
        mine, theirs, _ = self._aligned(other)
        return (mine > theirs) - (mine < theirs)

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self.compare(other) >= 0

    def equals(self, other: Quantity) -> bool:
        """Say whether both are the same amount, however written (`==` compares the writing too)."""
        return self.compare(other) == 0

    def __add__(self, other: Quantity) -> Quantity:
        """Return the sum; the format is the first operand's, or the other's when the first is zero."""
        return self._combined(other, 1)

    def __sub__(self, other: Quantity) -> Quantity:
        """Return the difference, in the format that a sum would have."""
        return self._combined(other, -1)

    def _combined(self, other: Quantity, sign: int) -> Quantity:
        format_ = other.format if self.unscaled == 0 else self.format
        mine, theirs, exponent = self._aligned(other)
        total = mine + sign * theirs
        is_big = self.is_big or other.is_big or not (_fits(mine) and _fits(theirs) and _fits(total))
        return Quantity(total, exponent, format_, is_big)

    def __mul__(self, factor: int) -> Quantity:
        """Return the amount times a whole number."""
        total = self.unscaled * factor
        return Quantity(total, self.exponent, self.format, self.is_big or not _fits(total))

    def __neg__(self) -> Quantity:
        return Quantity(-self.unscaled, self.exponent, self.format, self.is_big)


def _with_text_dropped(quantity: Quantity) -> Quantity:
    return Quantity(quantity.unscaled, quantity.exponent, quantity.format, quantity.is_big)


ZERO: Final = Quantity(0, text="0")


@lru_cache(maxsize=8192)
def parse(text: str) -> Quantity:
    """Read a quantity.

    Amounts finer than a billionth are rounded up to one; binary amounts stop at 2^63 - 1.

    Source: k8s.io/apimachinery pkg/api/resource ParseQuantity; tests/golden/l0/quantity.

    Raises:
        QuantityError: with Kubernetes' text.
    """
    if not text:
        raise QuantityError(FORMAT_WRONG)
    if text == "0":
        return ZERO
    parts = take_apart(text)
    base, exponent, format_ = scale_of(parts.suffix)
    digits = parts.whole + parts.fraction
    if base == 10:
        is_small = len(digits) <= _INT64_DIGITS
        factor, places = 1, exponent - len(parts.fraction)
    else:
        is_small = not parts.fraction and 15 - len(digits) - exponent * 3 // 10 - 1 >= 0
        factor, places = 2**exponent, 0
    if is_small and places >= NANO and _fits(int(digits) * factor):
        unscaled = int(digits) * factor
        kept = _keeps_text(format_, digits, exponent, places)
        return Quantity(
            unscaled if parts.is_positive else -unscaled, places, format_, text=text if kept else None
        )
    return _parse_big(
        digits, factor, exponent if base == 10 else 0, len(parts.fraction), format_, parts.is_positive
    )


def _keeps_text(format_: Format, digits: str, exponent: int, places: int) -> bool:
    """Say whether Kubernetes takes the text as canonical without rewriting it."""
    if format_ is Format.BINARY_SI:
        return exponent % 10 == 0 and int(digits) & 7 != 0
    return places % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _parse_big(
    digits: str,
    factor: int,
    exponent: int,
    places: int,
    format_: Format,
    is_positive: bool,
) -> Quantity:
    if len(digits) > 4000:
        raise QuantityError(NUMBER_WRONG)
    unscaled = int(digits) * factor
    scale = exponent - places
    if unscaled:
        # Go keeps such amounts with nine places, rounded up.
        if scale < NANO:
            unscaled = _divided_away(unscaled, 10 ** (NANO - scale)) if NANO - scale < 5000 else 1
        else:
            unscaled *= 10 ** (scale - NANO)
        scale = NANO
    if format_ is Format.BINARY_SI:
        one = 10**-scale if scale <= 0 else 1
        if unscaled > _INT64_MAX * one:
            unscaled, scale = _INT64_MAX, 0
        elif 0 < unscaled < one:
            format_ = Format.DECIMAL_SI
    return Quantity(unscaled if is_positive else -unscaled, scale, format_, is_big=True)


def parse_json(text: str) -> Quantity:
    """Read a quantity from its JSON text: a string, a number, or null for nothing.

    Raises:
        QuantityError: with Kubernetes' text.
    """
    if text == "null":
        return Quantity(0)
    if len(text) >= 2 and text[0] == '"' and text[-1] == '"':
        text = text[1:-1]
    return parse(text.strip())


def from_value(value: str | float | None) -> Quantity:
    """Read a quantity from a decoded JSON value; a fraction is taken with its shortest digits.

    Raises:
        QuantityError: with Kubernetes' text.
    """
    if value is None:
        return Quantity(0)
    if isinstance(value, str):
        return parse(value.strip())
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return parse(str(value).lower())


def from_units(value: int, format_: Format = Format.DECIMAL_SI) -> Quantity:
    """Return a whole number of units."""
    return Quantity(value, 0, format_)


def from_milli(value: int, format_: Format = Format.DECIMAL_SI) -> Quantity:
    """Return a number of thousandths."""
    return Quantity(value, MILLI, format_)


@lru_cache(maxsize=8192)
def to_milli(text: str | float) -> int:
    """Return a quantity in thousandths (CPU millicores), rounded up.

    Raises:
        QuantityError: with Kubernetes' text.
    """
    return from_value(text).milli_value()


@lru_cache(maxsize=8192)
def to_bytes(text: str | float) -> int:
    """Return a quantity in whole units (bytes, counts), rounded up.

    Raises:
        QuantityError: with Kubernetes' text.
    """
    return from_value(text).value()


@lru_cache(maxsize=8192)
def canonical(text: str | float) -> str:
    """Return a quantity's text as the API server stores it.

    Raises:
        QuantityError: with Kubernetes' text.
    """
    return str(from_value(text))
