"""Expressions from text, and the errors of those that are none.

A hand-written parser that reads words as late as the generated one does (so that the first of several errors is the same)
and knows in which construct it is, for "unexpected … in …".

Source: github.com/prometheus/prometheus promql/parser/generated_parser.y and parse.go; texts recorded in
tests/golden/promql.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Final

from env_core.objects.re2 import Re2Error, compiled
from env_core.observability.promql import _lexer as lexer
from env_core.observability.promql._checking import check, check_matchers
from env_core.observability.promql._durations import DurationParser
from env_core.observability.promql._errors import ParseError
from env_core.observability.promql._labels import NAME
from env_core.observability.promql._lexer import Token
from env_core.observability.promql._nodes import (
    SCALAR,
    SET_OPERATORS,
    VECTOR,
    WITH_PARAMETER,
    Aggregate,
    Binary,
    Call,
    Expr,
    Matcher,
    Matching,
    MatrixSelector,
    Moment,
    Number,
    Paren,
    Span,
    String,
    Subquery,
    Unary,
    VectorSelector,
)
from env_core.observability.promql._numbers import quote
from env_core.observability.promql._signatures import FUNCTIONS

_LEVELS: Final = {
    "or": 1,
    **dict.fromkeys(("and", "unless"), 2),
    **dict.fromkeys(("==", "!=", "<=", "<", ">=", ">", "</", ">/"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%", "atan2"), 5),
    "^": 6,
}
_UNARY_LEVEL: Final = 5
_DEPTH_MAX: Final = 120
"""Ours: Prometheus's stack is its own, Python's is not."""

_METRIC_WORDS: Final = (
    lexer.AGGREGATORS
    | lexer.PREPROCESSORS
    | frozenset(
        (
            "and",
            "or",
            "unless",
            "offset",
            "by",
            "without",
            "anchored",
            "smoothed",
            "fill",
            "fill_left",
            "fill_right",
        )
    )
    | {lexer.IDENTIFIER, lexer.METRIC_IDENTIFIER}
)
_LABEL_WORDS: Final = (lexer.WORDS - {"without"}) | {lexer.IDENTIFIER, lexer.METRIC_IDENTIFIER}
_RANGE_EXPECTED: Final = "number, duration, step(), or range()"


@lru_cache(maxsize=1024)
def parse(query: str) -> Expr:
    """Return the checked syntax tree of a query.

    Raises:
        ParseError: with Prometheus's text.
    """
    parser = _Parser(query)
    expr = parser.whole()
    check(query, expr)
    return expr


@lru_cache(maxsize=1024)
def parse_selector(text: str) -> VectorSelector:
    """Return a selector of series, as `match[]` parameters have it.

    Raises:
        ParseError: with Prometheus's text.
    """
    return _Parser(text).whole_selector()


class _Parser(DurationParser):
    def __init__(self, query: str) -> None:
        super().__init__(query)
        self._depth = 0

    def whole(self) -> Expr:
        """Return the expression that is the whole query."""
        if self.peek().kind == lexer.EOF:
            raise ParseError(self.query, 0, "no expression found in input")
        expr = self.expression(0)
        if self.peek().kind != lexer.EOF:
            raise self.unexpected()
        return expr

    def whole_selector(self) -> VectorSelector:
        """Return the selector that is the whole text."""
        if self.peek().kind not in _METRIC_WORDS and self.peek().kind != "{":
            raise self.unexpected()
        selector = self._selector(self.take())
        if self.peek().kind != lexer.EOF:
            raise self.unexpected()
        check_matchers(self.query, selector)
        return selector

    # Expressions

    def expression(self, level: int) -> Expr:
        """Return an expression whose binary operators bind at least as strongly as `level`."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise ParseError(self.query, self.peek().position, "expression nests too deeply")
        left = self._operand()
        while True:
            token = self.peek()
            own = _LEVELS.get(token.kind)
            if own is None or own < level:
                self._depth -= 1
                return left
            left = self._binary(left, self.take(), own)

    def _binary(self, left: Expr, operator: Token, level: int) -> Expr:
        returns_bool = self.peek().kind == "bool"
        if returns_bool:
            self.take()
        matching, has_fill = self._matching()
        right = self.expression(level if operator.kind == "^" else level + 1)
        span = Span(left.span.start, right.span.end)
        if has_fill:
            raise ParseError(self.query, span.start, "binop fill modifiers are experimental and not enabled")
        both_scalar = left.type == right.type == SCALAR
        if operator.kind in SET_OPERATORS and matching.card == "1:1":
            matching = replace(matching, card="n:n")
        return Binary(
            op=operator.kind, left=left, right=right, returns_bool=returns_bool, matching=matching, span=span,
            type=SCALAR if both_scalar else VECTOR,
        )  # fmt: skip

    def _matching(self) -> tuple[Matching, bool]:
        matching = Matching()
        if self.peek().kind in ("on", "ignoring"):
            is_on = self.take().kind == "on"
            matching = Matching(is_on=is_on, labels=self._grouping())
            if self.peek().kind in ("group_left", "group_right"):
                card = "n:1" if self.take().kind == "group_left" else "1:n"
                starts_operand = self.peek().kind != "(" and (
                    self.peek().kind in _METRIC_WORDS or self.peek().kind in _OPERAND_STARTS
                )
                include = () if starts_operand else self._grouping()
                matching = replace(matching, card=card, include=include)
        has_fill = False
        while self.peek().kind in ("fill", "fill_left", "fill_right"):
            has_fill = True
            self.take()
            self.expect("(")
            if self.peek().kind in ("+", "-"):
                self.take()
            if self.peek().kind not in (lexer.NUMBER, lexer.DURATION):
                raise self.unexpected()
            self.number(self.take())
            self.expect(")")
        return matching, has_fill

    def _operand(self) -> Expr:
        token = self.peek()
        if token.kind in ("+", "-"):
            self.take()
            inner = self.expression(_UNARY_LEVEL + 1)
            return _signed(token, inner)
        expr = self._primary(self.take())
        while True:
            kind = self.peek().kind
            if kind == "[":
                expr = self._range(expr, self.take())
            elif kind == "offset":
                self.take()
                expr = self._offset(expr)
            elif kind == "@":
                self.take()
                expr = self._at(expr)
            elif kind in ("anchored", "smoothed"):
                expr = self._extended(expr, self.take())
            else:
                return expr

    def _primary(self, token: Token) -> Expr:
        kind = token.kind
        if kind in (lexer.NUMBER, lexer.DURATION):
            return self.number(token)
        if kind == lexer.STRING:
            return String(value=self.unquoted(token), span=Span(token.position, token.end))
        if kind == "(":
            inner = self.expression(0)
            closing = self.expect(")")
            return Paren(expr=inner, span=Span(token.position, closing.end), type=inner.type)
        if kind == "{":
            return self._selector(token)
        if kind in lexer.AGGREGATORS and self.peek().kind in ("(", "by", "without"):
            return self.inside("aggregation", "", lambda: self._aggregate(token))
        if (kind == lexer.IDENTIFIER or kind in lexer.PREPROCESSORS) and self.peek().kind == "(":
            return self._call(token)
        if kind in _METRIC_WORDS:
            return self._selector(token)
        raise self.unexpected(token)

    # Aggregations and calls

    def _aggregate(self, op: Token) -> Expr:
        grouping: tuple[str, ...] = ()
        is_without = has_grouping = False
        if self.peek().kind in ("by", "without"):
            has_grouping, is_without = True, self.take().kind == "without"
            grouping = self._grouping()
        args, end = self._arguments()
        if not has_grouping and self.peek_after(op).kind in ("by", "without"):
            is_without = self.take().kind == "without"
            grouping = self._grouping()
            end = self.last_end
        if not args:
            raise ParseError(self.query, op.position, "no arguments for aggregate expression provided")
        if op.kind in ("limitk", "limit_ratio"):
            raise ParseError(
                self.query,
                op.position,
                f"{op.kind}() is experimental and must be enabled with --enable-feature=promql-experimental-functions",
            )
        wanted = 2 if op.kind in WITH_PARAMETER else 1
        if len(args) != wanted:
            raise ParseError(
                self.query,
                op.position,
                "wrong number of arguments for aggregate expression provided, "
                f"expected {wanted}, got {len(args)}",
            )
        return Aggregate(
            op=op.kind, expr=args[-1], parameter=args[0] if wanted == 2 else None, grouping=grouping,
            is_without=is_without, span=Span(op.position, end),
        )  # fmt: skip

    def peek_after(self, _op: Token) -> Token:
        """Return the word after an aggregation's arguments; an error there is not the aggregation's."""
        return self.outside(self.peek)

    def _call(self, name: Token) -> Expr:
        args, end = self._arguments()
        signature = FUNCTIONS.get(name.text)
        if signature is None:
            raise ParseError(self.query, name.position, f"unknown function with name {quote(name.text)}")
        if signature.is_experimental:
            raise ParseError(self.query, name.position, f"function {quote(name.text)} is not enabled")
        return Call(name=name.text, args=args, span=Span(name.position, end), type=signature.returns)

    def _arguments(self) -> tuple[tuple[Expr, ...], int]:
        self.expect("(")
        args: list[Expr] = []
        if self.peek().kind != ")":
            args.append(self.expression(0))
            while self.peek().kind == ",":
                comma = self.take()
                if self.peek().kind not in _METRIC_WORDS and self.peek().kind not in _OPERAND_STARTS:
                    problem = "trailing commas not allowed in function call args"
                    raise ParseError(self.query, comma.position, problem)
                args.append(self.expression(0))
        return tuple(args), self.expect(")").end

    def _grouping(self) -> tuple[str, ...]:
        if self.peek().kind != "(":
            raise self.unexpected(context="grouping opts", expected='"("')
        self.take()
        names: list[str] = []
        while self.peek().kind != ")":
            token = self.peek()
            if token.kind == lexer.STRING:
                name = self.unquoted(token)
            elif token.kind in _LABEL_WORDS:
                name = token.text
            else:
                raise self.unexpected(context="grouping opts", expected="label")
            self.take()
            if not name:
                raise ParseError(
                    self.query, token.position, f"invalid label name for grouping: {quote(name)}"
                )
            names.append(name)
            if self.peek().kind == ",":
                self.take()
            elif self.peek().kind != ")":
                raise self.unexpected(context="grouping opts", expected='"," or ")"')
        self.take()
        return tuple(names)

    # Selectors

    def _selector(self, token: Token) -> VectorSelector:
        name, end = "", token.end
        matchers: list[Matcher] = []
        has_braces = token.kind == "{"
        if not has_braces:
            name = token.text
            has_braces = self.peek().kind == "{"
            if has_braces:
                self.take()
        if has_braces:
            matchers, end = self._matchers()
        if name:
            matchers.append(Matcher(NAME, "=", name))
        return VectorSelector(name=name, matchers=tuple(matchers), span=Span(token.position, end))

    def _matchers(self) -> tuple[list[Matcher], int]:
        matchers: list[Matcher] = []
        while self.peek().kind != "}":
            matchers.append(self._matcher())
            if self.peek().kind == ",":
                self.take()
            elif self.peek().kind != "}":
                raise self.unexpected(context="label matching", expected='"," or "}"')
        return matchers, self.take().end

    def _matcher(self) -> Matcher:
        token = self.peek()
        if token.kind not in (lexer.IDENTIFIER, lexer.STRING):
            raise self.unexpected(context="label matching", expected='identifier or "}"')
        self.take()
        name = self.unquoted(token) if token.kind == lexer.STRING else token.text
        operator = self.peek().kind
        if operator not in ("=", "!=", "=~", "!~"):
            if token.kind == lexer.STRING:
                return Matcher(NAME, "=", name)
            raise self.unexpected(context="label matching", expected="label matching operator")
        self.take()
        literal = self.peek()
        if literal.kind != lexer.STRING:
            raise self.unexpected(context="label matching", expected="string")
        self.take()
        value = self.unquoted(literal)
        if operator in ("=~", "!~"):
            try:
                compiled(value, dot_all=True)
            except Re2Error as problem:
                raise ParseError(self.query, token.position, str(problem)) from None
        return Matcher(name, operator, value)

    def _range(self, expr: Expr, bracket: Token) -> Expr:
        span = self.inside("subquery or range selector", _RANGE_EXPECTED, self.positive_duration)
        closing = self.peek()
        if closing.kind == "]":
            self.take()
            return self._matrix(expr, span, bracket, closing)
        if closing.kind != ":":
            raise self.unexpected(context="subquery or range", expected='":" or "]"')
        self.take()
        step = None
        if self.peek().kind != "]":
            expected = f'{_RANGE_EXPECTED.replace(", or", ",")}, or "]"'
            step = self.inside("subquery selector", expected, self.positive_duration)
            if self.peek().kind != "]":
                raise self.unexpected(context="subquery selector", expected='"]"')
        closing = self.take()
        return Subquery(expr=expr, range=span, step=step, span=Span(expr.span.start, closing.end))

    def _matrix(self, expr: Expr, span: Number | object, bracket: Token, closing: Token) -> Expr:
        problem = ""
        if not isinstance(expr, VectorSelector):
            problem = "ranges only allowed for vector selectors"
        elif expr.moment.offset is not None:
            problem = "no offset modifiers allowed before range"
        elif expr.moment != Moment():
            problem = "no @ modifiers allowed before range"
        if problem or not isinstance(expr, VectorSelector):
            raise ParseError(self.query, bracket.position, problem)
        return MatrixSelector(selector=expr, range=span, span=Span(expr.span.start, closing.end))  # type: ignore[arg-type]

    # Modifiers

    def _offset(self, expr: Expr) -> Expr:
        offset = self.inside("offset", _RANGE_EXPECTED, self.offset_duration)
        moment = self._moment_of(expr, "offset modifier must be preceded by an instant vector selector or range "
                                 "vector selector or a subquery")  # fmt: skip
        if moment.offset is not None:
            raise ParseError(self.query, expr.span.start, "offset may not be set multiple times")
        if isinstance(offset, Number) and offset.value == 0:
            return expr
        return self._with_moment(expr, replace(moment, offset=offset))

    def _at(self, expr: Expr) -> Expr:
        at_ms, edge = self.inside("@", "timestamp", lambda: self._timestamp(expr))
        moment = self._moment_of(expr, "@ modifier must be preceded by an instant vector selector or range "
                                 "vector selector or a subquery")  # fmt: skip
        if moment.at_ms is not None or moment.at_edge:
            raise ParseError(self.query, expr.span.start, "@ <timestamp> may not be set multiple times")
        return self._with_moment(expr, replace(moment, at_ms=at_ms, at_edge=edge))

    def _timestamp(self, expr: Expr) -> tuple[int | None, str]:
        token = self.take()
        if token.kind in ("start", "end"):
            self.expect("(")
            self.expect(")")
            return None, token.kind
        sign = -1 if token.kind == "-" else 1
        if token.kind in ("+", "-"):
            token = self.take()
        if token.kind not in (lexer.NUMBER, lexer.DURATION):
            raise self.unexpected(token)
        seconds = sign * self.number(token).value
        if not math.isfinite(seconds) or abs(seconds) >= 2**63:
            text = "NaN" if math.isnan(seconds) else f"{seconds:+f}".replace("inf", "Inf")
            text = text if not math.isfinite(seconds) else f"{seconds:f}"
            raise ParseError(self.query, expr.span.start, f"timestamp out of bounds for @ modifier: {text}")
        return math.floor(seconds * 1000 + 0.5) if seconds >= 0 else -math.floor(-seconds * 1000 + 0.5), ""

    def _extended(self, expr: Expr, word: Token) -> Expr:
        place = expr.span.start
        if isinstance(expr, Subquery):
            raise ParseError(self.query, place, f"{word.kind} modifier is not supported for subqueries")
        selector = expr.selector if isinstance(expr, MatrixSelector) else expr
        if not isinstance(selector, VectorSelector):
            raise ParseError(self.query, place, f"{word.kind} modifier not implemented")
        if selector.extension and selector.extension != word.kind:
            raise ParseError(self.query, place, "anchored and smoothed modifiers cannot be used together")
        selector = replace(selector, extension=word.kind)
        return replace(expr, selector=selector) if isinstance(expr, MatrixSelector) else selector

    def _moment_of(self, expr: Expr, problem: str) -> Moment:
        if isinstance(expr, MatrixSelector):
            return expr.selector.moment
        if isinstance(expr, (VectorSelector, Subquery)):
            return expr.moment
        raise ParseError(self.query, expr.span.start, problem)

    def _with_moment(self, expr: Expr, moment: Moment) -> Expr:
        span = Span(expr.span.start, self.last_end)
        if isinstance(expr, MatrixSelector):
            return replace(expr, selector=replace(expr.selector, moment=moment), span=span)
        assert isinstance(expr, (VectorSelector, Subquery))
        return replace(expr, moment=moment, span=span)


_OPERAND_STARTS: Final = frozenset(("(", "{", "+", "-", lexer.NUMBER, lexer.DURATION, lexer.STRING))


def _signed(sign: Token, inner: Expr) -> Expr:
    span = Span(sign.position, inner.span.end)
    if isinstance(inner, Number):
        return replace(inner, value=-inner.value if sign.kind == "-" else inner.value, span=span)
    return Unary(op=sign.kind, expr=inner, span=span, type=inner.type)
