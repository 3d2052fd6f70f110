"""Reads SQL expressions, one token after another.

Source: https://www.postgresql.org/docs/15/sql-syntax-lexical.html (operator precedence); gram.y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.programs._postgres_bounds import CHAIN_MAX, DEPTH_MAX, too_deep
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_syntax import RESERVED, Node, Token, tokens
from env_core.programs._sql_reading import Words

_COMPARISONS: Final = ("=", "<", ">", "<=", ">=", "<>", "!=", "like", "ilike")


class Reader(Words[Token]):
    """Takes one token after another."""

    DEPTH_MAX, CHAIN_MAX = DEPTH_MAX, CHAIN_MAX

    def __init__(self, query: str) -> None:
        super().__init__(tokens(query))
        self.query = query

    def rewind(self, place: int) -> None:
        """Go back to a word, and read on from there."""
        self.place, self._depth = place, 0

    def refused(self) -> Problem:
        """Return the syntax error at the next token."""
        token = self.peek()
        if token is None:
            return Problem("syntax error at end of input", len(self.query) + 1)
        return Problem(f'syntax error at or near "{token.shown}"', token.at)

    def too_deep(self) -> Problem:
        """Return what is said of an expression that is too deep."""
        return too_deep()

    def is_word(self, token: Token, word: str) -> bool:
        """Whether a token is a word of the language."""
        return token.kind != "text" and token.text == word

    def name(self) -> Token:
        token = self.peek()
        if token is None or token.kind != "name" or token.text in RESERVED:
            raise self.refused()
        self.place += 1
        return token

    def whole(self) -> int:
        """Read a whole number that stands for itself: an Iconst of the grammar, which has 32 bits."""
        number = self.digits(10)
        if number >= 1 << 31:
            self.place -= 1
            raise self.refused()
        return number

    def table(self) -> Token:
        first = self.name()
        return self.name() if self.take(".") else first

    def names(self) -> tuple[Token, ...]:
        """Read names in brackets."""
        return self.listed(self.name)

    # Expressions, by rising precedence.

    def expression(self) -> Node:
        """Read an expression.

        Raises:
            Problem: there is none, or it is too deep.
        """
        self.begin()
        found = self.disjunction()
        self.back()
        return found

    def _operator(self, sign: str, token: Token, *parts: Node) -> Node:
        self.chained()
        return Node("operator", sign, token.at, parts)

    def disjunction(self) -> Node:
        left = self.conjunction()
        while (token := self.peek()) is not None and self.take("or"):
            left = self._operator("or", token, left, self.conjunction())
        return left

    def conjunction(self) -> Node:
        left = self.negation()
        while (token := self.peek()) is not None and self.take("and"):
            left = self._operator("and", token, left, self.negation())
        return left

    def negation(self) -> Node:
        token = self.peek()
        if token is not None and self.take("not"):
            self.deeper()
            found = self._operator("not", token, self.negation())
            self.back()
            return found
        return self.comparison()

    def comparison(self) -> Node:
        left = self.sum()
        token = self.peek()
        if token is None or token.kind == "text":
            return left
        if self.take("is"):
            is_not = self.take("not")
            self.need("null")
            found = Node("operator", "is null", token.at, (left,))
            return Node("operator", "not", token.at, (found,)) if is_not else found
        is_not = self.is_next("not", "like") and self.take("not")
        token = self.peek()
        if token is not None and token.text in _COMPARISONS and self.take(token.text):
            found = Node("operator", token.text, token.at, (left, self.sum()))
            return Node("operator", "not", token.at, (found,)) if is_not else found
        return left

    def sum(self) -> Node:
        return self._chain(("+", "-", "||"), self.product)

    def product(self) -> Node:
        return self._chain(("*", "/", "%"), self.cast)

    def _chain(self, signs: tuple[str, ...], below: Callable[[], Node]) -> Node:
        left = below()
        while (token := self.peek()) is not None and token.kind == "sign" and token.text in signs:
            self.place += 1
            left = self._operator(token.text, token, left, below())
        return left

    def cast(self) -> Node:
        found = self.primary()
        while (token := self.peek()) is not None and self.take("::"):
            found = self._operator("", token, found)._replace(kind="cast", value=self.type(), at=found.at)
        return found

    def primary(self) -> Node:
        token = self.peek()
        if token is None:
            raise self.refused()
        if token.kind in ("number", "text"):
            self.place += 1
            return Node(token.kind, token.text, token.at)
        if token.text in ("-", "+") and token.kind == "sign":
            self.place += 1
            self.deeper()
            sign = "negative" if token.text == "-" else "positive"
            found = self._operator(sign, token, self.primary())
            self.back()
            return found
        if self.take("("):
            found = self.expression()
            self.need(")")
            return found
        if token.kind == "name" and token.text in ("null", "true", "false"):
            self.place += 1
            return Node(token.text, "", token.at)
        name = self.name()
        if self.take("("):
            return self.call(name)
        if self.take("."):
            return Node("column", self.name().text, name.at)
        return Node("column", name.text, name.at)

    def call(self, name: Token) -> Node:
        parts: list[Node] = []
        if self.take("*"):
            parts.append(Node("all", "*", name.at))
        elif not self.is_next(")"):
            parts.append(self.expression())
            while self.take(","):
                parts.append(self.expression())
        self.need(")")
        return Node("call", name.text, name.at, tuple(parts))

    def type(self) -> str:
        words = [self.name().text]
        while self.is_next("varying") or self.is_next("precision"):
            words.append(self.name().text)
        if self.take("("):
            while not self.take(")"):
                if self.peek() is None:
                    raise self.refused()
                self.place += 1
        if self.take("with", "time", "zone"):
            words.append("with time zone")
        return " ".join(words)
