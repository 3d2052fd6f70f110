"""Expressions of SQL: what they come to, of which type they are, and what is said of wrong ones.

Source: https://www.postgresql.org/docs/15/functions.html; tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from env_core.programs._postgres_arithmetic import NO_OPERATOR, counted, is_like, negative, result
from env_core.programs._postgres_bounds import TEXT_MAX, Meter, no_memory
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_syntax import Node
from env_core.programs._postgres_types import (
    BOOLEAN,
    INTEGER,
    NUMBERS,
    TEXT,
    UNKNOWN,
    Typed,
    Value,
    converted,
    full_type,
    is_number,
    literal,
    shown,
)  # fmt: skip

_NO_FUNCTION: Final = (
    "No function matches the given name and argument types. You might need to add explicit type casts."
)


class Function(NamedTuple):
    """A function: what it does with its arguments, of which types these may be, and how many may be left out."""

    run: Callable[[list[Typed]], Typed]
    takes: tuple[str, ...] = ()
    """"text", "number" or "any" for each; after "..." any number of the last one."""

    def fits(self, values: list[Typed]) -> bool:
        """Whether it is one for such arguments."""
        takes = self.takes
        if takes[-1:] == ("...",):
            takes = takes[:-1] + takes[-2:-1] * (len(values) - len(takes) + 1)
        return len(takes) == len(values) and all(map(_is_taken, takes, values))


def _is_taken(kind: str, value: Typed) -> bool:
    if kind == "any" or value.type == UNKNOWN:
        return True
    return is_number(value.type) if kind == "number" else value.type not in (*NUMBERS, BOOLEAN)


class Scope(NamedTuple):
    """What an expression sees: the columns of a row, and functions of the server's."""

    columns: Mapping[str, Typed] = {}
    functions: Mapping[str, Function] = {}
    meter: Meter | None = None

    def spend(self, units: int) -> None:
        """Count work."""
        if self.meter is not None:
            self.meter.spend(units)


def evaluated(node: Node, scope: Scope) -> Typed:
    """Return what an expression comes to.

    Raises:
        Problem: it comes to nothing.
    """
    scope.spend(1)
    if node.kind == "number":
        return literal(node.value, node.at)
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
            return scope.functions[node.value].run([])
        raise Problem(f'column "{node.value}" does not exist', node.at)
    if node.kind == "cast":
        return Typed(converted(evaluated(node.parts[0], scope), node.value, node.at), full_type(node.value))
    if node.kind == "call":
        return _called(node, scope)
    if node.kind == "operator":
        return _operated(node, scope)
    raise Problem(f'syntax error at or near "{node.value}"', node.at)


def truth(node: Node, scope: Scope, what: str) -> bool | None:
    """Return whether a condition holds, None when nobody knows.

    Raises:
        Problem: it is none.
    """
    found = evaluated(node, scope)
    if found.type not in (BOOLEAN, UNKNOWN):
        raise Problem(f"argument of {what} must be type boolean, not type {found.type}", node.at)
    value = converted(found, BOOLEAN, node.at)
    return value if isinstance(value, bool) else None


_BARE: Final = ("current_user", "session_user", "user", "current_database", "current_timestamp")


def _called(node: Node, scope: Scope) -> Typed:
    values = [evaluated(each, scope) for each in node.parts]
    function = scope.functions.get(node.value) or _FUNCTIONS.get(node.value)
    if function is None or not function.fits(values):
        raise unknown_function(node, values)
    found = function.run(values)
    scope.spend(len(found.value) >> 6 if isinstance(found.value, str) else 0)
    return found


def unknown_function(call: Node, values: list[Typed]) -> Problem:
    """Return what is said of a function that is not there for such arguments."""
    kinds = ", ".join(each.type for each in values)
    return Problem(f"function {call.value}({kinds}) does not exist", call.at, hint=_NO_FUNCTION)


def _text(change: Callable[[str], str]) -> Function:
    return Function(
        lambda values: Typed(None if values[0].value is None else change(shown(values[0].value)), TEXT),
        (TEXT,),
    )


def _repeat(values: list[Typed]) -> Typed:
    times = converted(values[1], INTEGER, 0)
    if values[0].value is None or not isinstance(times, int):
        return Typed(None, TEXT)
    text = shown(values[0].value)
    if len(text) * times > TEXT_MAX:
        raise no_memory(len(text) * times)
    return Typed(text * times, TEXT)


