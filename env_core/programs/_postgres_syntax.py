"""SQL as trees: words, expressions and statements, as far as the simulated server knows the language.

Source: https://www.postgresql.org/docs/15/sql-syntax.html, sql-commands.html; postgres 15 src/backend/parser/gram.y.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from env_core.programs._postgres_errors import Problem

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>'(?>[^']*(?:''[^']*)*)')|(?P<name>[A-Za-z_][A-Za-z0-9_$]*)|\"(?P<quoted>[^\"]*)\""
    r"|(?P<open>'.*|\".*|/\*.*)"
    r"|(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<sign>::|<=|>=|<>|!=|\|\||[-+*/%=<>(),.;])|(?P<other>.)",
    re.DOTALL,
)
SERIALS: Final = ("serial", "bigserial", "smallserial")
RESERVED: Final = frozenset((
    "and", "as", "asc", "check", "constraint", "default", "desc", "false", "from", "group", "having", "in", "into", "is",
    "join", "left", "limit", "not", "null", "on", "or", "order", "primary", "references", "select", "set", "table", "then",
    "to", "true", "union", "unique", "using", "values", "when", "where", "with",
))  # fmt: skip


class Token(NamedTuple):
    """A word of a query; `at` counts characters from 1."""

    kind: str
    text: str
    at: int
    shown: str


class Node(NamedTuple):
    """An expression: a literal, a column, a call, a cast, an operator, or all columns."""

    kind: str
    value: str
    at: int
    parts: tuple[Node, ...] = ()


class Column(NamedTuple):
    """A column's declaration."""

    name: str
    type: str
    is_required: bool = False
    default: Node | None = None


class Key(NamedTuple):
    """Columns that together tell rows apart."""

    name: str
    columns: tuple[str, ...]


class Check(NamedTuple):
    """What must hold of each row."""

    name: str
    condition: Node


class Statement(NamedTuple):
    """One statement of a query; which fields count depends on the verb."""

    verb: str
    text: str
    table: str = ""
    at: int = 0
    """Where the table is named."""
    names: tuple[Token, ...] = ()
    rows: tuple[tuple[Node | None, ...], ...] = ()
    items: tuple[tuple[Node, str], ...] = ()
    """What is selected, and under which name; what is set, and to which column."""
    where: Node | None = None
    order: tuple[tuple[Node, bool], ...] = ()
    limit: int = -1
    columns: tuple[Column, ...] = ()
    keys: tuple[Key, ...] = ()
    checks: tuple[Check, ...] = ()
    is_lenient: bool = False
    """IF EXISTS, or IF NOT EXISTS."""
    value: str = ""
    call: Node | None = None
    """A function in FROM."""
    alias: str = ""
    source: tuple[Statement, ...] = ()
    """The query of CREATE TABLE AS."""
    tag: str = ""
    options: tuple[tuple[str, str], ...] = ()
    """Of a role."""


_UNTERMINATED: Final = {"'": "quoted string", '"': "quoted identifier", "/": "/* comment"}


def tokens(query: str) -> list[Token]:
    """Return a query's words.

    Raises:
        Problem: one of them has no end.
    """
    found = []
    for match in _TOKEN.finditer(query):
        kind = match.lastgroup or ""
        if kind == "space":
            continue
        shown = match[0]
        if kind == "open":
            text = f'unterminated {_UNTERMINATED[shown[0]]} at or near "{shown}"'
            raise Problem(text, match.start() + 1)
        text = shown.lower() if kind == "name" else match[kind]
        if kind == "text":
            text = shown[1:-1].replace("''", "'")
        found.append(Token("name" if kind == "quoted" else kind, text, match.start() + 1, shown))
    return found
