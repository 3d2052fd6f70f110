"""The grammar of jq 1.6."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from env_core.shell._jq.lexer import CompileProblem, tokens
from env_core.shell._jq.nodes import (
    Alternative,
    Comma,
    Define,
    Identity,
    Label,
    Literal,
    Logic,
    Negate,
    Node,
    Operate,
    Pipe,
    Update,
)
from env_core.shell._jq.terms import TermParser

_UPDATES: Final = frozenset(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="))
_COMPARISONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))


@lru_cache(maxsize=256)
def parse_filter(source: str) -> Node:
    """Return the tree of a filter.

    Raises:
        CompileProblem: with jq 1.6's text, if it is malformed.
    """
    return _Parser(tokens(source)).program()


class _Parser(TermParser):
    def program(self) -> Node:
        if self.peek().kind == "end":
            return Identity()
        if (
            not self.starts_term()
            and not self.comes("-")
            and not self.is_word("def", "label", "reduce", "if", "try", "foreach")
        ):
            raise self.failure("$end")
        node = self.pipe()
        if self.peek().kind != "end":
            raise self.failure("$end")
        return node

    def pipe(self) -> Node:
        """Take a whole filter."""
        self.enter()
        node = self.pipe_body()
        self.depth -= 1
        return node

    def pipe_body(self) -> Node:
        """Take a filter whose depth is counted already."""
        if self.is_word("def"):
            return self._definition()
        if self.is_word("label"):
            self.take()
            self.expect("$")
            name = self.take().text
            self.expect("|")
            return Label(name, self.pipe())
        left = self._comma()
        if self.accept("|"):
            return Pipe(left, self.pipe())
        return left

    def _definition(self) -> Node:
        self.take()
        name = self.name()
        parameters: list[str] = []
        if self.accept("("):
            while True:
                is_value = self.accept("$")
                parameters.append(("$" if is_value else "") + self.name())
                if not self.accept(";"):
                    break
            self.expect(")")
        self.expect(":")
        body = self.pipe()
        self.expect(";")
        rest: Node = Identity() if self.peek().kind == "end" else self.pipe()
        return Define(name, tuple(parameters), body, rest)

    def _comma(self) -> Node:
        left = self._alternative()
        while self.accept(","):
            right = self._alternative()
            left = Comma(left, right)
        return left

    def _alternative(self) -> Node:
        left = self._update()
        if self.accept("//"):
            self.enter()
            right = self._alternative()
            self.depth -= 1
            return Alternative(left, right)
        return left

    def _update(self) -> Node:
        left = self._or()
        if self.peek().kind == "op" and self.peek().text in _UPDATES:
            operator = self.take().text
            # "a = b // c" updates with the whole of "b // c".
            return Update(operator, left, self._alternative())
        return left

    def _or(self) -> Node:
        left = self._and()
        while self.is_word("or"):
            self.take()
            left = Logic(False, left, self._and())
        return left

    def _and(self) -> Node:
        left = self._comparison()
        while self.is_word("and"):
            self.take()
            left = Logic(True, left, self._comparison())
        return left

    def _comparison(self) -> Node:
        left = self._additive()
        if self.peek().kind == "op" and self.peek().text in _COMPARISONS:
            operator = self.take().text
            left = Operate(operator, left, self._additive())
            if self.peek().kind == "op" and self.peek().text in _COMPARISONS:
                raise self.failure()
        return left

    def _additive(self) -> Node:
        left = self._multiplicative()
        while self.comes("+", "-"):
            operator = self.take().text
            left = Operate(operator, left, self._multiplicative())
        return left

    def _multiplicative(self) -> Node:
        left = self._unary()
        while self.comes("*", "/", "%"):
            token = self.take()
            right = self._unary()
            if (
                token.text == "/"
                and isinstance(left, Literal)
                and isinstance(right, Literal)
                and right.value == 0
            ):
                raise CompileProblem("Division by zero?", self.tokens[0].start)
            left = Operate(token.text, left, right)
        return left

    def _unary(self) -> Node:
        if self.comes("-"):
            self.enter()
            self.take()
            operand = self._unary()
            self.depth -= 1
            return Negate(operand)
        return self.postfix()
