"""What a Postgres server keeps in its data directory: tables that statements create over its protocol, and roles.

Services' statements on tables that nobody created are good and change nothing.
Source: https://www.postgresql.org/docs/16/protocol-message-formats.html (CommandComplete), sql-alterrole.html;
tests/golden/programs/postgres (postgres.ok.fast, postgres.relfile.lost).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

from env_core.programs import _postgres_roles, _postgres_writing
from env_core.programs._postgres_bounds import ROWS_MAX, Meter
from env_core.programs._postgres_errors import Problem, UnknownTable
from env_core.programs._postgres_parser import parsed
from env_core.programs._postgres_syntax import Node, Statement
from env_core.programs._postgres_tables import Row, Stored, Table, selected, table_of, tables_of, too_many
from env_core.programs._postgres_types import Typed, Value, converted, is_number, shown
from env_core.programs._postgres_values import Scope, evaluated, truth, unknown_function


class Actor(NamedTuple):
    """Who asks."""

    user: str = "postgres"
    is_superuser: bool = True
    scope: Scope = Scope()
    """The functions of the server."""
    views: Mapping[str, tuple[tuple[str, ...], tuple[tuple[Typed, ...], ...]]] = {}
    """What the server shows of itself as tables: names of columns, and rows."""
    is_mine: Callable[[Table, Row], bool] = lambda _table, _row: True
    """Whether a row that is about to be changed is free; raises when it is not."""


class Told(NamedTuple):
    """What a statement brought: the text for the client, and the data after it, None when they are as before."""

    text: str
    rows: Stored | None = None
    table: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None = None
    """Names of columns, and rows, of statements that read."""
    kinds: tuple[str, ...] = ()
    """Of each column: "number" or "text"."""
    problem: Problem | None = None
    """Why it failed though something is kept."""
    wal_bytes: int = 0


def run(text: str, kept: Stored) -> Told | None:
    """Return what a service's statement does to a data directory, None when it is about none of its tables."""
    statements, problem = parsed(text)
    if problem is not None or len(statements) != 1:
        return None
    (statement,) = statements
    if not statement.table and not statement.verb.endswith(" role"):
        return None
    try:
        told = execute(statement, kept, Actor(scope=Scope(meter=Meter())))
    except UnknownTable:
        return None
    except Problem as refused:
        return Told(refused.fields.body)
    if told is not None and told.problem is not None:
        return told._replace(text=told.problem.fields.body)
    return told


def execute(statement: Statement, kept: Stored, actor: Actor) -> Told | None:
    """Return what a statement does, None for what is not simulated.

    Raises:
        Problem: it fails, and nothing is changed.
    """
    if statement.verb == "select":
        return _select(statement, kept, actor)
    if statement.verb in ("create role", "alter role", "drop role"):
        owners = ((table.name, table.owner) for table in tables_of(kept))
        return Told(
            *_postgres_roles.execute(statement, kept, actor.user, owners, is_superuser=actor.is_superuser)
        )
    if statement.verb == "create database":
        return _create_database(statement, kept, actor)
    if statement.verb == "create":
        return _told(_postgres_writing.create(statement, kept, actor.user))
    if statement.verb == "create as":
        made = _postgres_writing.create_as(statement, kept, actor.scope, actor.user)
        return None if made is None else _told(made)
    if not statement.table:
        return None
    found = _change(statement, kept, actor)
    return None if found is None else _told(found)


def _told(change: _postgres_writing.Change) -> Told:
    return Told(change.tag, change.kept, problem=change.problem, wal_bytes=change.wal_bytes)


