"""Expressions from text, and the errors of those that are none.

A hand-written parser that reads words as late as the generated one does (so that the first of several errors is the same)
and knows in which construct it is, for "unexpected … in …".

Source: github.com/prometheus/prometheus promql/parser/generated_parser.y and parse.go; texts recorded in
tests/golden/promql.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from env_core.objects.re2 import Re2Error, compiled
from env_core.observability.promql import _tokens as tokens
from env_core.observability.promql._checking import check, check_matchers
from env_core.observability.promql._errors import ParseError
from env_core.observability.promql._labels import NAME
from env_core.observability.promql._modifiers import ModifierParser
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
    Number,
    Paren,
    Span,
    String,
    Unary,
    VectorSelector,
)
from env_core.observability.promql._numbers import quote
from env_core.observability.promql._signatures import FUNCTIONS
from env_core.observability.promql._tokens import Token

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
    tokens.AGGREGATORS
    | tokens.PREPROCESSORS
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
    | {tokens.IDENTIFIER, tokens.METRIC_IDENTIFIER}
)
_LABEL_WORDS: Final = (tokens.WORDS - {"without"}) | {tokens.IDENTIFIER, tokens.METRIC_IDENTIFIER}


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


class _Parser(ModifierParser):
    def __init__(self, query: str) -> None:
        super().__init__(query)
        self._depth = 0

    def whole(self) -> Expr:
        """Return the expression that is the whole query."""
        if self.peek().kind == tokens.EOF:
            raise ParseError(self.query, 0, "no expression found in input")
        expr = self.expression(0)
        if self.peek().kind != tokens.EOF:
            raise self.unexpected()
        return expr

    def whole_selector(self) -> VectorSelector:
        """Return the selector that is the whole text."""
        if self.peek().kind not in _METRIC_WORDS and self.peek().kind != "{":
            raise self.unexpected()
        selector = self._selector(self.take())
        if self.peek().kind != tokens.EOF:
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
            if self.peek().kind not in (tokens.NUMBER, tokens.DURATION):
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
                expr = self.range_of(expr, self.take())
            elif kind == "offset":
                self.take()
                expr = self.offset_of(expr)
            elif kind == "@":
                self.take()
                expr = self.at_of(expr)
            elif kind in ("anchored", "smoothed"):
                expr = self.extended(expr, self.take())
            else:
                return expr

    def _primary(self, token: Token) -> Expr:
        kind = token.kind
        if kind in (tokens.NUMBER, tokens.DURATION):
            return self.number(token)
        if kind == tokens.STRING:
            return String(value=self.unquoted(token), span=Span(token.position, token.end))
        if kind == "(":
            inner = self.expression(0)
            closing = self.expect(")")
            return Paren(expr=inner, span=Span(token.position, closing.end), type=inner.type)
        if kind == "{":
            return self._selector(token)
        if kind in tokens.AGGREGATORS and self.peek().kind in ("(", "by", "without"):
            return self.inside("aggregation", "", lambda: self._aggregate(token))
        if (kind == tokens.IDENTIFIER or kind in tokens.PREPROCESSORS) and self.peek().kind == "(":
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
            if token.kind == tokens.STRING:
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
        if token.kind not in (tokens.IDENTIFIER, tokens.STRING):
            raise self.unexpected(context="label matching", expected='identifier or "}"')
        self.take()
        name = self.unquoted(token) if token.kind == tokens.STRING else token.text
        operator = self.peek().kind
        if operator not in ("=", "!=", "=~", "!~"):
            if token.kind == tokens.STRING:
                return Matcher(NAME, "=", name)
            raise self.unexpected(context="label matching", expected="label matching operator")
        self.take()
        literal = self.peek()
        if literal.kind != tokens.STRING:
            raise self.unexpected(context="label matching", expected="string")
        self.take()
        value = self.unquoted(literal)
        if operator in ("=~", "!~"):
            try:
                compiled(value, dot_all=True)
            except Re2Error as problem:
                raise ParseError(self.query, token.position, str(problem)) from None
        return Matcher(name, operator, value)


_OPERAND_STARTS: Final = frozenset(("(", "{", "+", "-", tokens.NUMBER, tokens.DURATION, tokens.STRING))


def _signed(sign: Token, inner: Expr) -> Expr:
    span = Span(sign.position, inner.span.end)
    if isinstance(inner, Number):
        return replace(inner, value=-inner.value if sign.kind == "-" else inner.value, span=span)
    return Unary(op=sign.kind, expr=inner, span=span, type=inner.type)
