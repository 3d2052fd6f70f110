"""Reading and writing the text of a quantity: sign, digits, suffix, and the canonical suffix choice."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

FORMAT_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
SUFFIX_WRONG: Final = "unable to parse quantity's suffix"
NUMBER_WRONG: Final = "unable to parse numeric part of quantity"


class Format(Enum):
    """How a quantity wants to be written."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class QuantityError(ValueError):
    """The text is no quantity; the message is Kubernetes' own."""


class Parts(NamedTuple):
    """A quantity's text, taken apart; `value` is the number as written, sign and all."""

    is_positive: bool
    value: str
    whole: str
    fraction: str
    suffix: str


class Scale(NamedTuple):
    """What a suffix multiplies with: `base ** exponent`."""

    base: int
    exponent: int
    format: Format


_DECIMAL_SUFFIXES: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIX_OF: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIX_OF: Final = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}
_SIGN_AND_ZEROES: Final = re.compile(r"([+-]?)(0*)")
_BODY: Final = re.compile(r"([0-9]*)(\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)")
_EXPONENT: Final = re.compile(r"[+-]?[0-9]+")


def take_apart(text: str) -> Parts:
    """Split a quantity's text.

    Leading zeroes are left out of `whole`; a text of nothing but sign and zeroes is "0".

    Source: k8s.io/apimachinery pkg/api/resource parseQuantityString; tests/golden/l0/quantity.

    Raises:
        QuantityError: if something follows that is no suffix.
    """
    lead = _SIGN_AND_ZEROES.match(text)
    assert lead is not None, "the pattern matches the empty text"
    is_positive = lead[1] != "-"
    start = lead.end()
    if start == len(text):
        return Parts(is_positive, "0", "0", "", "")
    body = _BODY.match(text, start)
    assert body is not None, "the pattern matches the empty text"
    if body.end() != len(text):
        raise QuantityError(FORMAT_WRONG)
    fraction = (body[2] or "")[1:]
    value = text[: body.start(3)]
    return Parts(is_positive, value, body[1] or "0", fraction, body[3])


def scale_of(suffix: str) -> Scale:
    """Return what a suffix stands for.

    Raises:
        QuantityError: if there is no such suffix.
    """
    if suffix in _DECIMAL_SUFFIXES:
        return Scale(10, _DECIMAL_SUFFIXES[suffix], Format.DECIMAL_SI)
    if suffix in _BINARY_SUFFIXES:
        return Scale(2, _BINARY_SUFFIXES[suffix], Format.BINARY_SI)
    if len(suffix) > 1 and suffix[0] in "eE" and _EXPONENT.fullmatch(suffix, 1):
        exponent = int(suffix[1:10])
        if len(suffix) > 10 or abs(exponent) >= 100_000:
            # Go would take up to int32; numbers of that size only serve to exhaust memory.
            raise QuantityError(SUFFIX_WRONG)
        return Scale(10, exponent, Format.DECIMAL_EXPONENT)
    raise QuantityError(SUFFIX_WRONG)


def decimal_text(unscaled: int, exponent: int, format_: Format) -> str:
    """Return `unscaled * 10 ** exponent` with the largest suffix that needs no fraction."""
    while unscaled % 10 == 0:
        unscaled //= 10
        exponent += 1
    surplus = exponent % 3
    unscaled *= 10**surplus
    exponent -= surplus
    if format_ is Format.DECIMAL_SI and exponent in _SUFFIX_OF:
        return f"{unscaled}{_SUFFIX_OF[exponent]}"
    return f"{unscaled}e{exponent}" if exponent else str(unscaled)


def binary_text(value: int) -> str:
    """Return a whole number with the largest power-of-1024 suffix that needs no fraction."""
    exponent = 0
    while value % 1024 == 0:
        value //= 1024
        exponent += 10
    return f"{value}{_BINARY_SUFFIX_OF.get(exponent, '')}"
