"""The grammar of awk's expressions."""

from __future__ import annotations

from typing import Final

from env_core.shell._awk.lexer import AwkProblem, Token
from env_core.shell._awk.nodes import (
    Assign,
    Binary,
    Call,
    Conditional,
    Element,
    Expr,
    Field,
    Grouping,
    Increment,
    Membership,
    Name,
    Number,
    Regex,
    String,
    Unary,
)
from env_core.shell._awk.tokenreader import TokenReader

DEPTH_MAX: Final = 40
_ASSIGNMENTS: Final = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "^="))
_CONCATENATED: Final = frozenset(
    ("number", "string", "ere", "name", "call", "builtin", "$", "!", "(", "-", "+", "++", "--")
)


class ExpressionParser(TokenReader):
    """Takes expressions; `no_in` and `no_greater` count the places where `in` and `>` mean something else."""

    def __init__(self, stream: list[Token]) -> None:
        """Start at the first of the tokens."""
        super().__init__(stream)
        self.depth = 0
        self.no_in = 0
        self.no_greater = 0

    def expressions(self) -> list[Expr]:
        """Take expressions with commas between."""
        found = [self.expression()]
        while self.accept(","):
            self.optional_newlines()
            found.append(self.expression())
        return found

    def subscripts(self) -> tuple[Expr, ...]:
        """Take what stands in brackets after an array's name."""
        self.expect("[")
        found = self.expressions()
        self.expect("]")
        return tuple(found)

    def expression(self) -> Expr:
        """Take an expression.

        Raises:
            AwkProblem: if it is malformed or nested too deep.
        """
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise AwkProblem("expression nested too deep", "syntax")
        value = self._conditional()
        if self.peek() in _ASSIGNMENTS:
            if not isinstance(value, Name | Field | Element):
                # "1 + x = 2" assigns to the operand that stands before the sign.
                value = self._assigned_inside(value)
            else:
                operator = self.take().kind
                self.optional_newlines()
                value = Assign(value, operator, self.expression())
        self.depth -= 1
        return value

    def _assigned_inside(self, value: Expr) -> Expr:
        if isinstance(value, Binary) and isinstance(value.right, Name | Field | Element):
            operator = self.take().kind
            return Binary(value.operator, value.left, Assign(value.right, operator, self.expression()))
        if isinstance(value, Unary) and isinstance(value.operand, Name | Field | Element):
            operator = self.take().kind
            return Unary(value.operator, Assign(value.operand, operator, self.expression()))
        raise self.failure()

    def _conditional(self) -> Expr:
        condition = self._or()
        if not self.accept("?"):
            return condition
        self.optional_newlines()
        yes = self.expression()
        self.optional_newlines()
        self.expect(":")
        self.optional_newlines()
        return Conditional(condition, yes, self.expression())

    def _or(self) -> Expr:
        value = self._and()
        while self.accept("||"):
            self.optional_newlines()
            value = Binary("||", value, self._and())
        return value

    def _and(self) -> Expr:
        value = self._in()
        while self.accept("&&"):
            self.optional_newlines()
            value = Binary("&&", value, self._in())
        return value

    def _in(self) -> Expr:
        value = self._match()
        while self.peek() == "in" and not self.no_in:
            self.take()
            subscripts = value.items if isinstance(value, Grouping) else (value,)
            value = Membership(subscripts, self.expect("name").text)
        return value

    def _match(self) -> Expr:
        value = self._comparison()
        while self.peek() in ("~", "!~"):
            operator = self.take().kind
            value = Binary(operator, value, self._comparison())
        return value

    def _comparison(self) -> Expr:
        value = self.concatenation()
        if self.peek() in ("<", "<=", "==", "!=", ">=") or (self.peek() == ">" and not self.no_greater):
            operator = self.take().kind
            value = Binary(operator, value, self.concatenation())
        return value

    def concatenation(self) -> Expr:
        """Take an expression that binds closer than a comparison."""
        value = self._additive()
        while self.peek() in _CONCATENATED and self.peek() not in ("-", "+"):
            value = Binary("", value, self._additive())
        return value

    def _additive(self) -> Expr:
        value = self._multiplicative()
        while self.peek() in ("+", "-"):
            operator = self.take().kind
            value = Binary(operator, value, self._multiplicative())
        return value

    def _multiplicative(self) -> Expr:
        value = self._unary()
        while self.peek() in ("*", "/", "%"):
            operator = self.take().kind
            value = Binary(operator, value, self._unary())
        return value

    def _unary(self) -> Expr:
        if self.peek() in ("!", "-", "+"):
            self.depth += 1
            if self.depth > DEPTH_MAX:
                raise AwkProblem("expression nested too deep", "syntax")
            operator = self.take().kind
            operand = self._unary()
            self.depth -= 1
            return Unary(operator, operand)
        return self._power()

    def _power(self) -> Expr:
        base = self._postfix()
        if self.accept("^"):
            self.depth += 1
            if self.depth > DEPTH_MAX:
                raise AwkProblem("expression nested too deep", "syntax")
            exponent = self._unary()
            self.depth -= 1
            return Binary("^", base, exponent)
        return base

    def _postfix(self) -> Expr:
        value = self._primary()
        if self.peek() in ("++", "--") and isinstance(value, Name | Field | Element):
            return Increment(value, 1 if self.take().kind == "++" else -1, is_prefix=False)
        return value

    def _primary(self) -> Expr:
        token = self.take()
        kind = token.kind
        if kind == "number":
            return Number(float(token.text))
        if kind == "string":
            return String(token.text)
        if kind == "ere":
            return Regex(token.text)
        if kind == "$":
            return self._field()
        if kind in ("++", "--"):
            target = self._primary()
            if not isinstance(target, Name | Field | Element):
                raise self.failure()
            return Increment(target, 1 if kind == "++" else -1, is_prefix=True)
        if kind == "(":
            return self._grouping()
        if kind == "name":
            return Element(token.text, self.subscripts()) if self.peek() == "[" else Name(token.text)
        if kind == "call":
            return Call(token.text, self._arguments(), is_builtin=False, line=token.line)
        if kind == "builtin":
            arguments = self._arguments() if self.peek() == "(" else ()
            return Call(token.text, arguments, is_builtin=True, line=token.line)
        self.index -= token.kind != "end"
        raise self.failure()

    def _field(self) -> Expr:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise AwkProblem("expression nested too deep", "syntax")
        if self.peek() in ("-", "+", "!"):
            index: Expr = Unary(self.take().kind, self._primary())
        else:
            index = self._primary()
        self.depth -= 1
        return Field(index)

    def _grouping(self) -> Expr:
        outer, self.no_greater = self.no_greater, 0
        no_in, self.no_in = self.no_in, 0
        items = self.expressions()
        self.expect(")")
        self.no_greater, self.no_in = outer, no_in
        if len(items) > 1:
            return Grouping(tuple(items))
        return items[0]

    def _arguments(self) -> tuple[Expr, ...]:
        self.expect("(")
        outer, self.no_greater = self.no_greater, 0
        self.optional_newlines()
        found: list[Expr] = []
        if self.peek() != ")":
            found = self.expressions()
        self.optional_newlines()
        self.expect(")")
        self.no_greater = outer
        return tuple(found)
