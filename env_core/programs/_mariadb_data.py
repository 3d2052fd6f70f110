"""What statements do with the tables and databases of a MariaDB server.

Source: https://mariadb.com/kb/en/data-manipulation/; tests/golden/programs/mariadb (mariadb.ok, mariadb.diskfull).
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.programs import _mariadb_tables as tables
from env_core.programs import _mariadb_users as users
from env_core.programs._mariadb_errors import ROWS_MAX, Problem
from env_core.programs._mariadb_querying import Result, ordered_rows, selected
from env_core.programs._mariadb_syntax import Column, Key, Node, Statement
from env_core.programs._mariadb_tables import Row, Stored, Table
from env_core.programs._mariadb_types import Value, fitted, key, shown
from env_core.programs._mariadb_values import check, evaluated
from env_core.programs._mariadb_world import NoSpace, Reached

_CHANGED_UNITS = 15
"""What a row that is added or changed costs the simulator, in units of about a microsecond."""


class Told(NamedTuple):
    """What a statement has done."""

    kept: Stored | None = None
    """The data directory after it, None where nothing is new."""
    result: Result | None = None
    affected: int = 0
    last_id: int = 0


def place_of(statement: Statement, reached: Reached, right: str) -> tuple[str, str]:
    """Return database and name of a statement's table, on which its session has a right.

    Raises:
        Problem: it has not, or there is no database.
    """
    session, kept = reached.session, reached.world.kept
    database = statement.database or session.database
    if not database:
        raise Problem(1046, "No database selected")
    if not users.may(kept, session.who, database, right):
        who = f"'{session.user}'@'{session.host}'"
        raise Problem(
            1142, f"{right} command denied to user {who} for table `{database}`.`{statement.table}`"
        )
    if not tables.has_database(kept, database):
        raise Problem(1049, f"Unknown database '{database}'")
    return database, statement.table


def _table(statement: Statement, reached: Reached, right: str) -> Table:
    database, name = place_of(statement, reached, right)
    table = tables.table_of(reached.world.kept, database, name)
    if table is None:
        raise Problem(1146, f"Table '{database}.{name}' doesn't exist")
    return table


def insert(statement: Statement, reached: Reached) -> Told:
    """Add rows.

    Raises:
        Problem: they do not fit.
        Waiting: another session holds a row with the same key.
        NoSpace: there is no room for them.
    """
    table = _table(statement, reached, "INSERT")
    columns = {column.name.lower(): number for number, column in enumerate(table.columns)}
    names = statement.names or tuple(column.name for column in table.columns)
    for name in names:
        if name.lower() not in columns:
            raise Problem(1054, f"Unknown column '{name}' in 'INSERT INTO'")
    if statement.query:
        found = selected(statement.query[0], reached)
        rows: list[tuple[Value | Node, ...]] = [tuple(row) for row in found.rows]
        width = len(found.names)
    else:
        rows = [tuple(_given(node, reached) for node in row) for row in statement.rows]
        width = len(names)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names) and (row or statement.names):
            raise Problem(1136, f"Column count doesn't match value count at row {number}")
    if width != len(names):
        raise Problem(1136, "Column count doesn't match value count at row 1")
    last_id = affected = 0
    unique, added = _unique(table), list(table.rows)
    places = [columns[name.lower()] for name in names]
    for number, row in enumerate(rows, start=1):
        reached.meter.spend(_CHANGED_UNITS)
        values, given = _completed(table, places, row, number, reached, statement)
        try:
            table = _added(table, unique, values, added, reached)
        except Problem as problem:
            if not (statement.is_lenient and problem.number == 1062):
                raise
            continue
        affected += 1
        last_id = last_id or given
        _room(table, reached)
    kept = tables.with_table(reached.world.kept, table._replace(rows=tuple(added)))
    return Told(kept, affected=affected, last_id=last_id)


_DEFAULT = Node("default", "")


def _given(node: Node | None, reached: Reached) -> Value | Node:
    if node is None:
        return _DEFAULT
    scope = reached.scope()
    check(node, scope, "VALUES")
    return evaluated(node, scope)


def _completed(
    table: Table,
    places: list[int],
    row: tuple[Value | Node, ...],
    number: int,
    reached: Reached,
    statement: Statement,
) -> tuple[tuple[Value, ...], int]:
    """Return all values of a new row, and the number that AUTO_INCREMENT has given it."""
    given: dict[int, Value] = {
        place: value for place, value in zip(places, row) if not isinstance(value, Node)
    }
    where = (table.database, table.name)
    values: list[Value] = []
    counted = 0
    for place, column in enumerate(table.columns):
        if column.is_counted and given.get(place) in (None, 0):
            counted = table.next_number
            values.append(fitted(counted, column, where, number))
        elif place in given:
            value = given[place]
            if value is None and column.is_required:
                raise Problem(1048, f"Column '{column.name}' cannot be null")
            values.append(fitted(value, column, where, number))
        else:
            values.append(_default(column, where, number, reached))
    return tuple(values), counted


def _default(column: Column, where: tuple[str, str], number: int, reached: Reached) -> Value:
    if column.default == "current_timestamp()":
        return fitted(evaluated(Node("call", "now"), reached.scope()), column, where, number)
    if column.default is not None:
        return fitted(column.default, column, where, number)
    if column.is_required:
        if column.type == "timestamp":
            return fitted(evaluated(Node("call", "now"), reached.scope()), column, where, number)
        raise Problem(1364, f"Field '{column.name}' doesn't have a default value")
    return None


Index = dict[tuple[Value, ...], int]


def _unique(table: Table) -> list[tuple[Key, list[int], Index]]:
    """Return the unique keys, where their columns are, and which rows have which values."""
    found: list[tuple[Key, list[int], Index]] = []
    names = [column.name.lower() for column in table.columns]
    for each in table.keys:
        if each.is_unique:
            places = [names.index(name.lower()) for name in each.columns]
            index = {tuple(key(row.values[place]) for place in places): row.place for row in table.rows}
            found.append((each, places, index))
    return found


def _added(
    table: Table,
    unique: list[tuple[Key, list[int], Index]],
    values: tuple[Value, ...],
    added: list[Row],
    reached: Reached,
) -> Table:
    """Add a row to those that are added; return what else changes of its table."""
    place = table.last_place + 1
    for each, places, index in unique:
        _free(table, each, tuple(values[number] for number in places), index, None, reached)
    for _each, places, index in unique:
        index[tuple(key(values[number]) for number in places)] = place
    if len(added) >= ROWS_MAX:
        raise Problem(1114, f"The table '{table.name}' is full")
    reached.take(table.key, place)
    next_number = table.next_number
    for column, value in zip(table.columns, values):
        if column.is_counted and isinstance(value, int):
            next_number = max(next_number, value + 1)
    added.append(Row(place, values))
    return table._replace(
        last_place=place, next_number=next_number, bytes=table.bytes + tables.row_bytes(values)
    )


def _free(
    table: Table, each: Key, values: tuple[Value, ...], index: Index, own: int | None, reached: Reached
) -> None:
    """See that no other row has a key's values."""
    if None in values:
        return
    other = index.get(tuple(map(key, values)))
    if other is None or other == own:
        return
    reached.take(table.key, other)
    reached.rows.pop()
    entry = "-".join(map(shown, values))[:64]
    raise Problem(1062, f"Duplicate entry '{entry}' for key '{each.name}'")