def _change(statement: Statement, kept: Stored, actor: Actor) -> _postgres_writing.Change | None:
    verb, scope = statement.verb, actor.scope
    if verb == "drop":
        table = table_of(kept, statement.table)
        if table is None:
            if statement.is_lenient:
                return _postgres_writing.Change("DROP TABLE", kept)
            raise UnknownTable(f'table "{statement.table}" does not exist')
        if not (actor.is_superuser or table.owner == actor.user):
            raise Problem(f"must be owner of table {table.name}")
        return _postgres_writing.drop(statement, kept)
    table = _opened(statement, kept, actor)
    if verb == "insert":
        return _postgres_writing.insert(statement, table, kept, scope)
    if verb == "delete" and table.made is not None and statement.where is None:
        return _postgres_writing.truncate(table, kept, f"DELETE {table.size()}")
    if verb in ("update", "delete"):
        rows = selected(table, statement.where, scope)
        for row in rows:
            actor.is_mine(table, row)
        if verb == "delete":
            return _postgres_writing.delete(table, rows, kept)
        return _postgres_writing.update(statement, table, rows, kept, scope)
    if verb == "truncate":
        return _postgres_writing.truncate(table, kept)
    if verb == "index":
        return _postgres_writing.index(statement, table, kept)
    tag = {"lock": "LOCK TABLE", "analyze": "ANALYZE"}.get(verb)
    return None if tag is None else _postgres_writing.Change(tag, kept)


def _opened(statement: Statement, kept: Stored, actor: Actor) -> Table:
    """Return the table that a statement is about.

    Raises:
        Problem: there is none, or it may not be touched, or its file is gone.
    """
    table = table_of(kept, statement.table)
    if table is None:
        raise UnknownTable(f'relation "{statement.table}" does not exist', statement.at)
    if not (actor.is_superuser or table.owner == actor.user):
        raise Problem(f"permission denied for table {table.name}")
    if table.is_lost and statement.verb != "lock":
        raise Problem(f'could not open file "{table.file}": No such file or directory')
    return table


def _select(statement: Statement, kept: Stored, actor: Actor) -> Told:
    if any(node.kind == "call" and node.value == "count" for node, _ in statement.items):
        return _counted(statement, kept, actor)
    scopes, names = _source(statement, kept, actor)
    _check(statement, names, actor.scope)
    scopes = [each for each in scopes if _holds(statement.where, each)]
    for by, is_falling in reversed(_orders(statement)):
        scopes = sorted(scopes, key=lambda each: _order(evaluated(by, each).value), reverse=is_falling)
    if statement.limit >= 0:
        scopes = scopes[: statement.limit]
    head: list[str] = []
    for node, name in statement.items:
        head += names if node.kind == "all" else [name]
    rows: list[tuple[Typed, ...]] = []
    for scope in scopes:
        row: list[Typed] = []
        for node, _ in statement.items:
            row += [scope.columns[each] for each in names] if node.kind == "all" else [evaluated(node, scope)]
        rows.append(tuple(row))
    shown_kinds = tuple(
        "number" if rows and is_number(rows[0][at].type) else "text" for at in range(len(head))
    )
    return _read(tuple(head), tuple(tuple(shown(each.value) for each in row) for row in rows), shown_kinds)


def _orders(statement: Statement) -> list[tuple[Node, bool]]:
    """Return by what rows are sorted: a number or a name may stand for a result column.

    Raises:
        Problem: there is no such column.
    """
    found = []
    for node, is_falling in statement.order:
        by = node
        if node.kind == "number":
            place = int(node.value) if node.value.isdigit() and len(node.value) < 10 else 0
            if not node.value.isdigit():
                raise Problem("non-integer constant in ORDER BY", node.at)
            if not 1 <= place <= len(statement.items):
                raise Problem(f"ORDER BY position {node.value} is not in select list", node.at)
            by = statement.items[place - 1][0]
        elif node.kind == "column":
            by = next((item for item, name in statement.items if name == node.value), node)
        if by.kind != "all":
            found.append((by, is_falling))
    return found


def _order(value: Value) -> tuple[bool, float | Decimal, str]:
    if isinstance(value, int | float | Decimal):
        return (False, value, "")
    return (value is None, 0.0, shown(value))


def _read(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...], kinds: tuple[str, ...]) -> Told:
    return Told("\n".join("|".join(row) for row in rows), table=(head, rows), kinds=kinds)


