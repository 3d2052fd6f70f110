"""Values and expressions of SQL: what they come to, of which type they are, and what is said of wrong ones.

Source: https://www.postgresql.org/docs/15/functions.html; tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_syntax import Node

Value = str | int | float | bool | None
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
_WHOLE: Final = (INTEGER, "smallint", "bigint")
_NUMBERS: Final = (*_WHOLE, NUMERIC, "real", "double precision")
_NO_FUNCTION: Final = (
    "No function matches the given name and argument types. You might need to add explicit type casts."
)


class Typed(NamedTuple):
    """A value and its type."""

    value: Value
    type: str = UNKNOWN


class Scope(NamedTuple):
    """What an expression sees: the columns of a row, and functions of the server's."""

    columns: Mapping[str, Typed] = {}
    functions: Mapping[str, Callable[[list[Typed]], Typed]] = {}


def full_type(name: str) -> str:
    """Return a type's own name."""
    return _TYPES.get(name, name)


def is_number(kind: str) -> bool:
    """Whether values of a type are printed to the right."""
    return kind in _NUMBERS


def shown(value: Value) -> str:
    """Return a value as a client prints it; nothing for NULL."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    return str(value)


def converted(typed: Typed, kind: str, at: int) -> Value:
    """Return a value as one of a type.

    Raises:
        Problem: it makes no such value.
    """
    kind, value = full_type(kind), typed.value
    if value is None:
        return None
    text = shown(value).strip()
    if kind in _WHOLE:
        if isinstance(value, float):
            return round(value)
        if re.fullmatch(r"[-+]?\d+", text) is None:
            raise Problem(f'invalid input syntax for type {kind}: "{value}"', at)
        if kind == INTEGER and not -(1 << 31) <= int(text) < 1 << 31:
            raise Problem(f'value "{value}" is out of range for type integer', at)
        return int(text)
    if kind in _NUMBERS:
        if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", text) is None:
            raise Problem(f'invalid input syntax for type {kind}: "{value}"', at)
        return float(text) if "." in text else int(text)
    if kind == BOOLEAN and not isinstance(value, bool):
        if text.lower() not in _TRUE + _FALSE:
            raise Problem(f'invalid input syntax for type boolean: "{value}"', at)
        return text.lower() in _TRUE
    return value if kind == BOOLEAN else shown(value)


_TRUE: Final = ("t", "true", "yes", "on", "1")
_FALSE: Final = ("f", "false", "no", "off", "0")


def evaluated(node: Node, scope: Scope) -> Typed:
    """Return what an expression comes to.

    Raises:
        Problem: it comes to nothing.
    """
    if node.kind == "number":
        return Typed(float(node.value), NUMERIC) if "." in node.value else Typed(int(node.value), INTEGER)
    if node.kind == "text":
        return Typed(node.value)
    if node.kind == "null":
        return Typed(None)
    if node.kind in ("true", "false"):
        return Typed(node.kind == "true", BOOLEAN)
    if node.kind == "column":
        found = scope.columns.get(node.value)
        if found is not None:
            return found
        if node.value in _BARE and node.value in scope.functions:
            return scope.functions[node.value]([])
        raise Problem(f'column "{node.value}" does not exist', node.at)
    if node.kind == "cast":
        return Typed(converted(evaluated(node.parts[0], scope), node.value, node.at), full_type(node.value))
    if node.kind == "call":
        return _called(node, scope)
    if node.kind == "operator":
        return _operated(node, scope)
    raise Problem(f'syntax error at or near "{node.value}"', node.at)


_BARE: Final = ("current_user", "session_user", "user", "current_database", "current_timestamp")


def _called(node: Node, scope: Scope) -> Typed:
    values = [evaluated(each, scope) for each in node.parts]
    function = scope.functions.get(node.value) or _FUNCTIONS.get(node.value)
    if function is None:
        kinds = ", ".join(each.type for each in values)
        raise Problem(f"function {node.value}({kinds}) does not exist", node.at, hint=_NO_FUNCTION)
    return function(values)


def _text(change: Callable[[str], str]) -> Callable[[list[Typed]], Typed]:
    return lambda values: Typed(None if values[0].value is None else change(shown(values[0].value)), TEXT)


_FUNCTIONS: Final[dict[str, Callable[[list[Typed]], Typed]]] = {
    "upper": _text(str.upper), "lower": _text(str.lower), "trim": _text(str.strip),
    "length": lambda values: Typed(None if values[0].value is None else len(shown(values[0].value)), INTEGER),
    "repeat": lambda values: Typed(shown(values[0].value) * int(values[1].value or 0), TEXT),
    "coalesce": lambda values: next((each for each in values if each.value is not None), Typed(None)),
}  # fmt: skip
_COMPARED: Final = ("=", "<>", "!=", "<", ">", "<=", ">=")


def _is_so(sign: str, left: Value, right: Value) -> bool:
    """Compare two values, neither of them NULL; numbers by size, and all others as texts."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        order = (left > right) - (left < right)
    else:
        order = (shown(left) > shown(right)) - (shown(left) < shown(right))
    wanted = {"=": (0,), "<>": (-1, 1), "!=": (-1, 1), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}
    return order in wanted[sign]