def _room(table: Table, reached: Reached) -> None:
    """See whether a table's file finds space to grow."""
    room = reached.world.room_bytes
    if room is None:
        return
    before = tables.table_of(reached.world.kept, table.database, table.name)
    grown = tables.file_bytes(table.bytes) - (tables.file_bytes(before.bytes) if before is not None else 0)
    if grown > room:
        raise NoSpace(f"./{table.database}/{table.name}.ibd", tables.file_bytes(table.bytes))


def update(statement: Statement, reached: Reached) -> Told:
    """Change rows.

    Raises:
        Problem: the new ones do not fit.
        Waiting: another session holds one of them.
        NoSpace: there is no room for them.
    """
    table = _table(statement, reached, "UPDATE")
    names = [column.name.lower() for column in table.columns]
    for node, name in statement.items:
        if name.lower() not in names:
            raise Problem(1054, f"Unknown column '{name}' in 'SET'")
        check(node, reached.scope(dict.fromkeys(names)), "SET")
    unique = _unique(table)
    changed: dict[int, Row] = {}
    where = (table.database, table.name)
    for number, row in enumerate(_rows(statement, table, reached), start=1):
        values = list(row.values)
        reached.meter.spend(_CHANGED_UNITS)
        for node, name in statement.items:
            place = names.index(name.lower())
            column = table.columns[place]
            value = (
                None if node.kind == "default" else evaluated(node, reached.scope(dict(zip(names, values))))
            )
            if value is None and column.is_required:
                raise Problem(1048, f"Column '{column.name}' cannot be null")
            values[place] = fitted(value, column, where, number)
        if tuple(values) == row.values:
            continue
        _moved(table, unique, row, tuple(values), reached)
        changed[row.place] = Row(row.place, tuple(values))
        more = max(tables.row_bytes(tuple(values)) - tables.row_bytes(row.values), 0)
        table = table._replace(bytes=table.bytes + more)
    table = table._replace(rows=tuple(changed.get(row.place, row) for row in table.rows))
    _room(table, reached)
    return Told(tables.with_table(reached.world.kept, table), affected=len(changed))


