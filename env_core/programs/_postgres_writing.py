"""Statements that change tables: what they leave, and which constraints refuse them.

Source: postgres 15 src/backend/executor/execMain.c (ExecConstraints), nbtinsert.c; tests/golden/programs/postgres (postgres.ok.fast).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from env_core.programs import _postgres_tables
from env_core.programs._postgres_bounds import ROWS_MAX
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_syntax import SERIALS, Node, Statement
from env_core.programs._postgres_tables import (
    Row,
    Stored,
    Table,
    created,
    dropped,
    table_of,
    too_many,
    with_table,
)
from env_core.programs._postgres_types import Typed, Value, converted, full_type, shown, stored
from env_core.programs._postgres_values import Scope, evaluated, truth

_QUERY: Final = re.compile(r"\A.*?\bas\s+(?=select\b)", re.IGNORECASE | re.DOTALL)


class Change(NamedTuple):
    """What a statement did."""

    tag: str
    kept: Stored
    problem: Problem | None = None
    """Why it failed, after numbers that a sequence gave: these stay given."""
    wal_bytes: int = 0


def insert(statement: Statement, table: Table, kept: Stored, scope: Scope) -> Change:
    """Add rows."""
    columns = {column.name: column for column in table.columns}
    for token in statement.names:
        if token.text not in columns:
            raise Problem(f'column "{token.text}" of relation "{table.name}" does not exist', token.at)
    names = [token.text for token in statement.names] or list(columns)
    before, keys = table, _Keys(table)
    rows: list[Row] = []
    for nodes in statement.rows:
        if len(nodes) > len(names):
            extra = nodes[len(names)]
            at = extra.at if extra is not None else 0
            raise Problem("INSERT has more expressions than target columns", at)
        if len(nodes) < len(names) and statement.names:
            raise Problem("INSERT has more target columns than expressions", statement.names[len(nodes)].at)
        given = dict(zip(names, nodes))
        values: list[Value] = []
        for column in table.columns:
            node = given.get(column.name)
            if node is not None:
                values.append(_assigned(node, column.type, scope))
            elif column.type in SERIALS:
                table = table._replace(last_number=table.last_number + 1)
                values.append(table.last_number)
            else:
                default = column.default
                values.append(None if default is None else _assigned(default, column.type, scope))
        row = Row(table.last_place + 1, tuple(values))
        problem = violated(table, row, keys, scope)
        if problem is not None:
            return Change("", with_table(kept, before._replace(last_number=table.last_number)), problem)
        rows.append(row)
        table = table._replace(last_place=row.place)
    _check_size(table, len(rows))
    table = table._replace(rows=(*table.rows, *rows))
    return Change(f"INSERT 0 {len(statement.rows)}", with_table(kept, table))


def _check_size(table: Table, more: int) -> None:
    if len(table.rows) + more > ROWS_MAX:
        raise too_many(len(table.rows) + more)


def _assigned(node: Node, kind: str, scope: Scope) -> Value:
    return stored(converted(evaluated(node, scope), kind, node.at))


class _Keys:
    """What the unique columns of a table hold, to tell in one look whether a value is taken."""

    def __init__(self, table: Table) -> None:
        names = [column.name for column in table.columns]
        self._places = [
            (key, [names.index(name) for name in key.columns if name in names]) for key in table.keys
        ]
        self._taken = [{self._of(row, places): row.place for row in table.rows} for _, places in self._places]

    @staticmethod
    def _of(row: Row, places: list[int]) -> tuple[Value, ...]:
        return tuple(row.values[place] for place in places)

    def take(self, row: Row) -> Problem | None:
        """Take a row's values; return what is said if another one has them."""
        for (key, places), taken in zip(self._places, self._taken):
            values = self._of(row, places)
            if None in values:
                continue
            if taken.get(values, row.place) != row.place:
                told = f"Key ({', '.join(key.columns)})=({', '.join(map(shown, values))}) already exists."
                return Problem(f'duplicate key value violates unique constraint "{key.name}"', detail=told)
            taken[values] = row.place
        return None

    def leave(self, row: Row) -> None:
        """Give a row's values back."""
        for (_, places), taken in zip(self._places, self._taken):
            taken.pop(self._of(row, places), None)


