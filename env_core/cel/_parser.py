"""Reads an expression: the grammar, with the places at which ANTLR's parser looks whether it can go on.

Source: the grammar of github.com/google/cel-go v0.29 parser/gen/CEL.g4, and its parser/parser.go for what the nodes
mean; the order of checks is that of ANTLR's generated parser, because its complaints follow from it.
"""

from __future__ import annotations

from typing import Final

from env_core.cel._ast import (
    Call,
    Ident,
    Literal,
    Node,
    Select,
    Unspecified,
)
from env_core.cel._escaping import RESERVED
from env_core.cel._lexer import (
    EOF,
    ESC_IDENTIFIER,
    IDENTIFIER,
    KIND,
    NUM_FLOAT,
    NUM_INT,
    Token,
)
from env_core.cel._literal_parser import (
    AND,
    COLON,
    COMMA,
    DOT,
    ENDED,
    EXPR,
    LBRACE,
    LBRACKET,
    LPAREN,
    MEMBER,
    MINUS,
    MORE_LIST,
    NOT,
    OR,
    QUERY,
    RBRACKET,
    RPAREN,
    LiteralReader,
)
from env_core.cel._macros import expand
from env_core.cel._recovery import END, GiveUp, Kinds, Mismatch
from env_core.cel._source import NOWHERE, Issues

_TEXT_MAX: Final = 100_000


_RELATIONS: Final = {KIND[text]: f"_{text}_" for text in ("<", "<=", ">=", ">", "==", "!=")} | {
    KIND["in"]: "@in"
}
_PRODUCTS: Final = {KIND[text]: f"_{text}_" for text in "*/%"}
_SUMS: Final = {KIND[text]: f"_{text}_" for text in "+-"}
_MORE_SUFFIXES: Final = frozenset({DOT, LBRACKET, END})
_MORE_CALC: Final = frozenset({*_PRODUCTS, *_SUMS, END})
_MORE_RELATION: Final = frozenset({*_RELATIONS, END})


def parse(text: str) -> tuple[Node, Issues]:
    """Return the tree of an expression, and the complaints about it (then the tree means nothing)."""
    if len(text) > _TEXT_MAX:
        issues = Issues(text)
        issues.add(NOWHERE, f"expression code point size exceeds limit: size: {len(text)}, limit {_TEXT_MAX}")
        return Unspecified(NOWHERE), issues
    parser = _Parser(text)
    try:
        node = parser.start()
    except GiveUp:
        node = Unspecified(NOWHERE)
    parser.issues.extend(parser.complaints)
    return node, parser.issues


