"""The rules about types and counts that a well-formed expression must obey.

Source: github.com/prometheus/prometheus promql/parser/parse.go (checkAST), in its order.
"""

from __future__ import annotations

from env_core.observability.promql._errors import ParseError
from env_core.observability.promql._labels import NAME
from env_core.observability.promql._nodes import (
    COMPARISONS,
    DOCUMENTED,
    SCALAR,
    SET_OPERATORS,
    STRING,
    VECTOR,
    Aggregate,
    Binary,
    Call,
    Expr,
    MatrixSelector,
    Number,
    Paren,
    String,
    Subquery,
    Unary,
    VectorSelector,
)
from env_core.observability.promql._numbers import quote
from env_core.observability.promql._signatures import FUNCTIONS

_OPERAND_TYPES = (SCALAR, VECTOR)


def check(query: str, expr: Expr) -> None:
    """Check a whole expression.

    Raises:
        ParseError: for the first rule that it breaks.
    """
    _Checker(query).expression(expr)


def check_matchers(query: str, selector: VectorSelector) -> None:
    """Check that a selector does not name its metric twice.

    Raises:
        ParseError: if it does.
    """
    for matcher in selector.matchers[:-1] if selector.name else ():
        if matcher.name == NAME:
            text = f"metric name must not be set twice: {quote(selector.name)} or {quote(matcher.value)}"
            raise ParseError(query, selector.span.start, text)


class _Checker:
    def __init__(self, query: str) -> None:
        self._query = query

    def _fail(self, position: int, problem: str) -> ParseError:
        return ParseError(self._query, position, problem)

    def _expect(self, expr: Expr, wanted: str, context: str) -> None:
        self.expression(expr)
        if expr.type != wanted:
            raise self._fail(
                expr.span.start,
                f"expected type {DOCUMENTED[wanted]} in {context}, got {DOCUMENTED[expr.type]}",
            )

    def expression(self, expr: Expr) -> None:
        """Check an expression and all in it."""
        if isinstance(expr, (Number, String)):
            return
        if isinstance(expr, VectorSelector):
            self._selector(expr)
        elif isinstance(expr, MatrixSelector):
            self._selector(expr.selector)
        elif isinstance(expr, Call):
            self._call(expr)
        elif isinstance(expr, Aggregate):
            self._aggregate(expr)
        elif isinstance(expr, Binary):
            self._binary(expr)
        else:
            self.expression(expr.expr)
            self._wrapped(expr)

    def _wrapped(self, expr: Paren | Unary | Subquery) -> None:
        inner = expr.expr.type
        if isinstance(expr, Unary) and inner not in _OPERAND_TYPES:
            text = "unary expression only allowed on expressions of type scalar or instant vector, got "
            raise self._fail(expr.span.start, text + quote(DOCUMENTED[inner]))
        if isinstance(expr, Subquery) and inner != VECTOR:
            text = f"subquery is only allowed on instant vector, got {inner} instead"
            raise self._fail(expr.span.start, text)

    def _selector(self, selector: VectorSelector) -> None:
        check_matchers(self._query, selector)
        if not selector.name and all(matcher.matches("") for matcher in selector.matchers):
            text = "vector selector must contain at least one non-empty matcher"
            raise self._fail(selector.span.start, text)

    def _aggregate(self, expr: Aggregate) -> None:
        self._expect(expr.expr, VECTOR, "aggregation expression")
        if expr.parameter is not None:
            wanted = STRING if expr.op == "count_values" else SCALAR
            self._expect(expr.parameter, wanted, "aggregation parameter")

    def _call(self, expr: Call) -> None:
        args, _, variadic, _ = signature = FUNCTIONS[expr.name]
        wanted, got = len(args), len(expr.args)
        call = f"argument(s) in call to {quote(expr.name)}, got {got}"
        if not variadic:
            if got != wanted:
                raise self._fail(expr.span.start, f"expected {wanted} {call}")
        elif got < wanted - 1:
            raise self._fail(expr.span.start, f"expected at least {wanted - 1} {call}")
        elif 0 < variadic < got - (wanted - 1):
            raise self._fail(expr.span.start, f"expected at most {wanted - 1 + variadic} {call}")
        for index, arg in enumerate(expr.args):
            self._expect(arg, signature.args[min(index, wanted - 1)], f"call to function {quote(expr.name)}")

    def _operator_place(self, expr: Binary) -> int:
        position = expr.left.span.end
        while self._query[position : position + 1].isspace():
            position += 1
        return position

    def _binary(self, expr: Binary) -> None:
        left, right = expr.left, expr.right
        self.expression(left)
        self.expression(right)
        is_comparison = expr.op in COMPARISONS
        if expr.returns_bool and not is_comparison:
            text = "bool modifier can only be used on comparison operators"
            raise self._fail(self._operator_place(expr), text)
        if is_comparison and not expr.returns_bool and left.type == right.type == SCALAR:
            text = "comparisons between scalars must use BOOL modifier"
            raise self._fail(self._operator_place(expr), text)
        matching = expr.matching
        for label in matching.labels if matching.is_on else ():
            if label in matching.include:
                text = f"label {quote(label)} must not occur in ON and GROUP clause at once"
                raise self._fail(self._operator_place(expr), text)
        for side in (left, right):
            if side.type not in _OPERAND_TYPES:
                text = "binary expression must contain only scalar and instant vector types"
                raise self._fail(side.span.start, text)
        start = expr.span.start
        if not left.type == right.type == VECTOR:
            if matching.labels:
                raise self._fail(start, "vector matching only allowed between instant vectors")
            if expr.op in SET_OPERATORS:
                text = f"set operator {quote(expr.op)} not allowed in binary scalar expression"
                raise self._fail(start, text)
        elif expr.op in SET_OPERATORS and matching.card in ("n:1", "1:n"):
            raise self._fail(start, f"no grouping allowed for {quote(expr.op)} operation")
