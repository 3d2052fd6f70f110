"""The grammar of what stands inside terms: patterns, strings and objects."""

from __future__ import annotations

from abc import ABC, abstractmethod

from env_core.shell._jq.lexer import CompileProblem
from env_core.shell._jq.nodes import (
    ArrayPattern,
    Format,
    Identity,
    Index,
    Interpolated,
    Literal,
    NamePattern,
    Negate,
    Node,
    ObjectOf,
    ObjectPattern,
    Pattern,
    Pipe,
    Variable,
)
from env_core.shell._jq.tokenreader import TokenReader
from env_core.shell._jq.values import typed


class PieceParser(TokenReader, ABC):
    """Takes patterns, strings and objects."""

    @abstractmethod
    def pipe(self) -> Node:
        """Take a whole filter."""

    @abstractmethod
    def postfix(self, *, binds: bool = True) -> Node:
        """Take a term with what follows it, an `as` too when it `binds`."""

    def name(self) -> str:
        """Take a name, which may be a keyword.

        Raises:
            CompileProblem: if no name comes.
        """
        token = self.peek()
        if token.kind not in ("name", "keyword"):
            raise self.failure("IDENT")
        return self.take().text

    def pattern(self) -> Pattern:
        """Take a destructuring pattern."""
        self.enter()
        pattern = self._pattern_body()
        self.depth -= 1
        return pattern

    def _pattern_body(self) -> Pattern:
        if self.accept("$"):
            return NamePattern(self.name())
        if self.accept("["):
            items = [self.pattern()]
            while self.accept(","):
                items.append(self.pattern())
            self.expect("]")
            return ArrayPattern(tuple(items))
        if self.accept("{"):
            entries = [self._pattern_entry()]
            while self.accept(","):
                entries.append(self._pattern_entry())
            self.expect("}")
            return ObjectPattern(tuple(entries))
        raise self.failure()

    def _pattern_entry(self) -> tuple[Node, str, Pattern | None]:
        if self.accept("$"):
            name = self.name()
            return Literal(name), name, self.pattern() if self.accept(":") else None
        key: Node
        if self.peek().kind in ("name", "keyword"):
            key = Literal(self.take().text)
        elif self.peek().kind == "string":
            key = self.string("text")
        else:
            self.expect("(")
            key = self.pipe()
            self.expect(")")
        self.expect(":")
        return key, "", self.pattern()

    def string(self, format_name: str) -> Node:
        """Take a string; what its parts give is formatted by `format_name`."""
        token = self.take()
        if all(isinstance(part, str) for part in token.parts):
            return Literal("".join(part for part in token.parts if isinstance(part, str)))
        parts: list[str | Node] = []
        for part in token.parts:
            if isinstance(part, str):
                parts.append(part)
                continue
            inner = type(self)(part)
            inner.depth = self.depth + 1
            node = inner.pipe()
            if inner.peek().kind != "end":
                raise inner.failure()
            parts.append(node)
        return Interpolated(tuple(parts), format_name)

    def object(self) -> Node:
        """Take an object in braces."""
        self.take()
        entries: list[tuple[Node, Node]] = []
        while not self.comes("}"):
            entries.append(self._entry())
            if not self.accept(","):
                break
        self.expect("}", "'}'")
        return ObjectOf(tuple(entries))

    def _entry(self) -> tuple[Node, Node]:
        token = self.peek()
        key: Node
        if token.kind == "op" and token.text == "$":
            self.take()
            if self.is_word("__loc__"):
                self.take()
                return Literal("__loc__"), Literal({"file": "<top-level>", "line": 1})
            name = self.name()
            return Literal(name), Variable(name, token.start)
        if token.kind in ("name", "keyword"):
            key = Literal(self.take().text)
        elif token.kind == "number":
            self.take()
            key = Literal(float(token.text))
            self.expect(":")
            raise CompileProblem("Object keys must be strings", token.start)
        elif token.kind == "string":
            key = self.string("text")
        elif token.kind == "format":
            self.take()
            key = self.string(token.text[1:]) if self.peek().kind == "string" else Format(token.text[1:])
        elif self.comes("("):
            self.take()
            key = self.pipe()
            self.expect(")")
            if isinstance(key, Literal) and not isinstance(key.value, str):
                raise CompileProblem(f"Cannot use {typed(key.value)} as object key", self.tokens[0].start + 1)
            self.expect(":")
            return key, self._object_value()
        else:
            raise self.failure()
        if self.accept(":"):
            return key, self._object_value()
        return key, Index(Identity(), key)

    def _object_value(self) -> Node:
        """Take the value of an entry: terms joined by `|`, as 1.6 has it, or a negated term."""
        node = self._object_term()
        while self.accept("|"):
            node = Pipe(node, self._object_term())
        return node

    def _object_term(self) -> Node:
        if self.accept("-"):
            return Negate(self._object_term())
        if self.is_word("if", "reduce", "foreach", "try", "def", "label"):
            raise self.failure()
        return self.postfix(binds=False)
