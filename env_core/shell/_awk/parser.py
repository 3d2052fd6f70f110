"""The grammar of awk."""

from __future__ import annotations

from functools import lru_cache

from env_core.shell._awk.expressions import DEPTH_MAX, ExpressionParser
from env_core.shell._awk.lexer import AwkProblem, tokens
from env_core.shell._awk.nodes import (
    Block,
    Delete,
    Evaluate,
    Expr,
    ForIn,
    FunctionBody,
    Grouping,
    IfElse,
    Jump,
    Loop,
    Name,
    Print,
    Program,
    Rule,
    Stmt,
)


@lru_cache(maxsize=256)
def parse_program(source: str) -> Program:
    """Return the tree of an awk program.

    Raises:
        AwkProblem: with mawk's text, if it is malformed.
    """
    return _Parser(tokens(source)).program()


class _Parser(ExpressionParser):
    def program(self) -> Program:
        program = Program()
        self.newlines()
        while self.peek() != "end":
            self._item(program)
            self.newlines()
        return program

    def _item(self, program: Program) -> None:
        if self.accept("BEGIN"):
            program.begin.append(self._block())
        elif self.accept("END"):
            program.end.append(self._block())
        elif self.accept("function"):
            self._function(program)
        elif self.peek() == "}":
            line = self.tokens[self.index].line
            raise AwkProblem(
                f"line {line}: extra '}}'\nmawk: line {line}: syntax error at or near end of line", "syntax"
            )
        else:
            pattern = None if self.peek() == "{" else self.expression()
            last = None
            if pattern is not None and self.accept(","):
                self.optional_newlines()
                last = self.expression()
            action = self._block() if self.peek() == "{" else None
            program.rules.append(Rule(pattern, last, action))

    def _function(self, program: Program) -> None:
        token = self.take()
        if token.kind not in ("name", "call"):
            self.index -= 1
            raise self.failure()
        self.expect("(")
        parameters: list[str] = []
        while self.peek() != ")":
            parameters.append(self.expect("name").text)
            if not self.accept(","):
                break
            self.optional_newlines()
        self.expect(")")
        self.optional_newlines()
        program.functions[token.text] = FunctionBody(tuple(parameters), self._block())

    def _block(self) -> Block:
        self.expect("{")
        body: list[Stmt] = []
        self.newlines()
        while self.peek() != "}":
            if self.peek() == "end":
                line = self.tokens[self.index].line + 1
                raise AwkProblem(f"line {line}: missing }} near end of file", "syntax")
            body.append(self._statement())
            self.newlines()
        self.take()
        return Block(tuple(body))

    def _statement(self) -> Stmt:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise AwkProblem("program nested too deep", "syntax")
        statement = self._any_statement()
        self.depth -= 1
        return statement

    def _any_statement(self) -> Stmt:
        kind = self.peek()
        if kind == "{":
            return self._block()
        if kind == "if":
            return self._if()
        if kind == "while":
            self.take()
            condition = self._parenthesised()
            if self.accept(";"):
                return Loop(None, condition, None, Block(()))
            self.optional_newlines()
            return Loop(None, condition, None, self._statement())
        if kind == "do":
            self.take()
            self.newlines()
            body = self._statement()
            self.newlines()
            self.expect("while")
            condition = self._parenthesised()
            self._end()
            return Loop(None, condition, None, body, checks_last=True)
        if kind == "for":
            return self._for()
        if kind == ";":
            self.take()
            return Block(())
        statement = self._simple_statement()
        self._end()
        return statement

    def _end(self) -> None:
        if self.peek() in (";", "\n"):
            self.take()
        elif self.peek() not in ("}", "end"):
            raise self.failure()

    def _parenthesised(self) -> Expr:
        self.expect("(")
        value = self.expression()
        self.expect(")")
        return value

    def _if(self) -> Stmt:
        self.take()
        condition = self._parenthesised()
        self.optional_newlines()
        yes = self._statement()
        mark = self.index
        self.newlines()
        if self.accept("else"):
            self.optional_newlines()
            return IfElse(condition, yes, self._statement())
        self.index = mark
        return IfElse(condition, yes, None)

    def _for(self) -> Stmt:
        self.take()
        self.expect("(")
        ahead = [token.kind for token in self.tokens[self.index : self.index + 4]]
        if ahead == ["name", "in", "name", ")"]:
            name = Name(self.take().text)
            self.take()
            array = self.take().text
            self.take()
            self.optional_newlines()
            return ForIn(name, array, self._statement())
        start = None if self.peek() == ";" else self._simple_statement()
        self.expect(";")
        self.optional_newlines()
        condition = None if self.peek() == ";" else self.expression()
        self.expect(";")
        self.optional_newlines()
        step = None if self.peek() == ")" else self._simple_statement()
        self.expect(")")
        if self.accept(";"):
            return Loop(start, condition, step, Block(()))
        self.optional_newlines()
        return Loop(start, condition, step, self._statement())

    def _simple_statement(self) -> Stmt:
        kind = self.peek()
        if kind in ("print", "printf"):
            return self._print()
        if kind in ("break", "continue", "next"):
            self.take()
            return Jump(kind)
        if kind in ("exit", "return"):
            self.take()
            return Jump(kind, None if self.peek() in (";", "\n", "}", "end") else self.expression())
        if kind == "delete":
            self.take()
            name = self.expect("name").text
            return Delete(name, self.subscripts() if self.peek() == "[" else None)
        return Evaluate(self.expression())

    def _print(self) -> Stmt:
        is_formatted = self.take().kind == "printf"
        arguments: list[Expr] = []
        self.no_greater += 1
        if self.peek() not in (";", "\n", "}", "end", ">", ">>", "|"):
            arguments = self.expressions()
        self.no_greater -= 1
        if len(arguments) == 1 and isinstance(arguments[0], Grouping):
            arguments = list(arguments[0].items)
        redirect = ""
        target = None
        if self.peek() in (">", ">>", "|"):
            redirect = self.take().kind
            self.no_greater += 1
            target = self.concatenation()
            self.no_greater -= 1
        if is_formatted and not arguments:
            raise self.failure()
        return Print(tuple(arguments), is_formatted, redirect, target)
