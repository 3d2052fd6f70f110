"""The syntax tree that `/api/v1/parse_query` answers with.

Source: github.com/prometheus/prometheus web/api/v1/translate_ast.go.
"""

from __future__ import annotations

from typing import Any

from env_core.observability.promql import Expr
from env_core.observability.promql._nodes import (
    VECTOR,
    Aggregate,
    Binary,
    Call,
    Duration,
    DurationExpr,
    MatrixSelector,
    Moment,
    Number,
    Paren,
    String,
    Subquery,
    Unary,
    VectorSelector,
)
from env_core.observability.promql._numbers import plain_number
from env_core.observability.promql._signatures import FUNCTIONS

_CARDS = {"1:1": "one-to-one", "n:1": "many-to-one", "1:n": "one-to-many", "n:n": "many-to-many"}


def tree_of(expr: Expr | None) -> Any:
    """Return an expression as JSON-shaped data."""
    if expr is None:
        return None
    if isinstance(expr, Number):
        return {"type": "numberLiteral", "val": plain_number(expr.value)}
    if isinstance(expr, String):
        return {"type": "stringLiteral", "val": expr.value}
    if isinstance(expr, Paren):
        return {"type": "parenExpr", "expr": tree_of(expr.expr)}
    if isinstance(expr, Unary):
        return {"type": "unaryExpr", "op": expr.op, "expr": tree_of(expr.expr)}
    if isinstance(expr, VectorSelector):
        return {"type": "vectorSelector", **_selector(expr)}
    if isinstance(expr, MatrixSelector):
        return {"type": "matrixSelector", **_selector(expr.selector), **_length("range", expr.range)}
    if isinstance(expr, Subquery):
        step = {"step": 0, "stepExpr": None} if expr.step is None else _length("step", expr.step)
        return {
            "type": "subquery",
            "expr": tree_of(expr.expr),
            **_length("range", expr.range),
            **step,
            **_moment(expr.moment),
        }
    if isinstance(expr, Binary):
        return _binary(expr)
    if isinstance(expr, Call):
        return _call(expr)
    return _aggregate(expr)


def _aggregate(expr: Aggregate) -> Any:
    return {
        "type": "aggregation",
        "op": expr.op,
        "expr": tree_of(expr.expr),
        "param": tree_of(expr.parameter),
        "grouping": list(expr.grouping),
        "without": expr.is_without,
    }


def _binary(expr: Binary) -> Any:
    matching = None
    if expr.left.type == expr.right.type == VECTOR:
        matching = {
            "card": _CARDS[expr.matching.card],
            "labels": list(expr.matching.labels),
            "on": expr.matching.is_on,
            "include": list(expr.matching.include),
            "fillValues": {"lhs": None, "rhs": None},
        }
    return {
        "type": "binaryExpr",
        "op": expr.op,
        "lhs": tree_of(expr.left),
        "rhs": tree_of(expr.right),
        "matching": matching,
        "bool": expr.returns_bool,
    }


def _call(expr: Call) -> Any:
    signature = FUNCTIONS[expr.name]
    return {
        "type": "call",
        "func": {
            "name": expr.name,
            "argTypes": list(signature.args),
            "variadic": signature.variadic,
            "returnType": signature.returns,
        },
        "args": [tree_of(arg) for arg in expr.args],
    }


def _selector(selector: VectorSelector) -> dict[str, Any]:
    return {
        "name": selector.name,
        "matchers": [
            {"name": each.name, "value": each.value, "type": each.operator} for each in selector.matchers
        ],
        "anchored": selector.extension == "anchored",
        "smoothed": selector.extension == "smoothed",
        **_moment(selector.moment),
    }


def _moment(moment: Moment) -> dict[str, Any]:
    offset = {"offset": 0, "offsetExpr": None} if moment.offset is None else _length("offset", moment.offset)
    return {**offset, "timestamp": moment.at_ms, "startOrEnd": moment.at_edge or None}


def _length(name: str, duration: Duration) -> dict[str, Any]:
    if isinstance(duration, Number):
        return {name: round(duration.value * 1000), f"{name}Expr": None}
    return {name: 0, f"{name}Expr": _arithmetic(duration)}


def _arithmetic(duration: Duration | None) -> Any:
    if duration is None:
        return None
    if isinstance(duration, DurationExpr):
        return {
            "type": "durationExpr",
            "op": duration.op,
            "lhs": _arithmetic(duration.left),
            "rhs": _arithmetic(duration.right),
            "wrapped": duration.is_wrapped,
        }
    return {"type": "numberLiteral", "val": plain_number(duration.value), "duration": duration.is_duration}
