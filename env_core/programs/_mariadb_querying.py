"""Queries of MariaDB's SQL: from which rows they read, and which they bring.

Source: https://mariadb.com/kb/en/select/, sequence-storage-engine/; tests/golden/programs/mariadb (mariadb.ok, mariadb.diskfull).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from env_core.programs import _mariadb_tables as tables
from env_core.programs import _mariadb_users as users
from env_core.programs import _mariadb_views as views
from env_core.programs._mariadb_errors import RESULT_MAX, ROWS_MAX, Problem, too_much
from env_core.programs._mariadb_syntax import Node, Source, Statement
from env_core.programs._mariadb_tables import Row, Table
from env_core.programs._mariadb_types import Value, is_number, length, shown, truth
from env_core.programs._mariadb_values import (
    Scope,
    check,
    column_name,
    evaluated,
    has_aggregate,
    order_key,
    summed,
)
from env_core.programs._mariadb_world import Reached, Waiting

_SERIES: Final = re.compile(r"seq_(\d{1,18})_to_(\d{1,18})(?:_step_(\d{1,9}))?\Z")
_SOURCES_MAX: Final = 4


class Result(NamedTuple):
    """Rows for a client."""

    names: tuple[str, ...]
    rows: list[tuple[Value, ...]]

    def texts(self) -> tuple[list[list[str | None]], list[bool]]:
        """Return the rows as they are sent, and which columns are of numbers.

        Raises:
            Problem: they are more than the server sends.
        """
        total = sum(length(value) for row in self.rows for value in row)
        if total > RESULT_MAX:
            raise too_much(total)
        kinds = [
            bool(self.rows) and all(row[at] is None or is_number(row[at]) for row in self.rows)
            for at in range(len(self.names))
        ]
        return [[None if value is None else shown(value) for value in row] for row in self.rows], kinds


class _Loaded(NamedTuple):
    """A source of a query."""

    alias: str
    names: tuple[str, ...]
    rows: list[tuple[Value, ...]]


def _loaded(source: Source, reached: Reached) -> _Loaded:
    session, kept = reached.session, reached.world.kept
    database = source.database or session.database
    series = _SERIES.match(source.table.lower())
    if not database and not series:
        raise Problem(1046, "No database selected")
    if series is not None and database.lower() not in tables.SYSTEM:
        first, last, step = int(series[1]), int(series[2]), int(series[3] or 1) or 1
        if abs(last - first) // step >= ROWS_MAX:
            raise too_much(abs(last - first) * 8)
        numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
        return _Loaded(source.alias, ("seq",), [(number,) for number in numbers])
    if not users.may(kept, session.who, database, "SELECT"):
        who = f"'{session.user}'@'{session.host}'"
        raise Problem(1142, f"SELECT command denied to user {who} for table `{database}`.`{source.table}`")
    if database.lower() in tables.SYSTEM:
        view = views.view(database.lower(), source.table.lower(), session, reached.world)
        if view is None:
            raise Problem(
                1109 if database.lower() == "information_schema" else 1146, _no_table(database, source.table)
            )
        return _Loaded(source.alias, *view)
    if not tables.has_database(kept, database):
        raise Problem(1049, f"Unknown database '{database}'")
    table = tables.table_of(kept, database, source.table)
    if table is None:
        raise Problem(1146, _no_table(database, source.table))
    return _Loaded(
        source.alias, tuple(column.name for column in table.columns), [row.values for row in table.rows]
    )


def _no_table(database: str, table: str) -> str:
    if database.lower() == "information_schema":
        return f"Unknown table '{table}' in information_schema"
    return f"Table '{database}.{table}' doesn't exist"


def _columns(sources: list[_Loaded], values: list[tuple[Value, ...]]) -> dict[str, Value]:
    """Return the columns that a row of all sources has, by name."""
    found: dict[str, Value] = {}
    for source, row in zip(sources, values):
        for name, value in zip(source.names, row):
            found.setdefault(name.lower(), value)
            found[f"{source.alias.lower()}.{name.lower()}"] = value
    return found


def selected(statement: Statement, reached: Reached) -> Result:
    """Return what a query brings.

    Raises:
        Problem: it is wrong; what fails row by row comes after the result has begun.
        Waiting: one of its functions waits.
    """
    if len(statement.sources) > _SOURCES_MAX:
        raise Problem(1116, f"Too many tables; MariaDB can only use {_SOURCES_MAX} tables in a join")
    sources = [_loaded(each, reached) for each in statement.sources]
    empty = _columns(sources, [(None,) * len(source.names) for source in sources])
    items = _items(statement, sources)
    names = tuple(name for _, name in items)
    blank = reached.scope(empty)
    for node, _ in items:
        check(node, blank, "SELECT", may_count=True)
    if statement.where is not None:
        check(statement.where, blank, "WHERE")
    aliases = {name.lower(): node for node, name in items}
    order = tuple(
        (
            aliases.get(column_name(node), node) if node.kind == "column" else _numbered(node, items),
            is_falling,
        )
        for node, is_falling in statement.order
    )
    for node, _ in order:
        check(node, blank, "ORDER BY", may_count=True)
    try:
        return Result(names, _rows(statement, sources, items, order, reached))
    except Waiting:
        raise
    except Problem as problem:
        # The client has been told of the columns by then.
        raise Problem(problem.number, problem.text, is_late=True) from None


def _numbered(node: Node, items: list[tuple[Node, str]]) -> Node:
    """Return the column that a number in ORDER BY stands for."""
    if node.kind != "number" or not node.value.isdigit():
        return node
    number = int(node.value[:9])
    if not 1 <= number <= len(items):
        raise Problem(1054, f"Unknown column '{node.value}' in 'ORDER BY'")
    return items[number - 1][0]


def _items(statement: Statement, sources: list[_Loaded]) -> list[tuple[Node, str]]:
    found: list[tuple[Node, str]] = []
    for node, alias in statement.items:
        if node.kind != "all":
            found.append((node, alias or _title(node)))
            continue
        if not sources:
            raise Problem(1096, "No tables used")
        for source in sources:
            found += [(Node("column", name, (Node("table", source.alias),)), name) for name in source.names]
    return found


def _title(node: Node) -> str:
    return node.value if node.kind in ("column", "text") else node.shown[:256]


def _rows(
    statement: Statement,
    sources: list[_Loaded],
    items: list[tuple[Node, str]],
    order: tuple[tuple[Node, bool], ...],
    reached: Reached,
) -> list[tuple[Value, ...]]:
    base = reached.scope()
    scopes: list[Scope] = []
    is_whole = any(has_aggregate(node) for node, _ in items)
    has_limit = statement.limit is not None and not order and not is_whole
    most = sum(statement.limit or (0, 0)) if has_limit else None
    for values in _product(sources, reached):
        if most is not None and len(scopes) >= most:
            break
        scope = base._replace(columns=_columns(sources, values)) if sources else base
        scope.spend(2)
        if statement.where is None or truth(evaluated(statement.where, scope)):
            scopes.append(scope)
    if is_whole:
        return [tuple(evaluated(summed(node, scopes, base), base) for node, _ in items)]
    for node, is_falling in reversed(order):
        scopes.sort(key=_by(node), reverse=is_falling)
    if statement.limit is not None:
        count, skipped = statement.limit
        scopes = scopes[skipped : skipped + count]
    return [tuple(evaluated(node, scope) for node, _ in items) for scope in scopes]


def _by(node: Node) -> Callable[[Scope], tuple[int, Any]]:
    """Return by what an expression puts rows in order."""
    return lambda scope: order_key(evaluated(node, scope))


def _product(sources: list[_Loaded], reached: Reached) -> list[list[tuple[Value, ...]]]:
    """Return the rows of all sources in all combinations."""
    found: list[list[tuple[Value, ...]]] = [[]]
    for source in sources:
        reached.meter.spend(len(found) * max(len(source.rows), 1))
        found = [[*before, row] for before in found for row in source.rows]
    return found


def ordered_rows(statement: Statement, table: Table, reached: Reached) -> list[Row]:
    """Return the rows of a table that a statement changes."""
    names = [column.name.lower() for column in table.columns]
    blank = reached.scope(dict.fromkeys((*names, *(f"{table.name.lower()}.{name}" for name in names))))
    if statement.where is not None:
        check(statement.where, blank, "WHERE")
    for node, _ in statement.order:
        check(node, blank, "ORDER BY")
    found: list[tuple[Row, Scope]] = []
    for row in table.rows:
        columns = dict(zip(names, row.values))
        columns |= {f"{table.name.lower()}.{name}": value for name, value in columns.items()}
        scope = blank._replace(columns=columns)
        scope.spend(2)
        if statement.where is None or truth(evaluated(statement.where, scope)):
            found.append((row, scope))
    for node, is_falling in reversed(statement.order):
        by = {row.place: order_key(evaluated(node, scope)) for row, scope in found}
        order = sorted(
            range(len(found)), key=[by[row.place] for row, _ in found].__getitem__, reverse=is_falling
        )
        found = [found[at] for at in order]
    rows = [row for row, _ in found]
    return rows if statement.limit is None else rows[: statement.limit[0]]
