"""Reads CREATE: tables, indexes, databases.

Source: https://www.postgresql.org/docs/15/sql-createtable.html; constraints without a name get that of ChooseConstraintName.
"""

from __future__ import annotations

from env_core.programs import _postgres_roles
from env_core.programs._postgres_querying import select
from env_core.programs._postgres_reader import Reader
from env_core.programs._postgres_syntax import SERIALS, Check, Column, Key, Statement


def create(reader: Reader) -> Statement | None:
    """Read what follows CREATE; None for what is not simulated."""
    is_unique = reader.take("unique")
    if reader.take("index"):
        index = reader.name()
        reader.need("on")
        name = reader.table()
        columns = tuple(each.text for each in reader.names())
        return Statement(
            "index",
            "",
            name.text,
            name.at,
            keys=(Key(index.text, columns),) if is_unique else (),
            value=index.text,
        )
    if reader.take("database"):
        return Statement("create database", "", value=reader.name().text)
    if not reader.take("table"):
        return _postgres_roles.create(reader)
    is_lenient = reader.take("if", "not", "exists")
    name = reader.table()
    if reader.take("as"):
        reader.need("select")
        source = (select(reader),)
        return Statement("create as", "", name.text, name.at, is_lenient=is_lenient, source=source)
    return _declared(reader, Statement("create", "", name.text, name.at, is_lenient=is_lenient))


def _declared(reader: Reader, found: Statement) -> Statement:
    columns: list[Column] = []
    keys: list[Key] = []
    checks: list[Check] = []
    reader.need("(")
    while not reader.take(")"):
        own = reader.name().text if reader.take("constraint") else ""
        if reader.take("primary", "key"):
            key = Key(own or f"{found.table}_pkey", tuple(each.text for each in reader.names()))
            keys.append(key)
            columns = [
                each._replace(is_required=each.is_required or each.name in key.columns) for each in columns
            ]
        elif reader.take("unique"):
            names = tuple(each.text for each in reader.names())
            keys.append(Key(own or f"{found.table}_{'_'.join(names)}_key", names))
        elif reader.take("check"):
            checks.append(Check(own or f"{found.table}_check", reader.primary()))
        else:
            columns.append(_column(reader, found.table, keys, checks))
        if not reader.take(",") and not reader.is_next(")"):
            raise reader.refused()
    return found._replace(columns=tuple(columns), keys=tuple(keys), checks=tuple(checks))


def _column(reader: Reader, table: str, keys: list[Key], checks: list[Check]) -> Column:
    name = reader.name().text
    kind = reader.type()
    column = Column(name, kind, is_required=kind in SERIALS)
    own = ""
    while True:
        if reader.take("constraint"):
            own = reader.name().text
        elif reader.take("not", "null"):
            column = column._replace(is_required=True)
        elif reader.take("null"):
            continue
        elif reader.take("primary", "key"):
            column = column._replace(is_required=True)
            keys.append(Key(own or f"{table}_pkey", (name,)))
        elif reader.take("unique"):
            keys.append(Key(own or f"{table}_{name}_key", (name,)))
        elif reader.take("default"):
            column = column._replace(default=reader.sum())
        elif reader.take("check"):
            checks.append(Check(own or f"{table}_{name}_check", reader.primary()))
        elif reader.take("references"):
            reader.table()
            if reader.is_next("("):
                reader.names()
        else:
            return column
