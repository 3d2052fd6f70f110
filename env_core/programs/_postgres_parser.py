"""Reads a query string: its statements as trees.

Source: https://www.postgresql.org/docs/15/sql-commands.html; tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from env_core.programs import _postgres_roles
from env_core.programs._postgres_declaring import create
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_querying import ordered, select
from env_core.programs._postgres_reader import Reader
from env_core.programs._postgres_syntax import Node, Statement


@lru_cache(maxsize=256)
def parsed(query: str) -> tuple[tuple[Statement, ...], Problem | None]:
    """Return a query string's statements, or why it is none: one syntax error refuses all of them."""
    found: list[Statement] = []
    try:
        reader = Reader(query)
        while True:
            while reader.take(";"):
                pass
            if reader.peek() is None:
                return tuple(found), None
            found.append(_statement(reader))
            if reader.peek() is not None and not reader.is_next(";"):
                raise reader.refused()
    except Problem as problem:
        return (), problem


def _statement(reader: Reader) -> Statement:
    first = reader.peek()
    assert first is not None
    read = _VERBS.get(first.text) if first.kind == "name" else None
    if read is None:
        raise reader.refused()
    reader.place += 1
    start = reader.place
    try:
        found = read(reader)
        if found is None or (reader.peek() is not None and not reader.is_next(";")):
            raise reader.refused()
    except Problem:
        # What is not simulated is taken for a good statement, as far as its words tell.
        reader.rewind(start)
        words = []
        while (token := reader.peek()) is not None and not reader.is_next(";"):
            words.append(token.text)
            reader.place += 1
        if read is not _unknown and _BEYOND.isdisjoint(words):
            reader.rewind(start)
            read(reader)
            raise reader.refused() from None
        found = Statement("other", "")
    token = reader.peek()
    end = token.at - 1 if token is not None else len(reader.query)
    return found._replace(text=reader.query[first.at - 1 : end].strip())


def _table_command(reader: Reader) -> Statement:
    name = reader.table()
    return Statement("select", "", name.text, name.at, items=((Node("all", "*", name.at), ""),))


def _insert(reader: Reader) -> Statement:
    reader.need("into")
    name = reader.table()
    names = reader.names() if reader.is_next("(") else ()
    reader.need("values")
    rows = []
    while True:
        reader.need("(")
        row: list[Node | None] = []
        while True:
            row.append(None if reader.take("default") else reader.expression())
            if not reader.take(","):
                break
        reader.need(")")
        rows.append(tuple(row))
        if not reader.take(","):
            return Statement("insert", "", name.text, name.at, names, tuple(rows))


def _update(reader: Reader) -> Statement:
    reader.take("only")
    name = reader.table()
    reader.need("set")
    items = []
    names = []
    while True:
        names.append(reader.name())
        reader.need("=")
        items.append((reader.expression(), names[-1].text))
        if not reader.take(","):
            break
    return ordered(reader, Statement("update", "", name.text, name.at, tuple(names), items=tuple(items)))


def _delete(reader: Reader) -> Statement:
    reader.need("from")
    name = reader.table()
    return ordered(reader, Statement("delete", "", name.text, name.at))


def _truncate(reader: Reader) -> Statement:
    reader.take("table")
    name = reader.table()
    return Statement("truncate", "", name.text, name.at)


def _drop(reader: Reader) -> Statement | None:
    if not reader.take("table"):
        return _postgres_roles.drop(reader)
    is_lenient = reader.take("if", "exists")
    name = reader.table()
    reader.take("cascade")
    return Statement("drop", "", name.text, name.at, is_lenient=is_lenient)


_SPECIAL: Final = (
    ("time", "zone"),
    ("transaction",),
    ("session", "authorization"),
    ("session", "characteristics"),
    ("role",),
)
"""What SET takes beside the names of settings; its values are not simulated."""


def _set(reader: Reader) -> Statement:
    if any(reader.is_next(*words) for words in _SPECIAL):
        while reader.peek() is not None and not reader.is_next(";"):
            reader.place += 1
        return Statement("other", "")
    if not reader.take("session"):
        reader.take("local")
    name = reader.name()
    while reader.take("."):
        name = name._replace(text=f"{name.text}.{reader.name().text}")
    if not reader.take("to"):
        reader.need("=")
    values = []
    while True:
        sign = "-" if reader.take("-") else ""
        token = reader.peek()
        if token is None or token.kind not in ("name", "text", "number"):
            raise reader.refused()
        reader.place += 1
        values.append(sign + token.text)
        if not reader.take(","):
            return Statement("set", "", names=(name,), value=", ".join(values))


def _show(reader: Reader) -> Statement:
    name = reader.name()
    while reader.take("."):
        name = name._replace(text=f"{name.text}.{reader.name().text}", shown=name.shown)
    return Statement("show", "", names=(name,))


def _lock(reader: Reader) -> Statement:
    reader.take("table")
    name = reader.table()
    words = []
    if reader.take("in"):
        while not reader.take("mode"):
            words.append(reader.name().text)
    return Statement("lock", "", name.text, name.at, value=" ".join(words) or "access exclusive")


def _analyze(reader: Reader) -> Statement:
    if reader.peek() is None or reader.is_next(";"):
        return Statement("other", "")
    name = reader.table()
    return Statement("analyze", "", name.text, name.at)


def _transaction(verb: str, tag: str) -> Callable[[Reader], Statement]:
    def read(reader: Reader) -> Statement:
        if not reader.take("transaction"):
            reader.take("work")
        return Statement(verb, "", tag=tag)

    return read


def _plain(verb: str) -> Callable[[Reader], Statement]:
    return lambda _reader: Statement(verb, "")


def _unknown(_reader: Reader) -> None:
    return None


_VERBS: Final[dict[str, Callable[[Reader], Statement | None]]] = {
    "select": select, "table": _table_command, "insert": _insert, "update": _update, "delete": _delete, "truncate": _truncate,
    "create": create, "drop": _drop, "alter": _postgres_roles.alter, "set": _set, "show": _show, "lock": _lock, "analyze": _analyze,
    "begin": _transaction("begin", "BEGIN"), "start": _transaction("begin", "START TRANSACTION"),
    "commit": _transaction("commit", "COMMIT"), "end": _transaction("commit", "COMMIT"),
    "rollback": _transaction("rollback", "ROLLBACK"), "abort": _transaction("rollback", "ROLLBACK"),
    "checkpoint": _plain("checkpoint"),
    **dict.fromkeys(
        ("call", "close", "cluster", "comment", "copy", "deallocate", "declare", "discard", "do", "execute", "explain", "fetch", "grant",
         "listen", "load", "move", "notify", "prepare", "reassign", "refresh", "reindex", "release", "reset", "revoke", "savepoint",
         "security", "unlisten", "vacuum", "values", "with"),
        _unknown,
    ),
}  # fmt: skip
_BEYOND: Final = frozenset((
    "all", "any", "array", "between", "case", "collate", "conflict", "cross", "distinct", "except", "exists", "extension",
    "extract", "fetch", "filter", "for", "full", "function", "generated", "grant", "group", "having", "in", "index", "inner",
    "intersect", "interval", "join", "left", "materialized", "natural", "offset", "only", "on", "over", "partition", "policy",
    "publication", "returning", "right", "role", "schema", "sequence", "similar", "subscription", "trigger", "type", "union",
    "user", "using", "view", "window", "with",
))  # fmt: skip
"""Words of what is not simulated."""