def _moved(
    table: Table,
    unique: list[tuple[Key, list[int], Index]],
    row: Row,
    values: tuple[Value, ...],
    reached: Reached,
) -> None:
    """Move a row in the keys."""
    for each, places, index in unique:
        new = tuple(values[place] for place in places)
        _free(table, each, new, index, row.place, reached)
        index.pop(tuple(key(row.values[place]) for place in places), None)
        index[tuple(map(key, new))] = row.place


def _rows(statement: Statement, table: Table, reached: Reached) -> list[Row]:
    """Return the rows that a statement is about, which are taken for its transaction."""
    found = ordered_rows(statement, table, reached)
    for row in found:
        reached.take(table.key, row.place)
    return found


def delete(statement: Statement, reached: Reached) -> Told:
    """Remove rows.

    Raises:
        Problem: the condition is wrong.
        Waiting: another session holds one of them.
    """
    table = _table(statement, reached, "DELETE")
    gone = {row.place for row in _rows(statement, table, reached)}
    left = table._replace(rows=tuple(row for row in table.rows if row.place not in gone))
    return Told(tables.with_table(reached.world.kept, left), affected=len(gone))


def truncate(statement: Statement, reached: Reached) -> Told:
    """Empty a table."""
    table = _table(statement, reached, "DROP")
    return Told(tables.with_table(reached.world.kept, table._replace(rows=(), next_number=1, bytes=0)))


def create_table(statement: Statement, reached: Reached) -> Told:
    """Make a table."""
    database, name = place_of(statement, reached, "CREATE")
    if len(name) > 64:
        raise Problem(1103, f"Incorrect table name '{name[:64]}'")
    kept = reached.world.kept
    if tables.table_of(kept, database, name) is not None:
        if statement.is_lenient:
            return Told(kept)
        raise Problem(1050, f"Table '{name}' already exists")
    for column in statement.columns:
        if column.default is not None and column.default != "current_timestamp()":
            _checked_default(column, (database, name))
    table = Table(database, name, statement.text)
    _room(table, reached)
    return Told(tables.with_table(kept, table))


def _checked_default(column: Column, where: tuple[str, str]) -> None:
    try:
        fitted(column.default, column, where, 1)
    except Problem:
        raise Problem(1067, f"Invalid default value for '{column.name}'") from None


def drop_table(statement: Statement, reached: Reached) -> Told:
    """Remove a table."""
    database, name = place_of(statement, reached, "DROP")
    table = tables.table_of(reached.world.kept, database, name)
    if table is None:
        if statement.is_lenient:
            return Told(reached.world.kept)
        raise Problem(1051, f"Unknown table '{database}.{name}'")
    return Told(tables.without_table(reached.world.kept, table))


def create_database(statement: Statement, reached: Reached) -> Told:
    """Make a database."""
    kept, name = reached.world.kept, statement.database
    if not users.may(kept, reached.session.who, name, "CREATE"):
        raise users.no_database(reached.session.who, name)
    if len(name) > 64 or "/" in name or "." in name or " " in name:
        raise Problem(1102, f"Incorrect database name '{name[:64]}'")
    if tables.has_database(kept, name):
        if statement.is_lenient:
            return Told(kept)
        raise Problem(1007, f"Can't create database '{name}'; database exists")
    return Told(tables.with_database(kept, name), affected=1)


def drop_database(statement: Statement, reached: Reached) -> Told:
    """Remove a database with its tables."""
    kept, name = reached.world.kept, statement.database
    if not users.may(kept, reached.session.who, name, "DROP") or name.lower() in tables.SYSTEM:
        raise users.no_database(reached.session.who, name)
    if not tables.has_database(kept, name):
        if statement.is_lenient:
            return Told(kept)
        raise Problem(1008, f"Can't drop database '{name}'; database doesn't exist")
    return Told(tables.without_database(kept, name))
