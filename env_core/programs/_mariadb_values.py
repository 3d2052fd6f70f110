"""Expressions of MariaDB's SQL: what they come to, and what is said of wrong ones.

Source: https://mariadb.com/kb/en/operators/, type-conversion/; tests/golden/programs/mariadb (mariadb.ok, mariadb.diskfull).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from math import fmod, isfinite
from typing import Any, Final, NamedTuple

from env_core.programs._mariadb_errors import Meter, Problem
from env_core.programs._mariadb_functions import AGGREGATES, FUNCTIONS, Function
from env_core.programs._mariadb_syntax import Node
from env_core.programs._mariadb_types import EXACT, Repeated, Value, compared, exact, key, number, text, truth

_NOTHING: Final[Mapping[str, Value]] = {}
_BIG: Final = 1 << 64
_BARE: Final = (
    "current_timestamp",
    "current_user",
    "current_date",
    "localtime",
    "localtimestamp",
    "utc_timestamp",
)
"""Functions that need no brackets."""


class Scope(NamedTuple):
    """What an expression sees: the columns of a row, the server's functions, and its variables."""

    columns: Mapping[str, Value] = _NOTHING
    """By name in lower case, plain and with the table before it."""
    functions: Mapping[str, Function] = {}
    variable: Callable[[str], Value] | None = None
    meter: Meter | None = None
    database: str = ""

    def spend(self, units: int) -> None:
        """Count work."""
        if self.meter is not None:
            self.meter.spend(units)


def column_name(node: Node) -> str:
    """Return the name of a column in a scope."""
    return (f"{node.parts[0].value}.{node.value}" if node.parts else node.value).lower()


def check(node: Node, scope: Scope, clause: str, *, may_count: bool = False) -> None:
    """See whether all names of an expression are known, before there is any row.

    Raises:
        Problem: one is not.
    """
    if node.kind == "column" and column_name(node) not in scope.columns:
        if not node.parts and node.value.lower() in _BARE:
            return
        name = f"{node.parts[0].value}.{node.value}" if node.parts else node.value
        raise Problem(1054, f"Unknown column '{name}' in '{clause}'")
    if node.kind == "variable" and scope.variable is not None:
        scope.variable(node.value)
    if node.kind == "call":
        name = node.value.lower()
        if name in AGGREGATES:
            if not may_count:
                raise Problem(1111, "Invalid use of group function")
            if name != "count" and (len(node.parts) != 1 or node.parts[0].kind == "all"):
                raise Problem(1064, "Invalid use of group function")
            may_count = False
        else:
            _function(node, scope)
    for part in node.parts:
        if node.kind != "column" and part.kind != "all":
            check(part, scope, clause, may_count=may_count)


def _function(node: Node, scope: Scope) -> Function:
    name = node.value.lower()
    function = scope.functions.get(name) or FUNCTIONS.get(name)
    if function is None:
        place = f"{scope.database}.{node.value}" if scope.database else node.value
        raise Problem(1305, f"FUNCTION {place} does not exist")
    if not function.least <= len(node.parts) <= function.most or any(
        part.kind == "all" for part in node.parts
    ):
        raise Problem(1582, f"Incorrect parameter count in the call to native function '{node.value}'")
    return function