def violated(table: Table, row: Row, keys: _Keys, scope: Scope) -> Problem | None:
    """Return the constraint that a new row breaks."""
    shown_row = ", ".join("null" if value is None else shown(value) for value in row.values)
    detail = f"Failing row contains ({shown_row})."
    for column, value in zip(table.columns, row.values):
        if column.is_required and value is None:
            return Problem(
                f'null value in column "{column.name}" of relation "{table.name}" violates not-null constraint', detail=detail
            )  # fmt: skip
    for check in table.checks:
        if truth(check.condition, table.scope(row.values, scope), "CHECK") is False:
            text = f'new row for relation "{table.name}" violates check constraint "{check.name}"'
            return Problem(text, detail=detail)
    return keys.take(row)


def update(statement: Statement, table: Table, rows: list[Row], kept: Stored, scope: Scope) -> Change:
    """Change rows."""
    names = [column.name for column in table.columns]
    for token in statement.names:
        if token.text not in names:
            raise Problem(f'column "{token.text}" of relation "{table.name}" does not exist', token.at)
    table = _written(table)
    keys, now = _Keys(table), {row.place: row for row in table.rows}
    for row in rows:
        values = list(row.values)
        seen = table.scope(row.values, scope)
        for node, name in statement.items:
            place = names.index(name)
            values[place] = stored(converted(evaluated(node, seen), table.columns[place].type, node.at))
        changed = Row(row.place, tuple(values))
        keys.leave(row)
        problem = violated(table, changed, keys, scope)
        if problem is not None:
            raise problem
        now[row.place] = changed
    return Change(f"UPDATE {len(rows)}", with_table(kept, table._replace(rows=tuple(now.values()))))


def _written(table: Table) -> Table:
    """Return a table all of whose rows are kept one by one."""
    return table if table.made is None else table._replace(rows=tuple(table.all_rows()), made=None)


def delete(table: Table, rows: list[Row], kept: Stored) -> Change:
    """Take rows away."""
    gone, table = {row.place for row in rows}, _written(table)
    left = tuple(row for row in table.rows if row.place not in gone)
    return Change(f"DELETE {len(rows)}", with_table(kept, table._replace(rows=left)))


def truncate(table: Table, kept: Stored, tag: str = "TRUNCATE TABLE") -> Change:
    """Take all rows away."""
    return Change(tag, with_table(kept, table._replace(rows=(), made=None)))


def create(statement: Statement, kept: Stored, user: str) -> Change:
    """Make a table."""
    if table_of(kept, statement.table) is not None:
        if statement.is_lenient:
            return Change("CREATE TABLE", kept)
        raise Problem(f'relation "{statement.table}" already exists')
    return Change("CREATE TABLE", created(kept, statement.table, statement.text, user))


def create_as(statement: Statement, kept: Stored, scope: Scope, user: str) -> Change | None:
    """Make a table of a query's rows; None for queries that are not simulated."""
    name = statement.table
    if table_of(kept, name) is not None:
        raise Problem(f'relation "{name}" already exists')
    (source,) = statement.source
    call = source.call
    if call is None or call.value != "generate_series" or len(call.parts) != 2 or source.where is not None:
        return None
    first, last = (evaluated(each, scope).value for each in call.parts)
    if type(first) is not int or type(last) is not int:
        return None
    query = _QUERY.sub("", statement.text, count=1)
    known = scope._replace(columns={source.alias or call.value: Typed(first, "integer")})
    values = [evaluated(node, known) for node, _ in source.items]
    declared = ", ".join(
        f'"{column}" {full_type(value.type) if value.type != "unknown" else "text"}'
        for (_, column), value in zip(source.items, values)
    )
    made = created(kept, name, f'create table "{name}" ({declared})', user)
    table = _postgres_tables.table_of(made, name)
    assert table is not None
    count = max(last - first + 1, 0)
    size = count * _postgres_tables.row_bytes(tuple(value.value for value in values))
    filled = table._replace(made=(query, first, last), last_place=count)
    return Change(f"SELECT {count}", with_table(made, filled), wal_bytes=size)


def index(statement: Statement, table: Table, kept: Stored) -> Change:
    """Make an index; of those that are not unique, nothing is kept."""
    keys = tuple((key.name, key.columns) for key in statement.keys)
    return Change("CREATE INDEX", with_table(kept, table._replace(indexes=(*table.indexes, *keys))))


def drop(statement: Statement, kept: Stored) -> Change:
    """Take a table away."""
    return Change("DROP TABLE", dropped(kept, statement.table))