def _operated(node: Node, scope: Scope) -> Typed:
    sign = node.value
    left = evaluated(node.parts[0], scope)
    if sign in ("not", "is null", "negative", "positive"):
        return _of_one(sign, left, node)
    right = evaluated(node.parts[1], scope)
    if sign in ("and", "or"):
        return Typed(_both(sign, left.value, right.value), BOOLEAN)
    left, right = _alike(left, right, node)
    if left.value is None or right.value is None:
        return Typed(None, BOOLEAN if sign in _COMPARED else left.type)
    if sign in _COMPARED:
        return Typed(_is_so(sign, left.value, right.value), BOOLEAN)
    if sign in ("like", "ilike"):
        return Typed(_is_like(shown(left.value), shown(right.value), is_loose=sign == "ilike"), BOOLEAN)
    if sign == "||":
        return Typed(shown(left.value) + shown(right.value), TEXT)
    return _counted(sign, left, right, node)


def _of_one(sign: str, operand: Typed, node: Node) -> Typed:
    value = operand.value
    if sign == "is null":
        return Typed(value is None, BOOLEAN)
    if value is None:
        return operand
    if sign == "not":
        return Typed(not value, BOOLEAN)
    if isinstance(value, str):
        value = converted(operand, INTEGER, node.at)
    return Typed(-value if sign == "negative" and isinstance(value, int | float) else value, operand.type)


def _both(sign: str, left: Value, right: Value) -> bool | None:
    decisive = sign == "or"
    if decisive in (left, right):
        return decisive
    return None if left is None or right is None else not decisive


def _alike(left: Typed, right: Typed, node: Node) -> tuple[Typed, Typed]:
    """Return two operands after a literal of no type has taken the other one's."""
    if left.type == UNKNOWN and right.type != UNKNOWN:
        return Typed(converted(left, right.type, node.parts[0].at), right.type), right
    if right.type == UNKNOWN and left.type != UNKNOWN:
        return left, Typed(converted(right, left.type, node.parts[1].at), left.type)
    is_mixed = is_number(left.type) != is_number(right.type) and UNKNOWN not in (left.type, right.type)
    if is_mixed and node.value not in ("||", "like", "ilike"):
        raise Problem(
            f"operator does not exist: {left.type} {node.value} {right.type}", node.at,
            hint="No operator matches the given name and argument types. You might need to add explicit type casts.",
        )  # fmt: skip
    return left, right


def _is_like(text: str, pattern: str, *, is_loose: bool) -> bool:
    parts = {"%": ".*", "_": "."}
    regex = "".join(parts.get(char) or re.escape(char) for char in pattern)
    return re.fullmatch(regex, text, re.DOTALL | (re.IGNORECASE if is_loose else 0)) is not None


def _counted(sign: str, left: Typed, right: Typed, node: Node) -> Typed:
    first, second = left.value, right.value
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        raise Problem(f"operator does not exist: {left.type} {sign} {right.type}", node.at)
    kind = left.type if left.type not in _WHOLE else right.type
    if sign in ("/", "%") and not second:
        raise Problem("division by zero")
    if sign == "+":
        return Typed(first + second, kind)
    if sign == "-":
        return Typed(first - second, kind)
    if sign == "*":
        return Typed(first * second, kind)
    if kind not in _WHOLE:
        return Typed(first / second if sign == "/" else first % second, kind)
    quotient = abs(int(first)) // abs(int(second)) * (1 if (first < 0) == (second < 0) else -1)
    return Typed(quotient if sign == "/" else int(first) - int(second) * quotient, kind)
