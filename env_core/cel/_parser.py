"""Reads an expression: the grammar, with the places at which ANTLR's parser looks whether it can go on.

Source: the grammar of github.com/google/cel-go v0.29 parser/gen/CEL.g4, and its parser/parser.go for what the nodes
mean; the order of checks is that of ANTLR's generated parser, because its complaints follow from it.
"""

from __future__ import annotations

from typing import Final

from env_core.cel import _literals
from env_core.cel._ast import (
    Call,
    Entry,
    Ident,
    ListOf,
    Literal,
    MapOf,
    Message,
    Node,
    Select,
    Unspecified,
    children,
)
from env_core.cel._escaping import RESERVED
from env_core.cel._lexer import (
    BYTES,
    EOF,
    ESC_IDENTIFIER,
    IDENTIFIER,
    KIND,
    NUM_FLOAT,
    NUM_INT,
    NUM_UINT,
    STRING,
    Token,
)
from env_core.cel._macros import expand
from env_core.cel._recovery import END, GiveUp, Kinds, Mismatch, Recovering
from env_core.cel._source import NOWHERE, Issues

NESTING_MAX: Final = 400
"""Rules that may be open at a time: about 50 brackets. (cel-go stops at 250 of each rule.)"""
DEPTH_MAX: Final = 120
"""Levels of the tree. (cel-go stops at 250.)"""
_TEXT_MAX: Final = 100_000

_DOT, _COMMA, _MINUS, _NOT, _QUERY, _COLON = (KIND[text] for text in ".,-!?:")
_LPAREN, _RPAREN, _LBRACKET, _RBRACKET, _LBRACE, _RBRACE = (KIND[text] for text in "()[]{}")
_OR, _AND = KIND["||"], KIND["&&"]
_TRUE, _FALSE, _NULL = KIND["true"], KIND["false"], KIND["null"]
_RELATIONS: Final = {KIND[text]: f"_{text}_" for text in ("<", "<=", ">=", ">", "==", "!=")} | {
    KIND["in"]: "@in"
}
_PRODUCTS: Final = {KIND[text]: f"_{text}_" for text in "*/%"}
_SUMS: Final = {KIND[text]: f"_{text}_" for text in "+-"}

_MEMBER: Final = frozenset(
    {_LBRACKET, _LBRACE, _LPAREN, _DOT, _MINUS, _TRUE, _FALSE, _NULL, NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES,
     IDENTIFIER}
)  # fmt: skip
_EXPR: Final = _MEMBER | {_NOT}
_NAME: Final = frozenset({IDENTIFIER, ESC_IDENTIFIER})
_ENDED: Final = frozenset({END})
_MORE_SUFFIXES: Final = frozenset({_DOT, _LBRACKET, END})
_MORE_CALC: Final = frozenset({*_PRODUCTS, *_SUMS, END})
_MORE_RELATION: Final = frozenset({*_RELATIONS, END})
_MORE_LIST: Final = frozenset({_COMMA, END})
_LITERALS: Final = {_TRUE: True, _FALSE: False, _NULL: None}


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


