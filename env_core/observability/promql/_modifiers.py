"""What may follow a selector: ranges, subqueries, offset, @, anchored and smoothed.

Source: github.com/prometheus/prometheus promql/parser/generated_parser.y and parse.go.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from env_core.observability.promql import _tokens as tokens
from env_core.observability.promql._durations import DurationParser
from env_core.observability.promql._errors import ParseError
from env_core.observability.promql._nodes import (
    Duration,
    Expr,
    MatrixSelector,
    Moment,
    Number,
    Span,
    Subquery,
    VectorSelector,
)
from env_core.observability.promql._tokens import Token

_RANGE_EXPECTED: Final = "number, duration, step(), or range()"


class ModifierParser(DurationParser):
    """Reads what follows a selector."""

    def range_of(self, expr: Expr, bracket: Token) -> Expr:
        """Return the range or the subquery that a bracket opens."""
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

    def _matrix(self, expr: Expr, span: Duration, bracket: Token, closing: Token) -> Expr:
        problem = ""
        if not isinstance(expr, VectorSelector):
            problem = "ranges only allowed for vector selectors"
        elif expr.moment.offset is not None:
            problem = "no offset modifiers allowed before range"
        elif expr.moment != Moment():
            problem = "no @ modifiers allowed before range"
        if problem or not isinstance(expr, VectorSelector):
            raise ParseError(self.query, bracket.position, problem)
        return MatrixSelector(selector=expr, range=span, span=Span(expr.span.start, closing.end))

    # Modifiers

    def offset_of(self, expr: Expr) -> Expr:
        """Return an expression with an offset."""
        offset = self.inside("offset", _RANGE_EXPECTED, self.offset_duration)
        moment = self._moment_of(expr, "offset modifier must be preceded by an instant vector selector or range "
                                 "vector selector or a subquery")  # fmt: skip
        if moment.offset is not None:
            raise ParseError(self.query, expr.span.start, "offset may not be set multiple times")
        if isinstance(offset, Number) and offset.value == 0:
            return expr
        return self._with_moment(expr, replace(moment, offset=offset))

    def at_of(self, expr: Expr) -> Expr:
        """Return an expression at a fixed moment."""
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
        if token.kind not in (tokens.NUMBER, tokens.DURATION):
            raise self.unexpected(token)
        seconds = sign * self.number(token).value
        if not math.isfinite(seconds) or abs(seconds) >= 2**63:
            text = "NaN" if math.isnan(seconds) else f"{seconds:+f}".replace("inf", "Inf")
            text = text if not math.isfinite(seconds) else f"{seconds:f}"
            raise ParseError(self.query, expr.span.start, f"timestamp out of bounds for @ modifier: {text}")
        return math.floor(seconds * 1000 + 0.5) if seconds >= 0 else -math.floor(-seconds * 1000 + 0.5), ""

    def extended(self, expr: Expr, word: Token) -> Expr:
        """Return a selector whose samples are extended to the edges of its range."""
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