def _holds(where: Node | None, scope: Scope) -> bool:
    return where is None or truth(where, scope, "WHERE") is True


def _check(statement: Statement, names: list[str], scope: Scope) -> None:
    """Look at all columns that are named, for an empty table has no rows to find them wrong with.

    Raises:
        Problem: there is no such column.
    """
    nodes = [node for node, _ in statement.items] + [node for node, _ in _orders(statement)]
    nodes += [] if statement.where is None else [statement.where]
    nodes.reverse()
    while nodes:
        node = nodes.pop()
        nodes += reversed(node.parts)
        if node.kind == "column" and node.value not in names:
            evaluated(node, scope)
        if node.kind == "all" and node.value == "*" and not names:
            raise Problem("SELECT * with no tables specified is not valid", node.at)


def _source(statement: Statement, kept: Stored, actor: Actor) -> tuple[list[Scope], list[str]]:
    """Return what a query's expressions see, row by row, and the columns' names."""
    scope = actor.scope
    view = actor.views.get(statement.table)
    if view is not None:
        names = list(view[0])
        return [scope._replace(columns=dict(zip(names, row))) for row in view[1]], names
    if statement.table:
        table = _opened(statement, kept, actor)
        scopes = [table.scope(row.values, scope) for row in table.all_rows()]
        return scopes, [column.name for column in table.columns]
    if statement.call is not None:
        numbers = _series(statement.call, scope)
        count = _length(numbers)
        if count > ROWS_MAX:
            raise too_many(count)
        name = statement.alias or statement.call.value
        scope.spend(count)
        return [scope._replace(columns={name: Typed(each, "integer")}) for each in numbers], [name]
    return [scope], []


def _series(call: Node, scope: Scope) -> range:
    """Return the numbers of generate_series.

    Raises:
        Problem: it is another function, or not used as it is made for.
    """
    values = [evaluated(each, scope) for each in call.parts]
    ends = [
        converted(each, "bigint", call.at) if is_number(each.type) or each.type == "unknown" else None
        for each in values
    ]
    numbers = [each for each in ends if isinstance(each, int)]
    if call.value != "generate_series" or len(numbers) != len(values) or len(values) not in (2, 3):
        raise unknown_function(call, values)
    if numbers[2:] == [0]:
        raise Problem("step size cannot equal zero")
    step = numbers[2] if len(numbers) > 2 else 1
    return range(numbers[0], numbers[1] + (1 if step > 0 else -1), step)


def _length(numbers: range) -> int:
    """Return how many numbers there are, be they more than a sequence of Python's may have."""
    step = numbers.step
    return max((numbers.stop - numbers.start + step - (1 if step > 0 else -1)) // step, 0)


def _counted(statement: Statement, kept: Stored, actor: Actor) -> Told:
    """Return how many rows there are; other aggregates than count are not simulated."""
    if statement.table and statement.where is None and statement.table not in actor.views:
        count = _opened(statement, kept, actor).size()
    elif statement.call is not None and statement.where is None:
        count = _length(_series(statement.call, actor.scope))
    else:
        scopes, names = _source(statement, kept, actor)
        _check(statement._replace(items=()), names, actor.scope)
        count = sum(_holds(statement.where, each) for each in scopes)
    head = tuple(name for _, name in statement.items)
    values = [
        str(count) if node.value == "count" else shown(evaluated(node, actor.scope).value) for node, _ in statement.items
    ]  # fmt: skip
    return _read(head, (tuple(values),), tuple("number" for _ in head))


def _create_database(statement: Statement, kept: Stored, actor: Actor) -> Told:
    if not actor.is_superuser:
        raise Problem("permission denied to create database")
    key = f"database {statement.value}"
    if key in kept or statement.value in ("postgres", "template0", "template1"):
        raise Problem(f'database "{statement.value}" already exists')
    return Told("CREATE DATABASE", {**kept, key: actor.user})
