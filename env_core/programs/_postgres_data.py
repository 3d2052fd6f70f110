"""What a Postgres server keeps in its data directory: tables that statements create over its protocol, and passwords of roles.

Statements on tables that nobody created (those of our services) are good and change nothing.
Source: https://www.postgresql.org/docs/16/protocol-message-formats.html (CommandComplete), sql-alterrole.html.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

_NAME: Final = r"(?:public\.)?(?P<table>[a-z_][a-z0-9_]*)"
_WHERE: Final = r"(?:\s+where\s+(?P<key>[a-z_][a-z0-9_]*)\s*=\s*(?P<value>'(?:[^']|'')*'|-?[0-9.]+))?"
_LITERAL: Final = re.compile(r"'((?:[^']|'')*)'|(-?[0-9.]+)")


def role(name: str) -> str:
    """Return the key under which a role's password is kept."""
    return f"role {name}"


class Told(NamedTuple):
    """What a statement brought: the text for the client, and the data after it, None when they are as before."""

    text: str
    rows: Mapping[str, str] | None = None
    table: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None = None
    """Names of columns, and rows, of statements that read."""


class _Table(NamedTuple):
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = ()


def run(statement: str, kept: Mapping[str, str]) -> Told | None:
    """Return what a statement does to a data directory, None when it is about none of its tables."""
    text = statement.strip().rstrip(";").strip()
    for pattern, action in _STATEMENTS:
        found = pattern.fullmatch(text)
        if found is not None:
            return action(found, kept)
    return None


def _table(kept: Mapping[str, str], name: str) -> _Table | None:
    text = kept.get(_key(name))
    if text is None:
        return None
    columns, rows = json.loads(text)
    return _Table(tuple(columns), tuple(tuple(row) for row in rows))


def _key(name: str) -> str:
    return f"table {name.lower()}"


def _with(kept: Mapping[str, str], name: str, table: _Table) -> Mapping[str, str]:
    return {**kept, _key(name): json.dumps(table)}


def _create(found: re.Match[str], kept: Mapping[str, str]) -> Told:
    name = found["table"]
    if _key(name) in kept:
        if found["if"]:
            return Told("CREATE TABLE")
        return Told(f'ERROR:  relation "{name}" already exists')
    columns = tuple(part.split()[0].lower() for part in found["columns"].split(",") if part.strip())
    return Told("CREATE TABLE", _with(kept, name, _Table(columns)))


def _insert(found: re.Match[str], kept: Mapping[str, str]) -> Told | None:
    table = _table(kept, found["table"])
    if table is None:
        return None
    named = [word.strip().lower() for word in (found["columns"] or "").split(",") if word.strip()]
    added = []
    for group in re.findall(r"\(((?:[^()']|'(?:[^']|'')*')*)\)", found["values"]):
        values = dict(zip(named or table.columns, _literals(group)))
        added.append(tuple(values.get(column, "") for column in table.columns))
    changed = table._replace(rows=(*table.rows, *added))
    return Told(f"INSERT 0 {len(added)}", _with(kept, found["table"], changed))


def _literals(text: str) -> list[str]:
    return [
        (each[1] if each[1] is not None else each[2]).replace("''", "'") for each in _LITERAL.finditer(text)
    ]


def _select(found: re.Match[str], kept: Mapping[str, str]) -> Told | None:
    table = _table(kept, found["table"])
    if table is None:
        return None
    rows = [row for row in table.rows if _matches(found, table, row)]
    wanted = [word.strip().lower() for word in found["what"].split(",")]
    if wanted == ["count(*)"]:
        return Told(str(len(rows)), table=(("count",), ((str(len(rows)),),)))
    if wanted == ["*"]:
        wanted = list(table.columns)
    for column in wanted:
        if column not in table.columns:
            return Told(f'ERROR:  column "{column}" does not exist')
    places = [table.columns.index(column) for column in wanted]
    cut = tuple(tuple(row[place] for place in places) for row in rows)
    return Told("\n".join("|".join(row) for row in cut), table=(tuple(wanted), cut))


def _matches(found: re.Match[str], table: _Table, row: tuple[str, ...]) -> bool:
    key = found["key"]
    if key is None:
        return True
    return (
        key.lower() in table.columns and row[table.columns.index(key.lower())] == _literals(found["value"])[0]
    )


def _delete(found: re.Match[str], kept: Mapping[str, str]) -> Told | None:
    table = _table(kept, found["table"])
    if table is None:
        return None
    left = tuple(row for row in table.rows if not _matches(found, table, row))
    return Told(
        f"DELETE {len(table.rows) - len(left)}", _with(kept, found["table"], table._replace(rows=left))
    )


def _truncate(found: re.Match[str], kept: Mapping[str, str]) -> Told | None:
    table = _table(kept, found["table"])
    if table is None:
        return None
    return Told("TRUNCATE TABLE", _with(kept, found["table"], table._replace(rows=())))


def _drop(found: re.Match[str], kept: Mapping[str, str]) -> Told | None:
    if _key(found["table"]) not in kept:
        return None
    return Told("DROP TABLE", {name: text for name, text in kept.items() if name != _key(found["table"])})


def _alter_role(found: re.Match[str], kept: Mapping[str, str]) -> Told:
    key = role(found["role"])
    if key not in kept:
        return Told(f'ERROR:  role "{found["role"]}" does not exist')
    return Told("ALTER ROLE", {**kept, key: found["password"].replace("''", "'")})


_Action = Callable[[re.Match[str], Mapping[str, str]], Told | None]
_STATEMENTS: Final[tuple[tuple[re.Pattern[str], _Action], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), action)
    for pattern, action in (
        (rf"create\s+table\s+(?P<if>if\s+not\s+exists\s+)?{_NAME}\s*\((?P<columns>.*)\)", _create),
        (rf"insert\s+into\s+{_NAME}\s*(?:\((?P<columns>[^)]*)\)\s*)?values\s*(?P<values>.*)", _insert),
        (rf"select\s+(?P<what>[a-z_*(), 0-9]+?)\s+from\s+{_NAME}{_WHERE}", _select),
        (rf"delete\s+from\s+{_NAME}{_WHERE}", _delete),
        (rf"truncate\s+(?:table\s+)?{_NAME}", _truncate),
        (
            r"alter\s+(?:role|user)\s+\"?(?P<role>[a-z_][a-z0-9_]*)\"?\s+(?:with\s+)?(?:encrypted\s+)?"
            r"password\s+'(?P<password>(?:[^']|'')*)'",
            _alter_role,
        ),
        (rf"drop\s+table\s+(?:if\s+exists\s+)?{_NAME}", _drop),
    )
)