class _Parser(Recovering):
    """One reading of one text. What the tree, not the grammar, complains about comes behind the rest."""

    __slots__ = ("_nesting", "complaints")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.complaints = Issues(text)
        self._nesting = 0

    def start(self) -> Node:
        """Read the whole text."""
        node = self._expr(frozenset({EOF}))
        try:
            self.match("start", EOF, frozenset({EOF}))
        except Mismatch as error:
            self.recover(error)
        return node

    def _begin(self, follow: Kinds) -> None:
        self._nesting += 1
        if self._nesting > NESTING_MAX:
            self.complaints.add(NOWHERE, "expression recursion limit exceeded: 250")
            raise GiveUp
        self.enter(follow)

    def _end(self) -> None:
        self._nesting -= 1
        self.leave()

    def _failed(self, error: Mismatch) -> Node:
        self.recover(error)
        return error.node if error.node is not None else Unspecified(error.offset)

    def _made(self, node: Node) -> Node:
        """Record how deep the tree under a new node is."""
        node.depth = 1 + max((each.depth for each in children(node)), default=0)
        if node.depth > DEPTH_MAX:
            self.complaints.add(NOWHERE, "max recursion depth exceeded")
            raise GiveUp
        return node

    def _call(self, offset: int, function: str, target: Node | None, args: list[Node]) -> Node:
        expanded = expand(offset, function, target, args, self.complaints)
        return self._made(Call(offset, function, target, args) if expanded is None else expanded)

    def _expr(self, follow: Kinds) -> Node:
        self._begin(follow)
        try:
            node = self._or(frozenset({_QUERY, END}))
            self.sync("expr?", frozenset({_QUERY, END}))
            if self.kind() == _QUERY:
                query = self.match("expr ?", _QUERY, _EXPR)
                truthy = self._or(frozenset({_COLON}))
                self.match("expr :", _COLON, _EXPR)
                node = self._call(query.offset, "_?_:_", None, [node, truthy, self._expr(_ENDED)])
        except Mismatch as error:
            return self._failed(error)
        finally:
            self._end()
        return node

    def _or(self, follow: Kinds) -> Node:
        return self._logical(follow, _OR, "_||_")

    def _logical(self, follow: Kinds, operator: int, function: str) -> Node:
        """Read terms that are joined by one of the logical operators: one node for all of them."""
        self._begin(follow)
        more = frozenset({operator, END})
        try:
            terms = [self._and(more) if operator == _OR else self._relation(more, 0)]
            offset = NOWHERE
            while self.kind() == operator:
                token = self.match(function, operator, _EXPR)
                offset = token.offset if offset == NOWHERE else offset
                terms.append(self._and(more) if operator == _OR else self._relation(more, 0))
        except Mismatch as error:
            return self._failed(error)
        finally:
            self._end()
        return terms[0] if len(terms) == 1 else self._made(Call(offset, function, None, terms))

    def _and(self, follow: Kinds) -> Node:
        return self._logical(follow, _AND, "_&&_")

    def _relation(self, follow: Kinds, precedence: int) -> Node:
        self._begin(follow)
        try:
            node = self._calc(_MORE_RELATION, 0)
            while precedence <= 1 and self.kind() in _RELATIONS:
                token = self.take()
                right = self._relation(_MORE_RELATION, 2)
                node = self._call(token.offset, _RELATIONS[token.kind], None, [node, right])
        except Mismatch as error:
            return self._failed(error)
        finally:
            self._end()
        return node

    def _calc(self, follow: Kinds, precedence: int) -> Node:
        self._begin(follow)
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
            return self._failed(error)
        finally:
            self._end()
        return node

    def _unary(self, follow: Kinds) -> Node:
        self._begin(follow)
        try:
            self.sync("unary", _EXPR)
            kind = self.kind()
            if kind == _NOT:
                return self._prefixed(_NOT, "!_", _MEMBER | {_NOT})
            if kind == _MINUS and self.kind(1) not in (NUM_INT, NUM_FLOAT):
                if self.kind(1) not in _MEMBER:
                    raise self.no_alternative(1)
                return self._prefixed(_MINUS, "-_", _MEMBER)
            if kind not in _MEMBER:
                raise self.no_alternative(0)
            return self._member(_ENDED)
        except Mismatch as error:
            return self._failed(error)
        finally:
            self._end()

    def _prefixed(self, operator: int, function: str, more: Kinds) -> Node:
        first = self.match(function, operator, more)
        count = 1
        while True:
            self.sync_back(f"{function} back", more)
            if self.kind() != operator:
                break
            self.match(function, operator, more)
            count += 1
        if self.kind() not in _MEMBER:
            raise self.no_alternative(0)
        node = self._member(_ENDED)
        return node if count % 2 == 0 else self._call(first.offset, function, None, [node])

    def _member(self, follow: Kinds) -> Node:
        self._begin(follow)
        node: Node = Unspecified(self.current.offset)
        try:
            node = self._primary(_MORE_SUFFIXES)
            while self.kind() in (_DOT, _LBRACKET):
                node = self._indexed(node) if self.kind() == _LBRACKET else self._selected(node)
        except Mismatch as error:
            return self._failed(error)
        finally:
            self._end()
        return node

    def _selected(self, operand: Node) -> Node:
        if self.kind(1) not in (_QUERY, IDENTIFIER, ESC_IDENTIFIER):
            raise self.no_alternative(1)
        if self.kind(1) == IDENTIFIER and self.kind(2) == _LPAREN:
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
        is_optional = self.kind() == _QUERY
        if is_optional:
            self.take()
        name = self._name(_MORE_SUFFIXES)
        text = name.text.strip("`")
        if is_optional:
            field = Literal(name.offset, text)
            return self._made(Call(dot.offset, "_?._", None, [operand, field]))
        return self._made(Select(dot.offset, operand, text))

    def _name(self, follow: Kinds) -> Token:
        self._begin(follow)
        try:
            self.sync("escapeIdent", _NAME)
            if self.kind() not in _NAME:
                raise self.no_alternative(0)
            return self.take()
        except Mismatch as error:
            self._failed(error)
            return Token(IDENTIFIER, "", error.offset, error.offset)
        finally:
            self._end()

    def _indexed(self, operand: Node) -> Node:
        bracket = self.take()
        self.sync("index?", _EXPR | {_QUERY})
        function = "_[_]"
        if self.kind() == _QUERY:
            self.take()
            function = "_[?_]"
        index = self._expr(frozenset({_RBRACKET}))
        node = self._call(bracket.offset, function, None, [operand, index])
        try:
            self.match("index ]", _RBRACKET, _MORE_SUFFIXES)
        except Mismatch as error:
            error.node = node
            raise
        return node

    def _arguments(self, place: str) -> tuple[list[Node], Mismatch | None]:
        """Read arguments and the closing parenthesis; return the complaint about the latter."""
        args: list[Node] = []
        try:
            self.sync(f"{place}?", _EXPR | {_RPAREN})
            if self.kind() in _EXPR:
                args = self._expressions()
            self.match(f"{place} )", _RPAREN, _MORE_SUFFIXES if place == "member call" else _ENDED)
        except Mismatch as error:
            return args, error
        return args, None

    def _expressions(self) -> list[Node]:
        self._begin(frozenset({_RPAREN}))
        found: list[Node] = []
        try:
            found.append(self._expr(_MORE_LIST))
            while self.kind() == _COMMA:
                self.match("exprList ,", _COMMA, _EXPR)
                found.append(self._expr(_MORE_LIST))
        except Mismatch as error:
            self._failed(error)
        finally:
            self._end()
        return found

    def _primary(self, follow: Kinds) -> Node:
        self._begin(follow)
        try:
            self.sync("primary", _MEMBER)
            kind = self.kind()
            if kind in (IDENTIFIER, _DOT):
                return self._named()
            if kind == _LPAREN:
                return self._nested()
            if kind == _LBRACKET:
                return self._list()
            if kind == _LBRACE:
                return self._map()
            if kind not in _MEMBER:
                raise self.no_alternative(0)
            return self._literal(_ENDED)
        except Mismatch as error:
            return self._failed(error)
        finally:
            self._end()

    def _named(self) -> Node:
        """Read a variable, a call of a function or a message literal, whichever the tokens lead to."""
        dots = int(self.kind() == _DOT)
        if self.kind(dots) != IDENTIFIER:
            raise self.no_alternative(dots)
        if self.kind(dots + 1) == _LPAREN:
            return self._global_call(dots)
        ahead = dots + 1
        while self.kind(ahead) == _DOT and self.kind(ahead + 1) == IDENTIFIER:
            ahead += 2
        if self.kind(ahead) == _LBRACE:
            return self._message(ahead)
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
        self.match("nested (", _LPAREN, _EXPR)
        node = self._expr(frozenset({_RPAREN}))
        try:
            self.match("nested )", _RPAREN, _ENDED)
        except Mismatch as error:
            error.node = node
            raise
        return node

    def _closing(self, place: str, closing: int, node: Node) -> Node:
        """Read the comma that may trail a literal, and its closing bracket."""
        try:
            self.sync(f"{place} ,?", frozenset({_COMMA, closing}))
            if self.kind() == _COMMA:
                self.match(f"{place} ,", _COMMA, frozenset({closing}))
            self.match(f"{place} end", closing, _ENDED)
        except Mismatch as error:
            error.node = node
            raise
        return node

    def _goes_on(self, more: Kinds) -> bool:
        """Whether a comma is followed by another entry (rather than by the end of the literal)."""
        return self.kind() == _COMMA and self.kind(1) in more

    def _list(self) -> Node:
        bracket = self.take()
        self.sync("list?", _EXPR | {_QUERY, _COMMA, _RBRACKET})
        elements: list[Node] = []
        optionals: set[int] = set()
        if self.kind() in _EXPR or self.kind() == _QUERY:
            self._begin(frozenset({_COMMA, _RBRACKET}))
            try:
                while True:
                    if self._optional("list"):
                        optionals.add(len(elements))
                    elements.append(self._expr(_MORE_LIST))
                    if not self._goes_on(_EXPR | {_QUERY}):
                        break
                    self.take()
            except Mismatch as error:
                self._failed(error)
            finally:
                self._end()
        node = self._made(ListOf(bracket.offset, elements, frozenset(optionals)))
        return self._closing("list", _RBRACKET, node)

    def _optional(self, place: str) -> bool:
        self.sync(f"{place} optExpr", _EXPR | {_QUERY})
        if self.kind() != _QUERY:
            return False
        self.match(f"{place} optExpr ?", _QUERY, _EXPR)
        return True

    def _map(self) -> Node:
        brace = self.take()
        self.sync("map?", _EXPR | {_QUERY, _COMMA, _RBRACE})
        entries: list[Entry] = []
        if self.kind() in _EXPR or self.kind() == _QUERY:
            self._begin(frozenset({_COMMA, _RBRACE}))
            try:
                while True:
                    is_optional = self._optional("map")
                    key = self._expr(frozenset({_COLON}))
                    entries.append(self._entry("map", key, is_optional=is_optional))
                    if not self._goes_on(_EXPR | {_QUERY}):
                        break
                    self.take()
            except Mismatch as error:
                self._failed(error)
            finally:
                self._end()
        return self._closing("map", _RBRACE, self._made(MapOf(brace.offset, entries)))

    def _entry(self, place: str, key: Node, *, is_optional: bool) -> Entry:
        colon = self.match(f"{place} :", _COLON, _EXPR)
        return Entry(colon.offset, key, self._expr(_MORE_LIST), is_optional)

    def _message(self, ahead: int) -> Node:
        name = "".join(self.take().text for _ in range(ahead))
        brace = self.take()
        fields = frozenset({_QUERY, *_NAME})
        self.sync("message?", fields | {_COMMA, _RBRACE})
        entries: list[Entry] = []
        if self.kind() in fields:
            self._begin(frozenset({_COMMA, _RBRACE}))
            try:
                while True:
                    self.sync("field", fields)
                    is_optional = self.kind() == _QUERY
                    if is_optional:
                        self.match("field ?", _QUERY, _NAME)
                    token = self._name(frozenset({_COLON}))
                    key = Literal(token.offset, token.text.strip("`"))
                    entries.append(self._entry("field", key, is_optional=is_optional))
                    if not self._goes_on(fields):
                        break
                    self.take()
            except Mismatch as error:
                self._failed(error)
            finally:
                self._end()
        return self._closing("message", _RBRACE, self._made(Message(brace.offset, name, entries)))

    def _literal(self, follow: Kinds) -> Node:
        self._begin(follow)
        try:
            start = self.current.offset
            sign = self.take().text if self.kind() == _MINUS else ""
            token = self.take()
            return Literal(start, self._value(token, sign))
        except _literals.LiteralProblem as problem:
            self.complaints.add(start, str(problem))
            return Unspecified(start)
        finally:
            self._end()

    def _value(self, token: Token, sign: str) -> object:
        kind = token.kind
        if kind == NUM_INT:
            return _literals.int_value(token.text, sign)
        if kind == NUM_FLOAT:
            return _literals.double_value(token.text, sign)
        if kind == NUM_UINT:
            return _literals.uint_value(token.text)
        if kind == STRING:
            return _literals.string_value(token.text)
        if kind == BYTES:
            return _literals.bytes_value(token.text[1:])
        return _LITERALS[kind]