def _length(values: list[Typed]) -> Typed:
    return Typed(None if values[0].value is None else len(shown(values[0].value)), INTEGER)


def _coalesced(values: list[Typed]) -> Typed:
    return next((each for each in values if each.value is not None), values[0])


_FUNCTIONS: Final[dict[str, Function]] = {
    "upper": _text(str.upper), "lower": _text(str.lower), "trim": _text(lambda text: text.strip(" ")),
    "length": Function(_length, (TEXT,)), "repeat": Function(_repeat, (TEXT, "number")),
    "coalesce": Function(_coalesced, ("any", "...")),
}  # fmt: skip
_COMPARED: Final = ("=", "<>", "!=", "<", ">", "<=", ">=")


def _is_so(sign: str, left: Value, right: Value) -> bool:
    """Compare two values, neither of them NULL; numbers by size, and all others as texts."""
    if isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal):
        order = (left > right) - (left < right)
    else:
        order = (shown(left) > shown(right)) - (shown(left) < shown(right))
    wanted = {"=": (0,), "<>": (-1, 1), "!=": (-1, 1), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}
    return order in wanted[sign]


def _operated(node: Node, scope: Scope) -> Typed:
    sign = node.value
    if sign in ("and", "or"):
        left_is, right_is = (truth(each, scope, sign.upper()) for each in node.parts)
        return Typed(_both(sign, left_is, right_is), BOOLEAN)
    if sign == "not":
        is_so = truth(node.parts[0], scope, "NOT")
        return Typed(None if is_so is None else not is_so, BOOLEAN)
    left = evaluated(node.parts[0], scope)
    if sign == "is null":
        return Typed(left.value is None, BOOLEAN)
    if sign in ("negative", "positive"):
        return _signed(sign, left, node)
    left, right = _alike(left, evaluated(node.parts[1], scope), node)
    if left.value is None or right.value is None:
        return Typed(None, BOOLEAN if sign in _COMPARED else left.type)
    if sign in _COMPARED:
        return Typed(_is_so(sign, left.value, right.value), BOOLEAN)
    if sign in ("like", "ilike"):
        text, pattern = shown(left.value), shown(right.value)
        scope.spend(len(text) * len(pattern) >> 9)
        return Typed(is_like(text, pattern, is_loose=sign == "ilike"), BOOLEAN)
    if sign == "||":
        joined = shown(left.value) + shown(right.value)
        if len(joined) > TEXT_MAX:
            raise no_memory(len(joined))
        scope.spend(len(joined) >> 6)
        return Typed(joined, TEXT)
    return counted(sign, left, right, node)


def _signed(sign: str, operand: Typed, node: Node) -> Typed:
    value, kind = operand.value, operand.type
    if value is None:
        return operand
    if kind == UNKNOWN:
        value, kind = converted(operand, INTEGER, node.at), INTEGER
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        shown_sign = "-" if sign == "negative" else "+"
        raise Problem(f"operator does not exist: {shown_sign} {kind}", node.at, hint=NO_OPERATOR)
    return result(negative(value) if sign == "negative" else value, kind)


def _both(sign: str, left: bool | None, right: bool | None) -> bool | None:
    decisive = sign == "or"
    if decisive in (left, right):
        return decisive
    return None if left is None or right is None else not decisive


def _alike(left: Typed, right: Typed, node: Node) -> tuple[Typed, Typed]:
    """Return two operands after a literal of no type has taken the other one's."""
    is_text = node.value in ("||", "like", "ilike")
    if is_text:
        return left, right
    if left.type == UNKNOWN and right.type != UNKNOWN:
        return Typed(converted(left, right.type, node.parts[0].at), right.type), right
    if right.type == UNKNOWN and left.type != UNKNOWN:
        return left, Typed(converted(right, left.type, node.parts[1].at), left.type)
    if is_number(left.type) != is_number(right.type) and UNKNOWN not in (left.type, right.type):
        text = f"operator does not exist: {left.type} {node.value} {right.type}"
        raise Problem(text, node.at, hint=NO_OPERATOR)
    return left, right