class _Parser(LiteralReader):
    """One reading of one text."""

    __slots__ = ()

    def start(self) -> Node:
        """Read the whole text."""
        node = self.expr(frozenset({EOF}))
        try:
            self.match("start", EOF, frozenset({EOF}))
        except Mismatch as error:
            self.recover(error)
        return node

    def _call(self, offset: int, function: str, target: Node | None, args: list[Node]) -> Node:
        expanded = expand(offset, function, target, args, self.complaints)
        return self.made(Call(offset, function, target, args) if expanded is None else expanded)

    def expr(self, follow: Kinds) -> Node:
        """Read a whole expression."""
        self.begin(follow)
        try:
            node = self._or(frozenset({QUERY, END}))
            self.sync("expr?", frozenset({QUERY, END}))
            if self.kind() == QUERY:
                query = self.match("expr ?", QUERY, EXPR)
                truthy = self._or(frozenset({COLON}))
                self.match("expr :", COLON, EXPR)
                node = self._call(query.offset, "_?_:_", None, [node, truthy, self.expr(ENDED)])
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()
        return node

    def _or(self, follow: Kinds) -> Node:
        return self._logical(follow, OR, "_||_")

    def _logical(self, follow: Kinds, operator: int, function: str) -> Node:
        """Read terms that are joined by one of the logical operators: one node for all of them."""
        self.begin(follow)
        more = frozenset({operator, END})
        try:
            terms = [self._and(more) if operator == OR else self._relation(more, 0)]
            offset = NOWHERE
            while self.kind() == operator:
                token = self.match(function, operator, EXPR)
                offset = token.offset if offset == NOWHERE else offset
                terms.append(self._and(more) if operator == OR else self._relation(more, 0))
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()
        return terms[0] if len(terms) == 1 else self.made(Call(offset, function, None, terms))

    def _and(self, follow: Kinds) -> Node:
        return self._logical(follow, AND, "_&&_")

    def _relation(self, follow: Kinds, precedence: int) -> Node:
        self.begin(follow)
        try:
            node = self._calc(_MORE_RELATION, 0)
            while precedence <= 1 and self.kind() in _RELATIONS:
                token = self.take()
                right = self._relation(_MORE_RELATION, 2)
                node = self._call(token.offset, _RELATIONS[token.kind], None, [node, right])
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()
        return node

    def _calc(self, follow: Kinds, precedence: int) -> Node:
        self.begin(follow)
        try:
            node = self._unary(_MORE_CALC)
            while True:
                kind = self.kind()
                if precedence <= 2 and kind in _PRODUCTS:
                    function, inner = _PRODUCTS[kind], 3
                elif precedence <= 1 and kind in _SUMS:
                    function, inner = _SUMS[kind], 2
                else:
                    break
                token = self.take()
                node = self._call(token.offset, function, None, [node, self._calc(_MORE_CALC, inner)])
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()
        return node

    def _unary(self, follow: Kinds) -> Node:
        self.begin(follow)
        try:
            self.sync("unary", EXPR)
            kind = self.kind()
            if kind == NOT:
                return self._prefixed(NOT, "!_", MEMBER | {NOT})
            if kind == MINUS and self.kind(1) not in (NUM_INT, NUM_FLOAT):
                if self.kind(1) not in MEMBER:
                    raise self.no_alternative(1)
                return self._prefixed(MINUS, "-_", MEMBER)
            if kind not in MEMBER:
                raise self.no_alternative(0)
            return self._member(ENDED)
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()

    def _prefixed(self, operator: int, function: str, more: Kinds) -> Node:
        first = self.match(function, operator, more)
        count = 1
        while True:
            self.sync_back(f"{function} back", more)
            if self.kind() != operator:
                break
            self.match(function, operator, more)
            count += 1
        if self.kind() not in MEMBER:
            raise self.no_alternative(0)
        node = self._member(ENDED)
        return node if count % 2 == 0 else self._call(first.offset, function, None, [node])

    def _member(self, follow: Kinds) -> Node:
        self.begin(follow)
        node: Node = Unspecified(self.current.offset)
        try:
            node = self._primary(_MORE_SUFFIXES)
            while self.kind() in (DOT, LBRACKET):
                node = self._indexed(node) if self.kind() == LBRACKET else self._selected(node)
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()
        return node

    def _selected(self, operand: Node) -> Node:
        if self.kind(1) not in (QUERY, IDENTIFIER, ESC_IDENTIFIER):
            raise self.no_alternative(1)
        if self.kind(1) == IDENTIFIER and self.kind(2) == LPAREN:
            self.take()
            name = self.take()
            opening = self.take()
            args, error = self._arguments("member call")
            node = self._call(opening.offset, name.text, operand, args)
            if error is not None:
                error.node = node
                raise error
            return node
        dot = self.take()
        is_optional = self.kind() == QUERY
        if is_optional:
            self.take()
        name = self.name(_MORE_SUFFIXES)
        text = name.text.strip("`")
        if is_optional:
            field = Literal(name.offset, text)
            return self.made(Call(dot.offset, "_?._", None, [operand, field]))
        return self.made(Select(dot.offset, operand, text))

    def _indexed(self, operand: Node) -> Node:
        bracket = self.take()
        self.sync("index?", EXPR | {QUERY})
        function = "_[_]"
        if self.kind() == QUERY:
            self.take()
            function = "_[?_]"
        index = self.expr(frozenset({RBRACKET}))
        node = self._call(bracket.offset, function, None, [operand, index])
        try:
            self.match("index ]", RBRACKET, _MORE_SUFFIXES)
        except Mismatch as error:
            error.node = node
            raise
        return node

    def _arguments(self, place: str) -> tuple[list[Node], Mismatch | None]:
        """Read arguments and the closing parenthesis; return the complaint about the latter."""
        args: list[Node] = []
        try:
            self.sync(f"{place}?", EXPR | {RPAREN})
            if self.kind() in EXPR:
                args = self._expressions()
            self.match(f"{place} )", RPAREN, _MORE_SUFFIXES if place == "member call" else ENDED)
        except Mismatch as error:
            return args, error
        return args, None

    def _expressions(self) -> list[Node]:
        self.begin(frozenset({RPAREN}))
        found: list[Node] = []
        try:
            found.append(self.expr(MORE_LIST))
            while self.kind() == COMMA:
                self.match("exprList ,", COMMA, EXPR)
                found.append(self.expr(MORE_LIST))
        except Mismatch as error:
            self.failed(error)
        finally:
            self.end()
        return found

    def _primary(self, follow: Kinds) -> Node:
        self.begin(follow)
        try:
            self.sync("primary", MEMBER)
            kind = self.kind()
            if kind in (IDENTIFIER, DOT):
                return self._named()
            if kind == LPAREN:
                return self._nested()
            if kind == LBRACKET:
                return self.list()
            if kind == LBRACE:
                return self.map()
            if kind not in MEMBER:
                raise self.no_alternative(0)
            return self.literal(ENDED)
        except Mismatch as error:
            return self.failed(error)
        finally:
            self.end()

    def _named(self) -> Node:
        """Read a variable, a call of a function or a message literal, whichever the tokens lead to."""
        dots = int(self.kind() == DOT)
        if self.kind(dots) != IDENTIFIER:
            raise self.no_alternative(dots)
        if self.kind(dots + 1) == LPAREN:
            return self._global_call(dots)
        ahead = dots + 1
        while self.kind(ahead) == DOT and self.kind(ahead + 1) == IDENTIFIER:
            ahead += 2
        if self.kind(ahead) == LBRACE:
            return self.message(ahead)
        prefix = self.take().text if dots else ""
        name = self.take()
        return self._identifier(name, prefix)

    def _identifier(self, name: Token, prefix: str) -> Node:
        if name.text in RESERVED:
            self.complaints.add(name.offset, f"reserved identifier: {name.text}")
            return Unspecified(name.offset)
        return Ident(name.offset, prefix + name.text)

    def _global_call(self, dots: int) -> Node:
        start = self.current.offset
        prefix = self.take().text if dots else ""
        name = self.take()
        opening = self.take()
        args, error = self._arguments("call")
        if name.text in RESERVED:
            self.complaints.add(start, f"reserved identifier: {name.text}")
            node: Node = Unspecified(start)
        else:
            node = self._call(opening.offset, prefix + name.text, None, args)
        if error is not None:
            error.node = node
            raise error
        return node

    def _nested(self) -> Node:
        self.match("nested (", LPAREN, EXPR)
        node = self.expr(frozenset({RPAREN}))
        try:
            self.match("nested )", RPAREN, ENDED)
        except Mismatch as error:
            error.node = node
            raise
        return node
