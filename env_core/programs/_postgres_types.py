"""Types and values of SQL: how values are read, kept and shown, and what is said of wrong ones.

Source: https://www.postgresql.org/docs/15/datatype.html; postgres 15 src/backend/utils/adt/numutils.c, numeric.c;
tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final, NamedTuple

from env_core.programs._postgres_bounds import DIGITS_MAX
from env_core.programs._postgres_errors import Problem

Value = str | int | float | Decimal | bool | None
INTEGER: Final = "integer"
TEXT: Final = "text"
BOOLEAN: Final = "boolean"
NUMERIC: Final = "numeric"
UNKNOWN: Final = "unknown"
_TYPES: Final = {
    "int": INTEGER, "int4": INTEGER, "integer": INTEGER, "serial": INTEGER, "smallint": "smallint", "int2": "smallint",
    "smallserial": "smallint", "bigint": "bigint", "int8": "bigint", "bigserial": "bigint", "bool": BOOLEAN, "boolean": BOOLEAN,
    "numeric": NUMERIC, "decimal": NUMERIC, "real": "real", "float": "double precision", "varchar": "character varying",
    "char": "character",
}  # fmt: skip
WHOLE: Final = {"smallint": 15, INTEGER: 31, "bigint": 63}
"""Whole numbers by their bits without the sign."""
INEXACT: Final = ("real", "double precision")
NUMBERS: Final = (*WHOLE, NUMERIC, *INEXACT)
EXACT: Final = Context(prec=2 * DIGITS_MAX)


class Typed(NamedTuple):
    """A value and its type."""

    value: Value
    type: str = UNKNOWN


def full_type(name: str) -> str:
    """Return a type's own name."""
    return _TYPES.get(name, name)


def is_number(kind: str) -> bool:
    """Whether values of a type are printed to the right."""
    return kind in NUMBERS


def shown(value: Value) -> str:
    """Return a value as a client prints it; nothing for NULL."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def loaded(value: Value, kind: str) -> Value:
    """Return a value as a table's file keeps it: exact numbers are texts there."""
    return Decimal(value) if kind == NUMERIC and isinstance(value, str) else value


def stored(value: Value) -> Value:
    """Return a value as a table's file keeps it."""
    return str(value) if isinstance(value, Decimal) else value


def converted(typed: Typed, kind: str, at: int) -> Value:
    """Return a value as one of a type.

    Raises:
        Problem: it makes no such value.
    """
    kind, value = full_type(kind), typed.value
    if value is None:
        return None
    if kind in WHOLE:
        return _whole(value, kind, at)
    if kind in NUMBERS:
        return _number(value, kind, at)
    text = shown(value).strip()
    if kind == BOOLEAN and not isinstance(value, bool):
        if text.lower() not in _TRUE + _FALSE:
            raise Problem(f'invalid input syntax for type boolean: "{value}"', at)
        return text.lower() in _TRUE
    return value if kind == BOOLEAN else shown(value)


_TRUE: Final = ("t", "true", "yes", "on", "1")
_FALSE: Final = ("f", "false", "no", "off", "0")


def _whole(value: Value, kind: str, at: int) -> int:
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"[-+]?\d+", text, re.ASCII) is None:
            raise Problem(f'invalid input syntax for type {kind}: "{value}"', at)
        if len(text) > 20 or not fits(int(text), kind):
            raise Problem(f'value "{value}" is out of range for type {kind}', at)
        return int(text)
    if isinstance(value, Decimal):
        value = int(value.to_integral_value(ROUND_HALF_UP, EXACT))
    found = round(value or 0)
    if not fits(found, kind):
        raise Problem(f"{kind} out of range")
    return found


def fits(value: int, kind: str) -> bool:
    return -1 << WHOLE[kind] <= value < 1 << WHOLE[kind]


def _number(value: Value, kind: str, at: int) -> Value:
    text = shown(value).strip()
    read = re.fullmatch(r"[-+]?\d+(?:\.\d+)?(?:e([-+]?\d+))?", text, re.ASCII | re.IGNORECASE)
    if read is None:
        raise Problem(f'invalid input syntax for type {kind}: "{value}"', at)
    found = Decimal(text if len(read[1] or "") < 9 else "1e99999")
    if abs(found.adjusted()) > DIGITS_MAX or len(text) > DIGITS_MAX:
        raise Problem("value overflows numeric format")
    if kind == NUMERIC:
        return found
    if abs(found) > Decimal("1e308"):
        raise Problem(f'"{value}" is out of range for type {kind}', at)
    return float(found)


def literal(text: str, at: int) -> Typed:
    """Return the value of a number in a query, of the smallest type that holds it."""
    if text.isdigit() and len(text) < 20:
        number = int(text)
        kind = next((kind for kind in (INTEGER, "bigint") if fits(number, kind)), NUMERIC)
        if kind != NUMERIC:
            return Typed(number, kind)
    return Typed(_number(text, NUMERIC, at), NUMERIC)
