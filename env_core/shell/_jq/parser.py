"""The grammar of jq 1.6."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from env_core.shell._jq.lexer import CompileProblem, Token, tokens
from env_core.shell._jq.nodes import (
    Alternative,
    ArrayOf,
    ArrayPattern,
    Bind,
    BreakTo,
    Call,
    Comma,
    Conditional,
    Define,
    Foreach,
    Format,
    Identity,
    Index,
    Interpolated,
    Iterate,
    Label,
    Literal,
    Logic,
    NamePattern,
    Negate,
    Node,
    ObjectOf,
    ObjectPattern,
    Operate,
    Pattern,
    Pipe,
    Reduce,
    Slice,
    Try,
    Update,
    Variable,
)
from env_core.shell._jq.values import typed

_DEPTH_MAX: Final = 60
_QUOTING: Final = " (Unix shell quoting issues?)"
_UPDATES: Final = frozenset(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="))
_COMPARISONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))
_SHOWN: Final = {
    "number": "LITERAL", "name": "IDENT", "field": "FIELD", "format": "FORMAT", "string": "QQSTRING_START",
    "invalid": "INVALID_CHARACTER", "end": "$end",
}  # fmt: skip
_TERM_KINDS: Final = frozenset(("number", "name", "field", "format", "string"))
_TERM_OPERATORS: Final = frozenset((".", "..", "(", "[", "{", "$"))


@lru_cache(maxsize=256)
def parse_filter(source: str) -> Node:
    """Return the tree of a filter.

    Raises:
        CompileProblem: with jq 1.6's text, if it is malformed.
    """
    return _Parser(tokens(source)).program()


class _Parser:
    def __init__(self, stream: list[Token] | tuple[Token, ...]) -> None:
        self._tokens = stream
        self._index = 0
        self._depth = 0

    def program(self) -> Node:
        if self._peek().kind == "end":
            return Identity()
        if (
            not self._starts_term()
            and not self._is("-")
            and not self._is_word("def", "label", "reduce", "if", "try", "foreach")
        ):
            raise self._failure("$end")
        node = self._pipe()
        if self._peek().kind != "end":
            raise self._failure("$end")
        return node

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._peek()
        self._index += token.kind != "end"
        return token

    def _is(self, *operators: str) -> bool:
        token = self._peek()
        return token.kind == "op" and token.text in operators

    def _is_word(self, *words: str) -> bool:
        token = self._peek()
        return token.kind == "keyword" and token.text in words

    def _starts_term(self) -> bool:
        token = self._peek()
        return (
            token.kind in _TERM_KINDS
            or (token.kind == "op" and token.text in _TERM_OPERATORS)
            or self._is_word("__loc__", "if", "reduce", "foreach", "try", "label", "def")
        )

    def _accept(self, operator: str) -> bool:
        if self._is(operator):
            self._take()
            return True
        return False

    def _expect(self, operator: str, expecting: str = "") -> None:
        if not self._accept(operator):
            raise self._failure(expecting)

    def _expect_word(self, word: str) -> None:
        if not self._is_word(word):
            raise self._failure()
        self._take()

    def _failure(self, expecting: str = "") -> CompileProblem:
        token = self._peek()
        shown = _SHOWN.get(token.kind, token.text)
        if token.kind == "op" and len(token.text) == 1:
            shown = f"'{token.text}'"
        wanted = f", expecting {expecting}" if expecting else ""
        return CompileProblem(f"syntax error, unexpected {shown}{wanted}{_QUOTING}", token.start)

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise CompileProblem("syntax error, memory exhausted" + _QUOTING, self._peek().start)

    def _pipe(self) -> Node:
        self._enter()
        node = self._pipe_body()
        self._depth -= 1
        return node

    def _pipe_body(self) -> Node:
        if self._is_word("def"):
            return self._definition()
        if self._is_word("label"):
            self._take()
            self._expect("$")
            name = self._take().text
            self._expect("|")
            return Label(name, self._pipe())
        left = self._comma()
        if self._accept("|"):
            return Pipe(left, self._pipe())
        return left

    def _definition(self) -> Node:
        self._take()
        name = self._name()
        parameters: list[str] = []
        if self._accept("("):
            while True:
                is_value = self._accept("$")
                parameters.append(("$" if is_value else "") + self._name())
                if not self._accept(";"):
                    break
            self._expect(")")
        self._expect(":")
        body = self._pipe()
        self._expect(";")
        rest: Node = Identity() if self._peek().kind == "end" else self._pipe()
        return Define(name, tuple(parameters), body, rest)

    def _name(self) -> str:
        token = self._peek()
        if token.kind not in ("name", "keyword"):
            raise self._failure("IDENT")
        return self._take().text

    def _binding(self, source: Node) -> Node:
        self._take()
        patterns = [self._pattern()]
        while self._accept("?//"):
            patterns.append(self._pattern())
        self._expect("|")
        return Bind(source, tuple(patterns), self._pipe())

    def _pattern(self) -> Pattern:
        self._enter()
        pattern = self._pattern_body()
        self._depth -= 1
        return pattern

    def _pattern_body(self) -> Pattern:
        if self._accept("$"):
            return NamePattern(self._name())
        if self._accept("["):
            items = [self._pattern()]
            while self._accept(","):
                items.append(self._pattern())
            self._expect("]")
            return ArrayPattern(tuple(items))
        if self._accept("{"):
            entries = [self._pattern_entry()]
            while self._accept(","):
                entries.append(self._pattern_entry())
            self._expect("}")
            return ObjectPattern(tuple(entries))
        raise self._failure()

    def _pattern_entry(self) -> tuple[Node, str, Pattern | None]:
        if self._accept("$"):
            name = self._name()
            return Literal(name), name, self._pattern() if self._accept(":") else None
        key: Node
        if self._peek().kind in ("name", "keyword"):
            key = Literal(self._take().text)
        elif self._peek().kind == "string":
            key = self._string("text")
        else:
            self._expect("(")
            key = self._pipe()
            self._expect(")")
        self._expect(":")
        return key, "", self._pattern()

    def _comma(self) -> Node:
        left = self._alternative()
        while self._accept(","):
            right = self._alternative()
            left = Comma(left, right)
        return left

    def _alternative(self) -> Node:
        left = self._update()
        if self._accept("//"):
            self._enter()
            right = self._alternative()
            self._depth -= 1
            return Alternative(left, right)
        return left

    def _update(self) -> Node:
        left = self._or()
        if self._peek().kind == "op" and self._peek().text in _UPDATES:
            operator = self._take().text
            # "a = b // c" updates with the whole of "b // c".
            return Update(operator, left, self._alternative())
        return left

    def _or(self) -> Node:
        left = self._and()
        while self._is_word("or"):
            self._take()
            left = Logic(False, left, self._and())
        return left

    def _and(self) -> Node:
        left = self._comparison()
        while self._is_word("and"):
            self._take()
            left = Logic(True, left, self._comparison())
        return left

    def _comparison(self) -> Node:
        left = self._additive()
        if self._peek().kind == "op" and self._peek().text in _COMPARISONS:
            operator = self._take().text
            left = Operate(operator, left, self._additive())
            if self._peek().kind == "op" and self._peek().text in _COMPARISONS:
                raise self._failure()
        return left

    def _additive(self) -> Node:
        left = self._multiplicative()
        while self._is("+", "-"):
            operator = self._take().text
            left = Operate(operator, left, self._multiplicative())
        return left

    def _multiplicative(self) -> Node:
        left = self._unary()
        while self._is("*", "/", "%"):
            token = self._take()
            right = self._unary()
            if (
                token.text == "/"
                and isinstance(left, Literal)
                and isinstance(right, Literal)
                and right.value == 0
            ):
                raise CompileProblem("Division by zero?", self._tokens[0].start)
            left = Operate(token.text, left, right)
        return left

    def _unary(self) -> Node:
        if self._is("-"):
            self._enter()
            self._take()
            operand = self._unary()
            self._depth -= 1
            return Negate(operand)
        return self._postfix()

    def _postfix(self, *, binds: bool = True) -> Node:
        """Take a term with what follows it, an `as` too when it `binds`."""
        self._enter()
        node = self._term()
        while True:
            token = self._peek()
            if token.kind == "field":
                self._take()
                node = Index(node, Literal(token.text))
            elif self._is(".") and self._peek(1).kind == "string":
                self._take()
                node = Index(node, self._string("text"))
            elif self._is("."):
                self._take()
                raise self._failure("FORMAT or QQSTRING_START")
            elif self._is("["):
                node = self._bracket(node)
            elif self._accept("?"):
                node = Try(node, None)
            elif binds and self._is_word("as"):
                node = self._binding(node)
            else:
                break
        self._depth -= 1
        return node

    def _bracket(self, target: Node) -> Node:
        self._take()
        if self._accept("]"):
            return Iterate(target)
        if self._accept(":"):
            end = self._pipe()
            self._expect("]")
            return Slice(target, None, end)
        key = self._pipe()
        if self._accept(":"):
            if self._accept("]"):
                return Slice(target, key, None)
            end = self._pipe()
            self._expect("]")
            return Slice(target, key, end)
        self._expect("]")
        return Index(target, key)

    def _term(self) -> Node:
        token = self._peek()
        kind = token.kind
        if kind == "number":
            self._take()
            value = float(token.text)
            return Literal(int(value) if value.is_integer() and abs(value) < 2**53 else value)
        if kind == "string":
            return self._string("text")
        if kind == "format":
            self._take()
            return self._string(token.text[1:]) if self._peek().kind == "string" else Format(token.text[1:])
        if kind == "field":
            self._take()
            return Index(Identity(), Literal(token.text))
        if kind == "name":
            return self._call()
        if kind == "keyword":
            return self._keyword()
        if kind != "op":
            raise self._failure()
        return self._operator_term(token)

    def _operator_term(self, token: Token) -> Node:
        if token.text == ".":
            self._take()
            if self._peek().kind == "string":
                return Index(Identity(), self._string("text"))
            return Identity()
        if token.text == "..":
            self._take()
            return Call("recurse", (), token.start)
        if token.text == "$":
            self._take()
            if self._is_word("__loc__"):
                self._take()
                return Literal({"file": "<top-level>", "line": 1})
            return Variable(self._name(), token.start)
        if token.text == "(":
            self._take()
            node = self._pipe()
            self._expect(")")
            return node
        if token.text == "[":
            self._take()
            if self._accept("]"):
                return ArrayOf(None)
            body = self._pipe()
            self._expect("]")
            return ArrayOf(body)
        if token.text == "{":
            return self._object()
        raise self._failure()

    def _call(self) -> Node:
        token = self._take()
        if token.text == "break" and self._is("$"):
            self._take()
            return BreakTo(self._name(), token.start)
        arguments: list[Node] = []
        if self._accept("("):
            arguments.append(self._pipe())
            while self._accept(";"):
                arguments.append(self._pipe())
            self._expect(")", "';' or ')'")
        constants = {"null": None, "true": True, "false": False}
        if token.text in constants and not arguments:
            return Literal(constants[token.text])
        return Call(token.text, tuple(arguments), token.start)

    def _keyword(self) -> Node:
        word = self._peek().text
        if word == "if":
            self._take()
            return self._conditional()
        if word == "try":
            self._take()
            body = self._postfix()
            handler = None
            if self._is_word("catch"):
                self._take()
                handler = self._postfix()
            return Try(body, handler)
        if word == "reduce":
            self._take()
            source = self._source()
            pattern = self._pattern()
            self._expect("(")
            start = self._pipe()
            self._expect(";")
            update = self._pipe()
            self._expect(")")
            return Reduce(source, pattern, start, update)
        if word == "foreach":
            self._take()
            source = self._source()
            pattern = self._pattern()
            self._expect("(")
            start = self._pipe()
            self._expect(";")
            update = self._pipe()
            extract = self._pipe() if self._accept(";") else None
            self._expect(")")
            return Foreach(source, pattern, start, update, extract)
        if word in ("def", "label"):
            return self._pipe_body()
        raise self._failure()

    def _source(self) -> Node:
        """Take the source of a reduce or foreach, and the `as` behind it."""
        node = self._postfix(binds=False)
        self._expect_word("as")
        return node

    def _conditional(self) -> Node:
        self._enter()
        condition = self._pipe()
        self._expect_word("then")
        yes = self._pipe()
        if self._is_word("elif"):
            self._take()
            no = self._conditional()
            self._depth -= 1
            return Conditional(condition, yes, no)
        if not self._is_word("else"):
            start = self._tokens[0].start
            problem = self._failure()
            problem.errors.append(("Possibly unterminated 'if' statement", start))
            raise problem
        self._take()
        no = self._pipe()
        self._expect_word("end")
        self._depth -= 1
        return Conditional(condition, yes, no)

    def _object(self) -> Node:
        self._take()
        entries: list[tuple[Node, Node]] = []
        while not self._is("}"):
            entries.append(self._entry())
            if not self._accept(","):
                break
        self._expect("}", "'}'")
        return ObjectOf(tuple(entries))

    def _entry(self) -> tuple[Node, Node]:
        token = self._peek()
        key: Node
        if token.kind == "op" and token.text == "$":
            self._take()
            if self._is_word("__loc__"):
                self._take()
                return Literal("__loc__"), Literal({"file": "<top-level>", "line": 1})
            name = self._name()
            return Literal(name), Variable(name, token.start)
        if token.kind in ("name", "keyword"):
            key = Literal(self._take().text)
        elif token.kind == "number":
            self._take()
            key = Literal(float(token.text))
            self._expect(":")
            raise CompileProblem("Object keys must be strings", token.start)
        elif token.kind == "string":
            key = self._string("text")
        elif token.kind == "format":
            self._take()
            key = self._string(token.text[1:]) if self._peek().kind == "string" else Format(token.text[1:])
        elif self._is("("):
            self._take()
            key = self._pipe()
            self._expect(")")
            if isinstance(key, Literal) and not isinstance(key.value, str):
                raise CompileProblem(
                    f"Cannot use {typed(key.value)} as object key", self._tokens[0].start + 1
                )
            self._expect(":")
            return key, self._object_value()
        else:
            raise self._failure()
        if self._accept(":"):
            return key, self._object_value()
        return key, Index(Identity(), key)

    def _object_value(self) -> Node:
        """Take the value of an entry: terms joined by `|`, as 1.6 has it, or a negated term."""
        node = self._object_term()
        while self._accept("|"):
            node = Pipe(node, self._object_term())
        return node

    def _object_term(self) -> Node:
        if self._accept("-"):
            return Negate(self._object_term())
        if self._is_word("if", "reduce", "foreach", "try", "def", "label"):
            raise self._failure()
        return self._postfix(binds=False)

    def _string(self, format_name: str) -> Node:
        token = self._take()
        if all(isinstance(part, str) for part in token.parts):
            return Literal("".join(part for part in token.parts if isinstance(part, str)))
        parts: list[str | Node] = []
        for part in token.parts:
            if isinstance(part, str):
                parts.append(part)
                continue
            inner = _Parser(part)
            inner._depth = self._depth + 1
            node = inner._pipe()
            if inner._peek().kind != "end":
                raise inner._failure()
            parts.append(node)
        return Interpolated(tuple(parts), format_name)