def evaluated(node: Node, scope: Scope) -> Value:
    """Return what an expression comes to.

    Raises:
        Problem: it comes to nothing.
    """
    scope.spend(1)
    kind = node.kind
    if kind == "number":
        return literal(node.value)
    if kind == "text":
        return node.value
    if kind in ("null", "default"):
        return None
    if kind in ("true", "false"):
        return int(kind == "true")
    if kind == "column":
        name = column_name(node)
        if name in scope.columns:
            return scope.columns[name]
        return scope.functions[name].run([]) if name in scope.functions else None
    if kind == "variable":
        return None if scope.variable is None else scope.variable(node.value)
    if kind == "call":
        function = _function(node, scope)
        values = [evaluated(part, scope) for part in node.parts]
        scope.spend(sum(len(value) for value in values if isinstance(value, str)) // 64)
        return function.run(values)
    return _operated(node, scope)


def literal(shown: str) -> int | Decimal | float:
    """Return a number as it is written."""
    if shown.isdigit() and len(shown) <= 65:
        return int(shown)
    if "e" in shown.lower() or len(shown) > 65:
        found = float(shown)
        if not isfinite(found):
            raise Problem(1367, f"Illegal double '{shown[:64]}' value found during parsing")
        return found
    return Decimal(shown)


def _operated(node: Node, scope: Scope) -> Value:
    sign = node.value
    if sign in ("and", "or", "xor"):
        return _logical(sign, evaluated(node.parts[0], scope), evaluated(node.parts[1], scope))
    values = [evaluated(part, scope) for part in node.parts]
    first = values[0]
    if sign == "not":
        found = truth(first)
        return None if found is None else int(not found)
    if sign == "is null":
        return int(first is None)
    if sign in ("is true", "is false"):
        return int(truth(first) is (sign == "is true"))
    if sign in ("negative", "positive"):
        one = number(first)
        return None if one is None else -one if sign == "negative" else one
    if sign == "like":
        return None if None in values else int(is_like(text(first), text(values[1]), scope))
    if sign == "between":
        low, high = compared(first, values[1]), compared(first, values[2])
        return None if low is None or high is None else int(low >= 0 >= high)
    if sign == "in":
        found_ = [compared(first, each) for each in values[1:]]
        return 1 if 0 in found_ else None if None in found_ else 0
    if sign == "<=>":
        return (
            int(first is None and values[1] is None)
            if None in values
            else int(compared(first, values[1]) == 0)
        )
    if sign in _COMPARED:
        order = compared(first, values[1])
        return None if order is None else int(order in _COMPARED[sign])
    return _counted(sign, number(first), number(values[1]))


_COMPARED: Final = {
    "=": (0,),
    "<": (-1,),
    ">": (1,),
    "<=": (-1, 0),
    ">=": (0, 1),
    "<>": (-1, 1),
    "!=": (-1, 1),
}


def _logical(sign: str, left: Value, right: Value) -> int | None:
    one, two = truth(left), truth(right)
    if sign == "and":
        return 0 if one is False or two is False else None if one is None or two is None else 1
    if sign == "or":
        return 1 if one or two else None if one is None or two is None else 0
    return None if one is None or two is None else int(one != two)


def _counted(sign: str, left: int | Decimal | float | None, right: int | Decimal | float | None) -> Value:
    if left is None or right is None:
        return None
    if sign in ("/", "%", "div") and right == 0:
        return None
    try:
        if isinstance(left, float) or isinstance(right, float):
            return _in_doubles(sign, float(left), float(right))
        return _exactly(sign, left, right)
    except (OverflowError, InvalidOperation, ArithmeticError):
        raise Problem(
            1690,
            f"{'DOUBLE' if isinstance(left, float) or isinstance(right, float) else 'BIGINT'} value is out of range",
        ) from None


def _in_doubles(sign: str, left: float, right: float) -> Value:
    if sign == "div":
        return int(left / right)
    if sign == "%":
        return fmod(left, right)
    found = (
        left + right
        if sign == "+"
        else left - right
        if sign == "-"
        else left * right
        if sign == "*"
        else left / right
    )
    if not isfinite(found):
        raise OverflowError
    return found


def _exactly(sign: str, left: int | Decimal, right: int | Decimal) -> Value:
    if sign == "/":
        scale = _scale(left) + 4
        return EXACT.divide(exact(left), exact(right)).quantize(Decimal(1).scaleb(-scale), context=EXACT)
    if isinstance(left, int) and isinstance(right, int):
        if sign in ("div", "%"):
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            whole = quotient if sign == "div" else left - right * quotient
        else:
            whole = left + right if sign == "+" else left - right if sign == "-" else left * right
        if not -_BIG < whole < _BIG:
            raise OverflowError
        return whole
    one, two = exact(left), exact(right)
    if sign == "div":
        return int(EXACT.divide_int(one, two))
    if sign == "%":
        return EXACT.remainder(one, two)
    return (
        EXACT.add(one, two)
        if sign == "+"
        else EXACT.subtract(one, two)
        if sign == "-"
        else EXACT.multiply(one, two)
    )


def _scale(value: int | Decimal) -> int:
    exponent = value.as_tuple().exponent if isinstance(value, Decimal) else 0
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def is_like(value: str, pattern: str, scope: Scope | None = None) -> bool:
    """Whether a text fits a pattern with % and _, whatever its case: in at most length by length steps."""
    if scope is not None:
        scope.spend(len(value) * max(pattern.count("%"), 1) // 16)
    value, pieces = value.lower(), _pieces(pattern.lower())
    place = at = 0
    star, star_place = -1, 0
    while place < len(value):
        if at < len(pieces) and pieces[at] == "%%":
            star, star_place = at, place
            at += 1
        elif at < len(pieces) and pieces[at] in ("__", value[place]):
            at += 1
            place += 1
        elif star >= 0:
            star_place += 1
            at, place = star + 1, star_place
        else:
            return False
    return all(piece == "%%" for piece in pieces[at:])


def _pieces(pattern: str) -> list[str]:
    """Return the parts of a pattern: characters, and "%%" and "__" for those that stand for others."""
    found: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and at + 1 < len(pattern):
            at += 1
            found.append(pattern[at])
        elif character == "%":
            if found[-1:] != ["%%"]:
                found.append("%%")
        else:
            found.append("__" if character == "_" else character)
        at += 1
    return found


def has_aggregate(node: Node) -> bool:
    """Whether an expression is about all rows together."""
    return (node.kind == "call" and node.value.lower() in AGGREGATES) or any(
        has_aggregate(part) for part in node.parts
    )


def summed(node: Node, scopes: list[Scope], scope: Scope) -> Node:
    """Return an expression in which what is about all rows has its value."""
    if node.kind == "call" and node.value.lower() in AGGREGATES:
        name = node.value.lower()
        values: list[Value]
        if node.parts and node.parts[0].kind != "all":
            every = [evaluated(node.parts[0], each) for each in scopes]
            values = [value for value in every if value is not None]
        else:
            values = [1] * len(scopes)
        scope.spend(len(values))
        return _constant(_summed(name, values))
    if node.kind == "column":
        return _constant(scopes[0].columns.get(column_name(node)) if scopes else None)
    return node._replace(parts=tuple(summed(part, scopes, scope) for part in node.parts))


def _summed(name: str, values: list[Value]) -> Value:
    if name == "count":
        return len(values)
    if not values:
        return None
    if name in ("min", "max"):
        best = values[0]
        for value in values[1:]:
            if compared(value, best) == (-1 if name == "min" else 1):
                best = value
        return best
    numbers = [found for value in values if (found := number(value)) is not None]
    if any(isinstance(each, float) for each in numbers):
        total = sum(float(each) for each in numbers)
        if not isfinite(total):
            raise Problem(1690, "DOUBLE value is out of range")
        return total if name == "sum" else total / len(numbers)
    whole = sum((exact(each) for each in numbers), Decimal(0))
    if name == "sum":
        return whole
    scale = max(_scale(each) for each in numbers if not isinstance(each, float)) + 4
    return EXACT.divide(whole, Decimal(len(numbers))).quantize(Decimal(1).scaleb(-scale), context=EXACT)


def _constant(value: Value) -> Node:
    if value is None:
        return Node("null", "")
    if isinstance(value, str | Repeated):
        return Node("text", text(value))
    return (
        Node("number", f"{value:f}" if isinstance(value, Decimal) else repr(value))
        if value >= 0
        else Node("operator", "negative", (_constant(-value),))
    )


def order_key(value: Value) -> tuple[int, Any]:
    """Return by what rows are put in order: NULL first, then numbers, then texts whatever their case."""
    if value is None:
        return 0, 0
    if isinstance(value, int | Decimal | float):
        return 1, value
    return 2, value.unit if isinstance(value, Repeated) else key(value)
