"""SQL as trees: words, expressions and statements, as far as the simulated MariaDB server knows the language.

Source: https://mariadb.com/kb/en/sql-statements-structure/ (names, literals, operators); MariaDB/server sql/sql_yacc.yy.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from env_core.programs._mariadb_errors import STATEMENT_MAX, syntax, too_much

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|\#[^\n]*|--(?=\s|\Z)[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?>[^'\\]*(?:(?:''|\\.)[^'\\]*)*)'|\"(?>[^\"\\]*(?:(?:\"\"|\\.)[^\"\\]*)*)\")"
    r"|`(?P<quoted>(?>[^`]*(?:``[^`]*)*))`|(?P<open>['\"`].*|/\*.*)"
    r"|(?P<variable>@@?(?:[A-Za-z_][\w$.]*)?)|(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w$])|\.\d+(?![\w$]))"
    r"|(?P<name>[\w$]+)|(?P<sign><=>|<=|>=|<>|!=|\|\||&&|:=|[-+*/%=<>(),.;!@])|(?P<other>.)",
    re.DOTALL,
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
RESERVED: Final = frozenset((
    "add", "all", "alter", "and", "as", "asc", "between", "by", "case", "char", "check", "column", "constraint", "create", "cross",
    "database", "databases", "default", "delete", "desc", "describe", "distinct", "div", "drop", "else", "exists", "explain", "false",
    "for", "foreign", "from", "grant", "group", "having", "in", "index", "inner", "insert", "interval", "into", "is", "join", "key",
    "keys", "kill", "left", "like", "limit", "lock", "mod", "not", "null", "on", "or", "order", "primary", "references", "regexp",
    "rename", "repeat", "replace", "revoke", "right", "rlike", "select", "set", "show", "table", "then", "to", "true", "union",
    "unique", "unlock", "update", "use", "using", "values", "when", "where", "with", "write", "xor",
))  # fmt: skip
"""Words that no name can be without quotes."""


class Token(NamedTuple):
    """A word of a statement; `at` counts characters from 0, `text` of an unquoted name is in lower case."""

    kind: str
    text: str
    at: int
    end: int
    shown: str


class Node(NamedTuple):
    """An expression: a literal, a column, a variable, a call, an operator, or all columns; `shown` is its text."""

    kind: str
    value: str
    parts: tuple[Node, ...] = ()
    shown: str = ""


class Column(NamedTuple):
    """A column's declaration."""

    name: str
    type: str
    size: int = 0
    scale: int = 0
    is_unsigned: bool = False
    is_required: bool = False
    is_counted: bool = False
    """Whether it numbers its rows (AUTO_INCREMENT)."""
    default: str | None = None
    """The text of its default; None where there is none."""
    has_default: bool = False

    @property
    def declared(self) -> str:
        """Its type as SHOW COLUMNS has it."""
        size = (
            f"({self.size},{self.scale})" if self.type == "decimal" else f"({self.size})" if self.size else ""
        )
        return f"{self.type}{size}{' unsigned' if self.is_unsigned else ''}"


class Key(NamedTuple):
    """Columns that together tell rows apart, or only find them."""

    name: str
    columns: tuple[str, ...]
    is_unique: bool = True


class Source(NamedTuple):
    """What a query reads from: a table, and its name in the query."""

    database: str
    table: str
    alias: str


class Statement(NamedTuple):
    """One statement; which fields count depends on the verb."""

    verb: str
    text: str = ""
    database: str = ""
    table: str = ""
    names: tuple[str, ...] = ()
    rows: tuple[tuple[Node | None, ...], ...] = ()
    items: tuple[tuple[Node, str], ...] = ()
    """What is selected, and under which name; what is set, and to which column."""
    sources: tuple[Source, ...] = ()
    where: Node | None = None
    order: tuple[tuple[Node, bool], ...] = ()
    limit: tuple[int, int] | None = None
    """How many rows, after how many."""
    columns: tuple[Column, ...] = ()
    keys: tuple[Key, ...] = ()
    query: tuple[Statement, ...] = ()
    """The query whose rows are inserted."""
    value: str = ""
    is_lenient: bool = False
    """IF EXISTS, IF NOT EXISTS, IGNORE."""


def tokens(text: str) -> list[Token]:
    """Return the words of a statement.

    Raises:
        Problem: it is too long.
    """
    if len(text) > STATEMENT_MAX:
        raise too_much(len(text))
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind == "space":
            continue
        shown = match[0]
        value = shown
        if kind == "text":
            value = unquoted(shown)
        elif kind == "quoted":
            kind, value = "name", (match["quoted"] or "").replace("``", "`")
            shown = f"`{value}`"
        elif kind == "name":
            value = shown.lower()
        found.append(Token(kind, value, match.start(), match.end(), shown))
    return found


def unquoted(text: str) -> str:
    """Return what a text in quotes stands for."""
    quote, inner = text[0], text[1:-1]
    inner = inner.replace(quote * 2, quote)
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), inner) if "\\" in inner else inner


def near(text: str, at: int) -> Exception:
    """Return the syntax error at a place of a statement."""
    return syntax(text[at:], text.count("\n", 0, at) + 1)
