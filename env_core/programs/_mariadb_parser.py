"""Reads a statement of MariaDB's SQL as a tree.

Source: https://mariadb.com/kb/en/sql-statements/; tests/golden/programs/mariadb (mariadb.ok).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from env_core.programs._mariadb_accounts import account, alter_user, create_user, drop_user, grant, revoke
from env_core.programs._mariadb_declaring import create_table
from env_core.programs._mariadb_errors import Problem, unsupported
from env_core.programs._mariadb_reader import Reader
from env_core.programs._mariadb_syntax import Node, Source, Statement


@lru_cache(maxsize=256)
def parsed(text: str) -> Statement | Problem:
    """Return a statement as a tree, or why it is none."""
    try:
        reader = Reader(text)
        first = reader.peek()
        if first is None:
            raise Problem(1065, "Query was empty")
        read = _VERBS.get(first.text) if first.kind == "name" else None
        if read is None:
            if first.kind == "name" and first.text in _BEYOND:
                raise unsupported(first.text.upper())
            raise reader.refused()
        reader.place += 1
        found = read(reader)
        reader.take(";")
        if reader.peek() is not None:
            raise _beyond(reader)
        return found._replace(text=text)
    except Problem as problem:
        # Whoever raises it again must not add to a traceback that all share.
        return problem.with_traceback(None)


def _beyond(reader: Reader) -> Exception:
    """Return what is said of a part of a statement that nobody expects there."""
    token = reader.peek()
    if token is not None and token.kind == "name" and token.text in _CLAUSES:
        return unsupported(token.text.upper())
    return reader.refused()


_BEYOND: Final = frozenset((
    "alter", "analyze", "backup", "cache", "call", "change", "check", "checksum", "deallocate", "execute", "explain", "get", "handler",
    "help", "install", "load", "lock", "optimize", "prepare", "purge", "release", "rename", "repair", "reset", "resignal",
    "savepoint", "signal", "slave", "stop", "table", "uninstall", "unlock", "values", "with", "xa",
))  # fmt: skip
"""Words with which statements begin that are not simulated."""
_CLAUSES: Final = frozenset((
    "collate", "cross", "engine", "for", "group", "having", "inner", "into", "join", "left", "lock", "natural", "on", "partition",
    "procedure", "returning", "right", "straight_join", "union", "except", "intersect", "using", "window", "references",
))  # fmt: skip
"""Words with which parts of statements begin that are not simulated."""


def select(reader: Reader) -> Statement:
    """Read a query after its first word."""
    if reader.is_next("distinct"):
        raise unsupported("DISTINCT")
    reader.take("all")
    items: list[tuple[Node, str]] = []
    while True:
        if reader.take("*"):
            items.append((Node("all", "*"), ""))
        else:
            node = reader.expression()
            items.append((node, _alias(reader)))
        if not reader.take(","):
            break
    sources: list[Source] = []
    if reader.take("from") and not reader.take("dual"):
        while True:
            if reader.is_next("("):
                raise unsupported("subquery")
            database, table = reader.table()
            sources.append(Source(database, table, _alias(reader) or table))
            if not reader.take(","):
                break
    found = Statement("select", items=tuple(items), sources=tuple(sources))
    return ordered(reader, found)


def _alias(reader: Reader) -> str:
    if reader.take("as"):
        return reader.word()
    token = reader.peek()
    if token is not None and token.kind == "name" and token.text not in _AFTER:
        try:
            return reader.name()
        except Problem:
            return ""
    return ""


_AFTER: Final = frozenset((*_CLAUSES, "from", "where", "order", "limit", "set", "as", "offset"))


def ordered(reader: Reader, found: Statement) -> Statement:
    """Read what narrows down the rows of a statement."""
    if reader.take("where"):
        found = found._replace(where=reader.expression())
    order: list[tuple[Node, bool]] = []
    if reader.take("order", "by"):
        while True:
            node = reader.expression()
            is_falling = reader.take("desc")
            if not is_falling:
                reader.take("asc")
            order.append((node, is_falling))
            if not reader.take(","):
                break
    limit = None
    if reader.take("limit"):
        first, second = reader.whole(), None
        if reader.take(","):
            second = reader.whole()
        limit = (first, 0) if second is None else (second, first)
        if reader.take("offset"):
            limit = (first, reader.whole())
    return found._replace(order=tuple(order), limit=limit)


def _insert(reader: Reader) -> Statement:
    is_lenient = reader.take("ignore")
    reader.take("into")
    database, table = reader.table()
    names: tuple[str, ...] = ()
    if reader.is_next("(") and not reader.is_next("(", "select"):
        names = reader.names()
    found = Statement("insert", database=database, table=table, names=names, is_lenient=is_lenient)
    if reader.take("select"):
        return found._replace(query=(select(reader),))
    if reader.take("set"):
        items = _assignments(reader)
        return found._replace(
            names=tuple(name for _, name in items), rows=(tuple(node for node, _ in items),)
        )
    if not reader.take("values"):
        reader.need("value")
    rows: list[tuple[Node | None, ...]] = []
    while True:
        reader.need("(")
        row: list[Node | None] = []
        while not reader.is_next(")"):
            row.append(None if reader.take("default") else reader.expression())
            if not reader.take(","):
                break
        reader.need(")")
        rows.append(tuple(row))
        if not reader.take(","):
            return found._replace(rows=tuple(rows))


def _assignments(reader: Reader) -> tuple[tuple[Node, str], ...]:
    found: list[tuple[Node, str]] = []
    while True:
        name = reader.table()[1]
        reader.need("=")
        found.append((reader.expression(), name))
        if not reader.take(","):
            return tuple(found)


def _update(reader: Reader) -> Statement:
    is_lenient = reader.take("ignore")
    database, table = reader.table()
    reader.need("set")
    items = _assignments(reader)
    return ordered(
        reader, Statement("update", database=database, table=table, items=items, is_lenient=is_lenient)
    )


def _delete(reader: Reader) -> Statement:
    reader.need("from")
    database, table = reader.table()
    return ordered(reader, Statement("delete", database=database, table=table))


def _truncate(reader: Reader) -> Statement:
    reader.take("table")
    database, table = reader.table()
    return Statement("truncate", database=database, table=table)


def _create(reader: Reader) -> Statement:
    if reader.take("database") or reader.take("schema"):
        is_lenient = reader.take("if", "not", "exists")
        found = Statement("create database", database=reader.name(), is_lenient=is_lenient)
        _skip_options(reader)
        return found
    if reader.take("user"):
        return create_user(reader)
    if reader.take("table"):
        return create_table(reader)
    if any(reader.is_next(word) for word in ("or", "index", "unique", "view", "function", "procedure", "trigger", "event", "role",
                                             "server", "sequence", "temporary", "definer", "fulltext", "algorithm", "package")):  # fmt: skip
        raise unsupported("CREATE OTHER THAN TABLE, DATABASE, USER")
    raise reader.refused()


def _skip_options(reader: Reader) -> None:
    """Read what a database is declared with: nothing here depends on it."""
    while any(reader.take(word) for word in ("default", "character", "set", "charset", "collate", "=")):
        token = reader.peek()
        if (
            token is not None
            and token.kind in ("name", "text")
            and token.text not in ("character", "set", "charset", "collate")
        ):
            reader.place += 1


def _drop(reader: Reader) -> Statement:
    if reader.take("database") or reader.take("schema"):
        is_lenient = reader.take("if", "exists")
        return Statement("drop database", database=reader.name(), is_lenient=is_lenient)
    if reader.take("user"):
        return drop_user(reader)
    if not reader.take("table"):
        if any(
            reader.is_next(word)
            for word in ("index", "view", "function", "procedure", "trigger", "event", "role", "temporary")
        ):
            raise unsupported("DROP OTHER THAN TABLE, DATABASE, USER")
        raise reader.refused()
    is_lenient = reader.take("if", "exists")
    database, table = reader.table()
    return Statement("drop table", database=database, table=table, is_lenient=is_lenient)


def _set(reader: Reader) -> Statement:
    if reader.take("password"):
        return alter_user(reader, is_password=True)
    if reader.take("names") or reader.take("character", "set"):
        reader.word()
        return Statement("nothing")
    scope = "global" if reader.take("global") else "session"
    if scope == "session" and not reader.take("session"):
        reader.take("local")
    if reader.take("transaction"):
        while reader.peek() is not None and not reader.is_next(";"):
            reader.place += 1
        return Statement("nothing")
    items: list[tuple[Node, str]] = []
    while True:
        token = reader.peek()
        if token is not None and token.kind == "variable":
            reader.place += 1
            name = token.text
        else:
            name = f"@@{scope}.{reader.name()}"
        if not reader.take("=") and not reader.take(":="):
            raise reader.refused()
        if reader.take("default"):
            value = Node("default", "")
        elif reader.is_next("on"):
            reader.place += 1
            value = Node("text", "ON")
        else:
            value = reader.expression()
        items.append((value, name))
        if not reader.take(","):
            return Statement("set", items=tuple(items))


_SHOWN: Final = (
    "databases", "schemas", "tables", "variables", "status", "processlist", "grants", "columns", "fields", "warnings", "errors",
    "engines", "create",
)  # fmt: skip


def _show(reader: Reader) -> Statement:
    is_full = reader.take("full")
    scope = (
        "global"
        if reader.take("global")
        else "session"
        if reader.take("session") or reader.take("local")
        else ""
    )
    token = reader.peek()
    what = token.text if token is not None and token.kind == "name" else ""
    if what not in _SHOWN:
        if what in ("binary", "binlog", "collation", "character", "engine", "events", "function", "index", "indexes", "keys", "master",
                    "open", "plugins", "privileges", "procedure", "profile", "profiles", "replica", "slave", "table", "triggers", "all"):  # fmt: skip
            raise unsupported(f"SHOW {what.upper()}")
        raise reader.refused()
    reader.place += 1
    found = Statement(f"show {what}", value=scope or ("full" if is_full else ""))
    if what == "create":
        is_database = reader.take("database")
        if not is_database:
            reader.need("table")
        database, table = reader.table()
        return found._replace(
            verb="show create database" if is_database else "show create table",
            database=database,
            table=table,
        )
    if what == "grants":
        if reader.take("for") and not reader.take("current_user"):
            found = found._replace(names=(account(reader),))
        if reader.take("("):
            reader.need(")")
        return found
    if what in ("columns", "fields"):
        if not reader.take("from"):
            reader.need("in")
        database, table = reader.table()
        found = found._replace(verb="describe", database=database, table=table)
    if reader.take("from") or reader.take("in"):
        found = found._replace(database=reader.name())
    if reader.take("like"):
        return found._replace(names=(reader.literal(),))
    if reader.take("where"):
        return found._replace(where=reader.expression())
    return found


def _describe(reader: Reader) -> Statement:
    if reader.is_next("select") or reader.is_next("update") or reader.is_next("delete"):
        raise unsupported("EXPLAIN")
    database, table = reader.table()
    return Statement("describe", database=database, table=table)


def _start(reader: Reader) -> Statement:
    if not reader.take("transaction"):
        raise unsupported("START")
    while reader.peek() is not None and not reader.is_next(";"):
        if not any(
            reader.take(word) for word in ("with", "consistent", "snapshot", "read", "only", "write", ",")
        ):
            raise reader.refused()
    return Statement("begin")


def _transaction(verb: str) -> Callable[[Reader], Statement]:
    def read(reader: Reader) -> Statement:
        reader.take("work")
        return Statement(verb)

    return read


def _use(reader: Reader) -> Statement:
    return Statement("use", database=reader.name())


def _kill(reader: Reader) -> Statement:
    for word in ("hard", "soft"):
        reader.take(word)
    kind = "query" if reader.take("query") else "connection"
    reader.take("connection")
    return Statement("kill", items=((reader.expression(), kind),))


def _flush(reader: Reader) -> Statement:
    words = []
    while (token := reader.peek()) is not None and not reader.is_next(";"):
        words.append(token.text)
        reader.place += 1
    if not words:
        raise reader.refused()
    return Statement("flush", value=words[0])


def _do(reader: Reader) -> Statement:
    return Statement("do", items=((reader.expression(), ""),))


def _shutdown(_reader: Reader) -> Statement:
    return Statement("shutdown")


_VERBS: Final[dict[str, Callable[[Reader], Statement]]] = {
    "select": select, "insert": _insert, "update": _update, "delete": _delete, "truncate": _truncate, "create": _create, "drop": _drop,
    "set": _set, "show": _show, "describe": _describe, "desc": _describe, "begin": _transaction("begin"), "start": _start,
    "commit": _transaction("commit"), "rollback": _transaction("rollback"), "use": _use, "kill": _kill, "flush": _flush, "do": _do,
    "grant": grant, "revoke": revoke, "shutdown": _shutdown, "alter": lambda reader: alter_user(reader, is_password=False),
}  # fmt: skip
