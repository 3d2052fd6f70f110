"""Reads the literals of an expression: numbers, texts, lists, maps, messages.

Source: as for `_parser.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from env_core.cel import _literals
from env_core.cel._ast import Entry, ListOf, Literal, MapOf, Message, Node, Unspecified, children
from env_core.cel._lexer import (
    BYTES,
    ESC_IDENTIFIER,
    IDENTIFIER,
    KIND,
    NUM_FLOAT,
    NUM_INT,
    NUM_UINT,
    STRING,
    Token,
)
from env_core.cel._recovery import END, GiveUp, Kinds, Mismatch, Recovering
from env_core.cel._source import NOWHERE, Issues

NESTING_MAX: Final = 400
"""Rules that may be open at a time: about 50 brackets. (cel-go stops at 250 of each rule.)"""
DEPTH_MAX: Final = 120
"""Levels of the tree. (cel-go stops at 250.)"""

DOT, COMMA, MINUS, NOT, QUERY, COLON = (KIND[text] for text in ".,-!?:")
LPAREN, RPAREN, LBRACKET, RBRACKET, LBRACE, RBRACE = (KIND[text] for text in "()[]{}")
OR, AND = KIND["||"], KIND["&&"]
TRUE, FALSE, NULL = KIND["true"], KIND["false"], KIND["null"]

MEMBER: Final = frozenset(
    {LBRACKET, LBRACE, LPAREN, DOT, MINUS, TRUE, FALSE, NULL, NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES,
     IDENTIFIER}
)  # fmt: skip
EXPR: Final = MEMBER | {NOT}
NAME: Final = frozenset({IDENTIFIER, ESC_IDENTIFIER})
ENDED: Final = frozenset({END})
MORE_LIST: Final = frozenset({COMMA, END})
_LITERALS: Final = {TRUE: True, FALSE: False, NULL: None}


class LiteralReader(Recovering, ABC):
    """What an expression consists of at its leaves. What the tree complains about comes behind the grammar's."""

    __slots__ = ("_nesting", "complaints")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.complaints = Issues(text)
        self._nesting = 0

    @abstractmethod
    def expr(self, follow: Kinds) -> Node:
        """Read a whole expression; `follow` are the kinds that may come behind it."""

    def begin(self, follow: Kinds) -> None:
        """Enter a rule."""
        self._nesting += 1
        if self._nesting > NESTING_MAX:
            self.complaints.add(NOWHERE, "expression recursion limit exceeded: 250")
            raise GiveUp
        self.enter(follow)

    def end(self) -> None:
        """Leave a rule."""
        self._nesting -= 1
        self.leave()

    def failed(self, error: Mismatch) -> Node:
        """Go on after what does not fit."""
        self.recover(error)
        return error.node if error.node is not None else Unspecified(error.offset)

    def made(self, node: Node) -> Node:
        """Record how deep the tree under a new node is."""
        node.depth = 1 + max((each.depth for each in children(node)), default=0)
        if node.depth > DEPTH_MAX:
            self.complaints.add(NOWHERE, "max recursion depth exceeded")
            raise GiveUp
        return node

    def name(self, follow: Kinds) -> Token:
        """Read the name of a field."""
        self.begin(follow)
        try:
            self.sync("escapeIdent", NAME)
            if self.kind() not in NAME:
                raise self.no_alternative(0)
            return self.take()
        except Mismatch as error:
            self.failed(error)
            return Token(IDENTIFIER, "", error.offset, error.offset)
        finally:
            self.end()

    def _closing(self, place: str, closing: int, node: Node) -> Node:
        """Read the comma that may trail a literal, and its closing bracket."""
        try:
            self.sync(f"{place} ,?", frozenset({COMMA, closing}))
            if self.kind() == COMMA:
                self.match(f"{place} ,", COMMA, frozenset({closing}))
            self.match(f"{place} end", closing, ENDED)
        except Mismatch as error:
            error.node = node
            raise
        return node

    def _goes_on(self, more: Kinds) -> bool:
        """Whether a comma is followed by another entry (rather than by the end of the literal)."""
        return self.kind() == COMMA and self.kind(1) in more

    def list(self) -> Node:
        """Read a list."""
        bracket = self.take()
        self.sync("list?", EXPR | {QUERY, COMMA, RBRACKET})
        elements: list[Node] = []
        optionals: set[int] = set()
        if self.kind() in EXPR or self.kind() == QUERY:
            self.begin(frozenset({COMMA, RBRACKET}))
            try:
                while True:
                    if self.optional("list"):
                        optionals.add(len(elements))
                    elements.append(self.expr(MORE_LIST))
                    if not self._goes_on(EXPR | {QUERY}):
                        break
                    self.take()
            except Mismatch as error:
                self.failed(error)
            finally:
                self.end()
        node = self.made(ListOf(bracket.offset, elements, frozenset(optionals)))
        return self._closing("list", RBRACKET, node)

    def optional(self, place: str) -> bool:
        """Read the question mark before an optional entry, if there is one."""
        self.sync(f"{place} optExpr", EXPR | {QUERY})
        if self.kind() != QUERY:
            return False
        self.match(f"{place} optExpr ?", QUERY, EXPR)
        return True

    def map(self) -> Node:
        """Read a map."""
        brace = self.take()
        self.sync("map?", EXPR | {QUERY, COMMA, RBRACE})
        entries: list[Entry] = []
        if self.kind() in EXPR or self.kind() == QUERY:
            self.begin(frozenset({COMMA, RBRACE}))
            try:
                while True:
                    is_optional = self.optional("map")
                    key = self.expr(frozenset({COLON}))
                    entries.append(self._entry("map", key, is_optional=is_optional))
                    if not self._goes_on(EXPR | {QUERY}):
                        break
                    self.take()
            except Mismatch as error:
                self.failed(error)
            finally:
                self.end()
        return self._closing("map", RBRACE, self.made(MapOf(brace.offset, entries)))

    def _entry(self, place: str, key: Node, *, is_optional: bool) -> Entry:
        colon = self.match(f"{place} :", COLON, EXPR)
        return Entry(colon.offset, key, self.expr(MORE_LIST), is_optional)

    def message(self, ahead: int) -> Node:
        """Read a message; its type's name is `ahead` tokens long."""
        name = "".join(self.take().text for _ in range(ahead))
        brace = self.take()
        fields = frozenset({QUERY, *NAME})
        self.sync("message?", fields | {COMMA, RBRACE})
        entries: list[Entry] = []
        if self.kind() in fields:
            self.begin(frozenset({COMMA, RBRACE}))
            try:
                while True:
                    self.sync("field", fields)
                    is_optional = self.kind() == QUERY
                    if is_optional:
                        self.match("field ?", QUERY, NAME)
                    token = self.name(frozenset({COLON}))
                    key = Literal(token.offset, token.text.strip("`"))
                    entries.append(self._entry("field", key, is_optional=is_optional))
                    if not self._goes_on(fields):
                        break
                    self.take()
            except Mismatch as error:
                self.failed(error)
            finally:
                self.end()
        return self._closing("message", RBRACE, self.made(Message(brace.offset, name, entries)))

    def literal(self, follow: Kinds) -> Node:
        """Read a number, a text, true, false or null."""
        self.begin(follow)
        try:
            start = self.current.offset
            if self.kind() == MINUS and self.kind(1) not in (NUM_INT, NUM_FLOAT):
                return self.failed(self.no_alternative(1))
            sign = self.take().text if self.kind() == MINUS else ""
            token = self.take()
            return Literal(start, self._value(token, sign))
        except _literals.LiteralProblem as problem:
            self.complaints.add(start, str(problem))
            return Unspecified(start)
        finally:
            self.end()

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
