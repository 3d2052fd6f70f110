"""The grammar of jq's terms."""

from __future__ import annotations

from abc import abstractmethod

from env_core.shell._jq.lexer import Token
from env_core.shell._jq.nodes import (
    ArrayOf,
    Bind,
    BreakTo,
    Call,
    Conditional,
    Foreach,
    Format,
    Identity,
    Index,
    Iterate,
    Literal,
    Node,
    Reduce,
    Slice,
    Try,
    Variable,
)
from env_core.shell._jq.pieces import PieceParser


class TermParser(PieceParser):
    """Takes terms, with their indices and bindings."""

    @abstractmethod
    def pipe_body(self) -> Node:
        """Take a filter whose depth is counted already."""

    def _binding(self, source: Node) -> Node:
        self.take()
        patterns = [self.pattern()]
        while self.accept("?//"):
            patterns.append(self.pattern())
        self.expect("|")
        return Bind(source, tuple(patterns), self.pipe())

    def postfix(self, *, binds: bool = True) -> Node:
        """Take a term with what follows it, an `as` too when it `binds`."""
        self.enter()
        node = self._term()
        while True:
            token = self.peek()
            if token.kind == "field":
                self.take()
                node = Index(node, Literal(token.text))
            elif self.comes(".") and self.peek(1).kind == "string":
                self.take()
                node = Index(node, self.string("text"))
            elif self.comes("."):
                self.take()
                raise self.failure("FORMAT or QQSTRING_START")
            elif self.comes("["):
                node = self._bracket(node)
            elif self.accept("?"):
                node = Try(node, None)
            elif binds and self.is_word("as"):
                node = self._binding(node)
            else:
                break
        self.depth -= 1
        return node

    def _bracket(self, target: Node) -> Node:
        self.take()
        if self.accept("]"):
            return Iterate(target)
        if self.accept(":"):
            end = self.pipe()
            self.expect("]")
            return Slice(target, None, end)
        key = self.pipe()
        if self.accept(":"):
            if self.accept("]"):
                return Slice(target, key, None)
            end = self.pipe()
            self.expect("]")
            return Slice(target, key, end)
        self.expect("]")
        return Index(target, key)

    def _term(self) -> Node:
        token = self.peek()
        kind = token.kind
        if kind == "number":
            self.take()
            value = float(token.text)
            return Literal(int(value) if value.is_integer() and abs(value) < 2**53 else value)
        if kind == "string":
            return self.string("text")
        if kind == "format":
            self.take()
            return self.string(token.text[1:]) if self.peek().kind == "string" else Format(token.text[1:])
        if kind == "field":
            self.take()
            return Index(Identity(), Literal(token.text))
        if kind == "name":
            return self._call()
        if kind == "keyword":
            return self._keyword()
        if kind != "op":
            raise self.failure()
        return self._operator_term(token)

    def _operator_term(self, token: Token) -> Node:
        if token.text == ".":
            self.take()
            if self.peek().kind == "string":
                return Index(Identity(), self.string("text"))
            return Identity()
        if token.text == "..":
            self.take()
            return Call("recurse", (), token.start)
        if token.text == "$":
            self.take()
            if self.is_word("__loc__"):
                self.take()
                return Literal({"file": "<top-level>", "line": 1})
            return Variable(self.name(), token.start)
        if token.text == "(":
            self.take()
            node = self.pipe()
            self.expect(")")
            return node
        if token.text == "[":
            self.take()
            if self.accept("]"):
                return ArrayOf(None)
            body = self.pipe()
            self.expect("]")
            return ArrayOf(body)
        if token.text == "{":
            return self.object()
        raise self.failure()

    def _call(self) -> Node:
        token = self.take()
        if token.text == "break" and self.comes("$"):
            self.take()
            return BreakTo(self.name(), token.start)
        arguments: list[Node] = []
        if self.accept("("):
            arguments.append(self.pipe())
            while self.accept(";"):
                arguments.append(self.pipe())
            self.expect(")", "';' or ')'")
        constants = {"null": None, "true": True, "false": False}
        if token.text in constants and not arguments:
            return Literal(constants[token.text])
        return Call(token.text, tuple(arguments), token.start)

    def _keyword(self) -> Node:
        word = self.peek().text
        if word == "if":
            self.take()
            return self._conditional()
        if word == "try":
            self.take()
            body = self.postfix()
            handler = None
            if self.is_word("catch"):
                self.take()
                handler = self.postfix()
            return Try(body, handler)
        if word == "reduce":
            self.take()
            source = self._source()
            pattern = self.pattern()
            self.expect("(")
            start = self.pipe()
            self.expect(";")
            update = self.pipe()
            self.expect(")")
            return Reduce(source, pattern, start, update)
        if word == "foreach":
            self.take()
            source = self._source()
            pattern = self.pattern()
            self.expect("(")
            start = self.pipe()
            self.expect(";")
            update = self.pipe()
            extract = self.pipe() if self.accept(";") else None
            self.expect(")")
            return Foreach(source, pattern, start, update, extract)
        if word in ("def", "label"):
            return self.pipe_body()
        raise self.failure()

    def _source(self) -> Node:
        """Take the source of a reduce or foreach, and the `as` behind it."""
        node = self.postfix(binds=False)
        self.expect_word("as")
        return node

    def _conditional(self) -> Node:
        self.enter()
        condition = self.pipe()
        self.expect_word("then")
        yes = self.pipe()
        if self.is_word("elif"):
            self.take()
            no = self._conditional()
            self.depth -= 1
            return Conditional(condition, yes, no)
        if not self.is_word("else"):
            start = self.tokens[0].start
            problem = self.failure()
            problem.errors.append(("Possibly unterminated 'if' statement", start))
            raise problem
        self.take()
        no = self.pipe()
        self.expect_word("end")
        self.depth -= 1
        return Conditional(condition, yes, no)
