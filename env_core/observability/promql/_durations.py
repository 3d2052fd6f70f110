"""The words of a query as a parser takes them, and the arithmetic of durations in brackets and after `offset`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

from env_core.objects.gounquote import unquoted
from env_core.observability.promql import _tokens as tokens
from env_core.observability.promql._errors import InvalidQuery, ParseError
from env_core.observability.promql._lexer import Lexer, LexError
from env_core.observability.promql._nodes import Duration, DurationExpr, Number, Span
from env_core.observability.promql._numbers import (
    parse_duration_ms,
    parse_number,
    power,
    remainder,
)
from env_core.observability.promql._tokens import Token

Made = TypeVar("Made")

_SECONDS_MAX: Final = (1 << 63) / 1e9
_LEVELS: Final = {"+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "^": 6}
_UNARY_LEVEL: Final = 5


class _Context(NamedTuple):
    name: str
    expected: str


class DurationParser:
    """Takes words one by one and reads durations.

    `last_end` is the end of the last closing bracket or number taken, which is where Prometheus lets nodes end.
    """

    def __init__(self, query: str) -> None:
        self.query = query
        self.last_end = 0
        self._lexer = Lexer(query)
        self._next: Token | None = None
        self._contexts: list[_Context] = [_Context("", "")]

    # Words

    def peek(self) -> Token:
        """Return the next word without taking it.

        Raises:
            ParseError: if it cannot be read.
        """
        if self._next is None:
            try:
                self._next = self._lexer.next()
            except LexError as error:
                raise ParseError(self.query, error.position, error.problem) from None
        return self._next

    def take(self) -> Token:
        """Return the next word and go on."""
        token = self.peek()
        if token.kind != tokens.EOF:
            self._next = None
        if token.kind in ("}", ")", "]", tokens.DURATION, tokens.NUMBER):
            self.last_end = token.end
        return token

    def expect(self, kind: str) -> Token:
        """Take a word that must be of a kind; else the construct in which we are is to blame."""
        if self.peek().kind != kind:
            raise self.unexpected()
        return self.take()

    def unexpected(self, token: Token | None = None, *, context: str = "", expected: str = "") -> ParseError:
        """Return the error for a word that cannot stand here."""
        token = token or self.peek()
        if not context:
            context, expected = self._contexts[-1]
        text = f"unexpected {token.described()}"
        text += f" in {context}" if context else ""
        text += f", expected {expected}" if expected else ""
        return ParseError(self.query, token.position, text)

    def inside(self, name: str, expected: str, read: Callable[[], Made]) -> Made:
        """Read something whose own errors name the construct `name`."""
        self._contexts.append(_Context(name, expected))
        made = read()
        self._contexts.pop()
        return made

    def outside(self, read: Callable[[], Made]) -> Made:
        """Read something that is no more inside of the innermost construct."""
        context = self._contexts.pop()
        made = read()
        self._contexts.append(context)
        return made

    def unquoted(self, token: Token) -> str:
        """Return the text of a string literal."""
        literal, mark = token.text[1:-1], token.text[0]
        text = literal if mark == "`" else unquoted(literal, mark)
        assert text is not None  # The lexer has looked at the escapes.
        return text

    def number(self, token: Token) -> Number:
        """Return the number or duration that a word is."""
        span = Span(token.position, token.end)
        try:
            if token.kind == tokens.DURATION:
                return Number(value=parse_duration_ms(token.text) / 1000, is_duration=True, span=span)
        except ValueError as problem:
            raise ParseError(self.query, token.position, str(problem)) from None
        try:
            return Number(value=parse_number(token.text), span=span)
        except ValueError as problem:
            raise ParseError(self.query, token.position, f"error parsing number: {problem}") from None

    # Durations

    def positive_duration(self) -> Duration:
        """Read the range or step of a selector."""
        duration = self._duration(0)
        if isinstance(duration, Number) and duration.value <= 0:
            raise ParseError(self.query, duration.span.start, "duration must be greater than 0")
        return duration

    def offset_duration(self) -> Duration:
        """Read what follows `offset`: one number, or an expression in parentheses."""
        token = self.peek()
        if token.kind in (tokens.NUMBER, tokens.DURATION):
            return self._in_range(self.number(self.take()), token)
        if token.kind in ("+", "-"):
            self.take()
            inner = self._duration_operand() if self.peek().kind not in ("+", "-") else None
            if inner is None:
                raise self.unexpected()
            return self._signed(token, inner)
        if token.kind == "(":
            return self._duration(0)
        return self._duration_operand()

    def _duration(self, level: int) -> Duration:
        left = self._duration_operand()
        while True:
            operator = self.peek()
            own = _LEVELS.get(operator.kind)
            if own is None or own < level:
                return left
            self.take()
            right = self._duration(own if operator.kind == "^" else own + 1)
            if operator.kind in "/%" and isinstance(right, Number) and right.value == 0:
                word = "division" if operator.kind == "/" else "modulo"
                raise ParseError(self.query, operator.position, f"{word} by zero")
            span = Span(left.span.start, right.span.end)
            left = DurationExpr(op=operator.kind, left=left, right=right, span=span)

    def _duration_operand(self) -> Duration:
        token = self.peek()
        if token.kind in (tokens.NUMBER, tokens.DURATION):
            return self._in_range(self.number(self.take()), token)
        if token.kind in ("+", "-"):
            self.take()
            return self._signed(token, self._duration(_UNARY_LEVEL + 1))
        if token.kind == "(":
            self.take()
            inner = self._duration(0)
            self.expect(")")
            if isinstance(inner, DurationExpr):
                return replace(inner, is_wrapped=True)
            return DurationExpr(
                op="+", right=inner, is_wrapped=True, span=Span(token.position, inner.span.end)
            )
        if token.kind in ("step", "range"):
            self.take()
            self.expect("(")
            return DurationExpr(op=token.kind, span=Span(token.position, self.expect(")").end))
        if token.kind in ("min_of", "max_of"):
            self.take()
            self.expect("(")
            left = self._duration(0)
            self.expect(",")
            right = self._duration(0)
            end = self.expect(")").end
            return DurationExpr(op=token.kind, left=left, right=right, span=Span(token.position, end))
        raise self.unexpected()

    def _in_range(self, number: Number, place: Token) -> Number:
        if abs(number.value) > _SECONDS_MAX:
            raise ParseError(self.query, place.position, "duration out of range")
        return number

    def _signed(self, sign: Token, inner: Duration) -> Duration:
        span = Span(sign.position, inner.span.end)
        if isinstance(inner, Number):
            value = -inner.value if sign.kind == "-" else inner.value
            return self._in_range(replace(inner, value=value, span=span), sign)
        return DurationExpr(op="-", right=inner, span=span) if sign.kind == "-" else inner


def duration_ms(duration: Duration, *, step_ms: int, range_ms: int, may_be_negative: bool = False) -> int:
    """Return a duration in milliseconds; `step()` and `range()` are those of the query.

    Raises:
        InvalidQuery: if it is no positive finite duration (the two numbers are the characters of the query).
    """
    if isinstance(duration, Number):
        return round(duration.value * 1000)
    seconds = _seconds(duration, step_ms / 1000, range_ms / 1000)
    place = f"{duration.span.start}:{duration.span.end}"
    if not math.isfinite(seconds):
        raise InvalidQuery(f"{place}: duration is NaN or infinite")
    if seconds <= 0 and not may_be_negative:
        raise InvalidQuery(f"{place}: duration must be greater than 0")
    if abs(seconds) > _SECONDS_MAX:
        raise InvalidQuery(f"{place}: duration is out of range")
    return int(seconds * 1000)


def _seconds(duration: Duration, step: float, span: float) -> float:
    if isinstance(duration, Number):
        return duration.value
    left = 0.0 if duration.left is None else _seconds(duration.left, step, span)
    right = 0.0 if duration.right is None else _seconds(duration.right, step, span)
    op = duration.op
    if op in "/%" and right == 0:
        word = "division" if op == "/" else "modulo"
        raise InvalidQuery(f"{duration.span.start}:{duration.span.end}: {word} by zero")
    return {
        "step": lambda: step,
        "range": lambda: span,
        "min_of": lambda: min(left, right),
        "max_of": lambda: max(left, right),
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
        "%": lambda: remainder(left, right),
        "^": lambda: power(left, right),
    }[op]()
