"""The grammar of awk."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from env_core.shell._awk.lexer import AwkProblem, Token, tokens
from env_core.shell._awk.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Delete,
    Element,
    Evaluate,
    Expr,
    Field,
    ForIn,
    FunctionBody,
    Grouping,
    IfElse,
    Increment,
    Jump,
    Loop,
    Membership,
    Name,
    Number,
    Print,
    Program,
    Regex,
    Rule,
    Stmt,
    String,
    Unary,
)

_DEPTH_MAX: Final = 40
_ASSIGNMENTS: Final = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "^="))
_CONCATENATED: Final = frozenset(
    ("number", "string", "ere", "name", "call", "builtin", "$", "!", "(", "-", "+", "++", "--")
)


@lru_cache(maxsize=256)
def parse_program(source: str) -> Program:
    """Return the tree of an awk program.

    Raises:
        AwkProblem: with mawk's text, if it is malformed.
    """
    return _Parser(tokens(source)).program()


class _Parser:
    def __init__(self, stream: list[Token]) -> None:
        self._tokens = stream
        self._index = 0
        self._depth = 0
        self._no_in = 0
        self._no_greater = 0

    def _peek(self) -> str:
        return self._tokens[self._index].kind

    def _take(self) -> Token:
        token = self._tokens[self._index]
        self._index += token.kind != "end"
        return token

    def _accept(self, kind: str) -> bool:
        if self._peek() == kind:
            self._take()
            return True
        return False

    def _expect(self, kind: str) -> Token:
        if self._peek() != kind:
            raise self._failure()
        return self._take()

    def _failure(self) -> AwkProblem:
        token = self._tokens[self._index]
        if token.kind == "end" or token.kind == "\n":
            return AwkProblem(f"line {token.line}: syntax error at or near end of line", "syntax")
        return AwkProblem(f"line {token.line}: syntax error at or near {token.text}", "syntax")

    def _newlines(self) -> None:
        while self._peek() in ("\n", ";"):
            self._take()

    def _optional_newlines(self) -> None:
        while self._peek() == "\n":
            self._take()

    def program(self) -> Program:
        program = Program()
        self._newlines()
        while self._peek() != "end":
            self._item(program)
            self._newlines()
        return program

    def _item(self, program: Program) -> None:
        if self._accept("BEGIN"):
            program.begin.append(self._block())
        elif self._accept("END"):
            program.end.append(self._block())
        elif self._accept("function"):
            self._function(program)
        elif self._peek() == "}":
            line = self._tokens[self._index].line
            raise AwkProblem(
                f"line {line}: extra '}}'\nmawk: line {line}: syntax error at or near end of line", "syntax"
            )
        else:
            pattern = None if self._peek() == "{" else self._expression()
            last = None
            if pattern is not None and self._accept(","):
                self._optional_newlines()
                last = self._expression()
            action = self._block() if self._peek() == "{" else None
            program.rules.append(Rule(pattern, last, action))

    def _function(self, program: Program) -> None:
        token = self._take()
        if token.kind not in ("name", "call"):
            self._index -= 1
            raise self._failure()
        self._expect("(")
        parameters: list[str] = []
        while self._peek() != ")":
            parameters.append(self._expect("name").text)
            if not self._accept(","):
                break
            self._optional_newlines()
        self._expect(")")
        self._optional_newlines()
        program.functions[token.text] = FunctionBody(tuple(parameters), self._block())

    def _block(self) -> Block:
        self._expect("{")
        body: list[Stmt] = []
        self._newlines()
        while self._peek() != "}":
            if self._peek() == "end":
                raise self._failure()
            body.append(self._statement())
            self._newlines()
        self._take()
        return Block(tuple(body))

    def _statement(self) -> Stmt:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise AwkProblem("program nested too deep", "syntax")
        statement = self._any_statement()
        self._depth -= 1
        return statement

    def _any_statement(self) -> Stmt:
        kind = self._peek()
        if kind == "{":
            return self._block()
        if kind == "if":
            return self._if()
        if kind == "while":
            self._take()
            condition = self._parenthesised()
            if self._accept(";"):
                return Loop(None, condition, None, Block(()))
            self._optional_newlines()
            return Loop(None, condition, None, self._statement())
        if kind == "do":
            self._take()
            self._newlines()
            body = self._statement()
            self._newlines()
            self._expect("while")
            condition = self._parenthesised()
            self._end()
            return Loop(None, condition, None, body, checks_last=True)
        if kind == "for":
            return self._for()
        if kind == ";":
            self._take()
            return Block(())
        statement = self._simple_statement()
        self._end()
        return statement

    def _end(self) -> None:
        if self._peek() in (";", "\n"):
            self._take()
        elif self._peek() not in ("}", "end"):
            raise self._failure()

    def _parenthesised(self) -> Expr:
        self._expect("(")
        value = self._expression()
        self._expect(")")
        return value

    def _if(self) -> Stmt:
        self._take()
        condition = self._parenthesised()
        self._optional_newlines()
        yes = self._statement()
        mark = self._index
        self._newlines()
        if self._accept("else"):
            self._optional_newlines()
            return IfElse(condition, yes, self._statement())
        self._index = mark
        return IfElse(condition, yes, None)

    def _for(self) -> Stmt:
        self._take()
        self._expect("(")
        ahead = [token.kind for token in self._tokens[self._index : self._index + 4]]
        if ahead == ["name", "in", "name", ")"]:
            name = Name(self._take().text)
            self._take()
            array = self._take().text
            self._take()
            self._optional_newlines()
            return ForIn(name, array, self._statement())
        start = None if self._peek() == ";" else self._simple_statement()
        self._expect(";")
        self._optional_newlines()
        condition = None if self._peek() == ";" else self._expression()
        self._expect(";")
        self._optional_newlines()
        step = None if self._peek() == ")" else self._simple_statement()
        self._expect(")")
        if self._accept(";"):
            return Loop(start, condition, step, Block(()))
        self._optional_newlines()
        return Loop(start, condition, step, self._statement())

    def _simple_statement(self) -> Stmt:
        kind = self._peek()
        if kind in ("print", "printf"):
            return self._print()
        if kind in ("break", "continue", "next"):
            self._take()
            return Jump(kind)
        if kind in ("exit", "return"):
            self._take()
            return Jump(kind, None if self._peek() in (";", "\n", "}", "end") else self._expression())
        if kind == "delete":
            self._take()
            name = self._expect("name").text
            return Delete(name, self._subscripts() if self._peek() == "[" else None)
        return Evaluate(self._expression())

    def _print(self) -> Stmt:
        is_formatted = self._take().kind == "printf"
        arguments: list[Expr] = []
        self._no_greater += 1
        if self._peek() not in (";", "\n", "}", "end", ">", ">>", "|"):
            arguments = self._expressions()
        self._no_greater -= 1
        if len(arguments) == 1 and isinstance(arguments[0], Grouping):
            arguments = list(arguments[0].items)
        redirect = ""
        target = None
        if self._peek() in (">", ">>", "|"):
            redirect = self._take().kind
            self._no_greater += 1
            target = self._concatenation()
            self._no_greater -= 1
        if is_formatted and not arguments:
            raise self._failure()
        return Print(tuple(arguments), is_formatted, redirect, target)

    def _expressions(self) -> list[Expr]:
        found = [self._expression()]
        while self._accept(","):
            self._optional_newlines()
            found.append(self._expression())
        return found

    def _subscripts(self) -> tuple[Expr, ...]:
        self._expect("[")
        found = self._expressions()
        self._expect("]")
        return tuple(found)

    def _expression(self) -> Expr:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise AwkProblem("expression nested too deep", "syntax")
        value = self._conditional()
        if self._peek() in _ASSIGNMENTS:
            if not isinstance(value, Name | Field | Element):
                # "1 + x = 2" assigns to the operand that stands before the sign.
                value = self._assigned_inside(value)
            else:
                operator = self._take().kind
                self._optional_newlines()
                value = Assign(value, operator, self._expression())
        self._depth -= 1
        return value

    def _assigned_inside(self, value: Expr) -> Expr:
        if isinstance(value, Binary) and isinstance(value.right, Name | Field | Element):
            operator = self._take().kind
            return Binary(value.operator, value.left, Assign(value.right, operator, self._expression()))
        if isinstance(value, Unary) and isinstance(value.operand, Name | Field | Element):
            operator = self._take().kind
            return Unary(value.operator, Assign(value.operand, operator, self._expression()))
        raise self._failure()

    def _conditional(self) -> Expr:
        condition = self._or()
        if not self._accept("?"):
            return condition
        self._optional_newlines()
        yes = self._expression()
        self._optional_newlines()
        self._expect(":")
        self._optional_newlines()
        return Conditional(condition, yes, self._expression())

    def _or(self) -> Expr:
        value = self._and()
        while self._accept("||"):
            self._optional_newlines()
            value = Binary("||", value, self._and())
        return value

    def _and(self) -> Expr:
        value = self._in()
        while self._accept("&&"):
            self._optional_newlines()
            value = Binary("&&", value, self._in())
        return value

    def _in(self) -> Expr:
        value = self._match()
        while self._peek() == "in" and not self._no_in:
            self._take()
            subscripts = value.items if isinstance(value, Grouping) else (value,)
            value = Membership(subscripts, self._expect("name").text)
        return value

    def _match(self) -> Expr:
        value = self._comparison()
        while self._peek() in ("~", "!~"):
            operator = self._take().kind
            value = Binary(operator, value, self._comparison())
        return value

    def _comparison(self) -> Expr:
        value = self._concatenation()
        if self._peek() in ("<", "<=", "==", "!=", ">=") or (self._peek() == ">" and not self._no_greater):
            operator = self._take().kind
            value = Binary(operator, value, self._concatenation())
        return value

    def _concatenation(self) -> Expr:
        value = self._additive()
        while self._peek() in _CONCATENATED and self._peek() not in ("-", "+"):
            value = Binary("", value, self._additive())
        return value

    def _additive(self) -> Expr:
        value = self._multiplicative()
        while self._peek() in ("+", "-"):
            operator = self._take().kind
            value = Binary(operator, value, self._multiplicative())
        return value

    def _multiplicative(self) -> Expr:
        value = self._unary()
        while self._peek() in ("*", "/", "%"):
            operator = self._take().kind
            value = Binary(operator, value, self._unary())
        return value

    def _unary(self) -> Expr:
        if self._peek() in ("!", "-", "+"):
            self._depth += 1
            if self._depth > _DEPTH_MAX:
                raise AwkProblem("expression nested too deep", "syntax")
            operator = self._take().kind
            operand = self._unary()
            self._depth -= 1
            return Unary(operator, operand)
        return self._power()

    def _power(self) -> Expr:
        base = self._postfix()
        if self._accept("^"):
            self._depth += 1
            if self._depth > _DEPTH_MAX:
                raise AwkProblem("expression nested too deep", "syntax")
            exponent = self._unary()
            self._depth -= 1
            return Binary("^", base, exponent)
        return base

    def _postfix(self) -> Expr:
        value = self._primary()
        if self._peek() in ("++", "--") and isinstance(value, Name | Field | Element):
            return Increment(value, 1 if self._take().kind == "++" else -1, is_prefix=False)
        return value

    def _primary(self) -> Expr:
        token = self._take()
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
                raise self._failure()
            return Increment(target, 1 if kind == "++" else -1, is_prefix=True)
        if kind == "(":
            return self._grouping()
        if kind == "name":
            return Element(token.text, self._subscripts()) if self._peek() == "[" else Name(token.text)
        if kind == "call":
            return Call(token.text, self._arguments(), is_builtin=False, line=token.line)
        if kind == "builtin":
            arguments = self._arguments() if self._peek() == "(" else ()
            return Call(token.text, arguments, is_builtin=True, line=token.line)
        self._index -= token.kind != "end"
        raise self._failure()

    def _field(self) -> Expr:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise AwkProblem("expression nested too deep", "syntax")
        if self._peek() in ("-", "+", "!"):
            index: Expr = Unary(self._take().kind, self._primary())
        else:
            index = self._primary()
        self._depth -= 1
        return Field(index)

    def _grouping(self) -> Expr:
        outer, self._no_greater = self._no_greater, 0
        no_in, self._no_in = self._no_in, 0
        items = self._expressions()
        self._expect(")")
        self._no_greater, self._no_in = outer, no_in
        if len(items) > 1:
            return Grouping(tuple(items))
        return items[0]

    def _arguments(self) -> tuple[Expr, ...]:
        self._expect("(")
        outer, self._no_greater = self._no_greater, 0
        self._optional_newlines()
        found: list[Expr] = []
        if self._peek() != ")":
            found = self._expressions()
        self._optional_newlines()
        self._expect(")")
        self._no_greater = outer
        return tuple(found)
