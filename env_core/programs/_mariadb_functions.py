"""Functions of MariaDB's SQL that depend on their arguments alone.

Source: https://mariadb.com/kb/en/built-in-functions/; tests/golden/programs/mariadb (mariadb.diskfull).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from typing import Final, NamedTuple

from env_core.programs._mariadb_errors import TEXT_MAX, Problem, too_much
from env_core.programs._mariadb_types import (
    EXACT,
    Repeated,
    Value,
    compared,
    exact,
    length,
    number,
    text,
    truth,
)

AGGREGATES: Final = ("count", "sum", "avg", "min", "max")
_PLAIN_MAX: Final = 4_096
"""Longer repetitions are kept as such."""
_PACKET: Final = 16 << 20
"""max_allowed_packet: longer texts are NULL, with a warning."""


class Function(NamedTuple):
    """A function: what it does with its values, and how many it takes."""

    run: Callable[[list[Value]], Value]
    least: int = 0
    most: int = 0


def _strict(run: Callable[[list[Value]], Value]) -> Callable[[list[Value]], Value]:
    """Return a function that is NULL when one of its values is."""
    return lambda values: None if None in values else run(values)


def _whole(value: Value) -> int:
    found = number(value)
    assert found is not None
    return max(min(int(found), 1 << 62), -(1 << 62))


def repeated(unit: str, count: int) -> Value:
    """Return a text over and over."""
    total = len(unit) * max(count, 0)
    if total > _PACKET:
        return None
    return unit * max(count, 0) if total <= _PLAIN_MAX else Repeated(unit, count)


def _concatenated(values: list[Value]) -> Value:
    total = sum(map(length, values))
    if total > TEXT_MAX:
        raise too_much(total)
    return "".join(map(text, values))


def _characters(values: list[Value]) -> Value:
    """Do CHAR: each value is a byte, or several of them."""
    found: list[str] = []
    for value in values:
        if value is None:
            continue
        code = _whole(value) & 0xFFFFFFFF
        parts = code.to_bytes(4, "big").lstrip(b"\0") or b"\0"
        found.append(parts.decode("latin-1"))
    return "".join(found)


def _part(values: list[Value]) -> Value:
    source, start = text(values[0]), _whole(values[1])
    if start == 0:
        return ""
    begin = start - 1 if start > 0 else len(source) + start
    if begin < 0:
        return ""
    return source[begin:] if len(values) < 3 else source[begin : begin + max(_whole(values[2]), 0)]


def _left(values: list[Value]) -> Value:
    count, source = max(_whole(values[1]), 0), values[0]
    if isinstance(source, Repeated):
        if count >= source.length:
            return source
        if count > TEXT_MAX:
            raise too_much(count)
        return (source.unit * (count // len(source.unit) + 1))[:count]
    return text(source)[:count]


def _right(values: list[Value]) -> Value:
    count = max(_whole(values[1]), 0)
    return text(values[0])[-count:] if count else ""


def _rounded(values: list[Value]) -> Value:
    found = number(values[0])
    places = max(min(_whole(values[1]), 38), -38) if len(values) > 1 else 0
    assert found is not None
    if isinstance(found, float):
        return float(round(found, places))
    if places > 0:
        # Nothing gets more digits than it had.
        exponent = exact(found).as_tuple().exponent
        places = min(places, max(-exponent, 0) if isinstance(exponent, int) else 0)
    try:
        rounded = exact(found).quantize(Decimal(1).scaleb(-places), context=EXACT)
    except InvalidOperation:
        raise Problem(1690, "DECIMAL value is out of range") from None
    return int(rounded) if places <= 0 else rounded


def _towards(rounding: str) -> Callable[[list[Value]], Value]:
    def run(values: list[Value]) -> Value:
        found = number(values[0])
        assert found is not None
        return (
            found if isinstance(found, int) else int(exact(found).to_integral_value(rounding, context=EXACT))
        )

    return run


def _absolute(values: list[Value]) -> Value:
    found = number(values[0])
    return found if found is None or found >= 0 else -found


def _best(sign: int) -> Callable[[list[Value]], Value]:
    def run(values: list[Value]) -> Value:
        best = values[0]
        for value in values[1:]:
            best = value if compared(value, best) == sign else best
        return best

    return run


def _replaced(values: list[Value]) -> Value:
    source, old, new = map(text, values)
    if old and len(source) + source.count(old) * (len(new) - len(old)) > TEXT_MAX:
        raise too_much(source.count(old) * len(new))
    return source.replace(old, new) if old else source


def _first(values: list[Value]) -> Value:
    return next((value for value in values if value is not None), None)


def _bytes(values: list[Value]) -> Value:
    value = values[0]
    return value.length if isinstance(value, Repeated) else len(text(value).encode())


_MANY: Final = 1_000
FUNCTIONS: Final[dict[str, Function]] = {
    "abs": Function(_absolute, 1, 1), "ceil": Function(_strict(_towards(ROUND_CEILING)), 1, 1),
    "ceiling": Function(_strict(_towards(ROUND_CEILING)), 1, 1), "floor": Function(_strict(_towards(ROUND_FLOOR)), 1, 1),
    "round": Function(_strict(_rounded), 1, 2), "char": Function(_characters, 1, _MANY), "concat": Function(_strict(_concatenated), 1, _MANY),
    "repeat": Function(_strict(lambda values: repeated(text(values[0]), _whole(values[1]))), 2, 2),
    "length": Function(_strict(_bytes), 1, 1), "octet_length": Function(_strict(_bytes), 1, 1),
    "char_length": Function(_strict(lambda values: length(values[0])), 1, 1),
    "upper": Function(_strict(lambda values: text(values[0]).upper()), 1, 1), "ucase": Function(_strict(lambda values: text(values[0]).upper()), 1, 1),
    "lower": Function(_strict(lambda values: text(values[0]).lower()), 1, 1), "lcase": Function(_strict(lambda values: text(values[0]).lower()), 1, 1),
    "trim": Function(_strict(lambda values: text(values[0]).strip(" ")), 1, 1), "reverse": Function(_strict(lambda values: text(values[0])[::-1]), 1, 1),
    "left": Function(_strict(_left), 2, 2), "right": Function(_strict(_right), 2, 2), "substring": Function(_strict(_part), 2, 3),
    "substr": Function(_strict(_part), 2, 3), "mid": Function(_strict(_part), 3, 3), "replace": Function(_strict(_replaced), 3, 3),
    "coalesce": Function(_first, 1, _MANY), "ifnull": Function(_first, 2, 2),
    "if": Function(lambda values: values[1] if truth(values[0]) else values[2], 3, 3),
    "nullif": Function(lambda values: None if compared(values[0], values[1]) == 0 else values[0], 2, 2),
    "greatest": Function(_strict(_best(1)), 2, _MANY), "least": Function(_strict(_best(-1)), 2, _MANY),
}  # fmt: skip
