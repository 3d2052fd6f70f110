"""Tables as a Postgres server's data directory keeps them: what declares them, whose they are, and their rows.

Source: https://www.postgresql.org/docs/15/storage-page-layout.html (what a row takes), ddl-constraints.html.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._postgres_bounds import ROWS_MAX, TABLE_MAX
from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_parser import parsed
from env_core.programs._postgres_syntax import SERIALS, Check, Column, Key, Node, Statement
from env_core.programs._postgres_types import Typed, Value, full_type, loaded, shown, stored
from env_core.programs._postgres_values import Scope, evaluated, truth

FIRST_OID: Final = 16_384
DATABASE_OID: Final = 16_385
_OID: Final = "next oid"
_ROW_BYTES: Final = 28
"""The head of a row, and the pointer to it."""

Stored = Mapping[str, str]


class Row(NamedTuple):
    """A row, and its place in the table's file."""

    place: int
    values: tuple[Value, ...]


class Table(NamedTuple):
    """A table."""

    name: str
    declared: str
    """The statement that made it."""
    owner: str
    oid: int
    rows: tuple[Row, ...] = ()
    last_place: int = 0
    last_number: int = 0
    """What its sequence gave last."""
    indexes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Unique ones, by name."""
    made: tuple[str, int, int] | None = None
    """The query over a series of numbers that filled it, whose rows nobody has to keep."""
    is_lost: bool = False
    """Whether its file is gone."""

    @property
    def statement(self) -> Statement:
        """Its declaration."""
        return parsed(self.declared)[0][0]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns."""
        return self.statement.columns

    @property
    def keys(self) -> tuple[Key, ...]:
        """What is unique, in order of creation."""
        return (*self.statement.keys, *(Key(name, columns) for name, columns in self.indexes))

    @property
    def checks(self) -> tuple[Check, ...]:
        """What must hold of each row."""
        return self.statement.checks

    @property
    def file(self) -> str:
        """Where its rows lie, below the data directory."""
        return f"base/{DATABASE_OID}/{self.oid}"

    def scope(self, values: tuple[Value, ...], scope: Scope) -> Scope:
        """Return what an expression sees that is about one of its rows."""
        kinds = [full_type(column.type) for column in self.columns]
        known = {
            column.name: Typed(loaded(value, kind), kind)
            for column, value, kind in zip(self.columns, values, kinds)
        }
        scope.spend(len(known))
        return scope._replace(columns=known)

    def all_rows(self) -> Iterator[Row]:
        """Return all rows, in order.

        Raises:
            Problem: they are more than the server looks at.
        """
        if self.made is not None:
            if self.size() > ROWS_MAX:
                raise too_many(self.size())
            query, first, last = self.made
            for number in range(first, last + 1):
                yield Row(number - first + 1, made_row(query, number))
        yield from self.rows

    def size(self) -> int:
        """Return how many rows there are."""
        return len(self.rows) + (0 if self.made is None else max(self.made[2] - self.made[1] + 1, 0))


def key_of(name: str) -> str:
    """Return where a data directory keeps a table."""
    return f"table {name}"


def table_of(kept: Stored, name: str) -> Table | None:
    """Return a table, None when there is none."""
    text = kept.get(key_of(name))
    return None if text is None else _read(text)


def oid_of(kept: Stored, name: str) -> int:
    """Return the number of a table, 0 when there is none."""
    table = table_of(kept, name)
    return 0 if table is None else table.oid


def tables_of(kept: Stored) -> list[Table]:
    """Return all tables by name."""
    return [_read(text) for key, text in sorted(kept.items()) if key.startswith("table ")]


@lru_cache(maxsize=256)
def _read(text: str) -> Table:
    name, declared, owner, oid, rows, place, number, indexes, made, is_lost = json.loads(text)
    return Table(
        name, declared, owner, oid, tuple(Row(where, tuple(values)) for where, values in rows), place, number,
        tuple((index, tuple(columns)) for index, columns in indexes), None if made is None else (made[0], made[1], made[2]), is_lost,
    )  # fmt: skip


def with_table(kept: Stored, table: Table) -> dict[str, str]:
    """Return a data directory with a table as it is now.

    Raises:
        Problem: it takes more than the server keeps.
    """
    text = json.dumps(table, default=str)
    if len(text) > TABLE_MAX and len(text) > len(kept.get(key_of(table.name), "")):
        file = f'could not extend file "{table.file}": No space left on device'
        raise Problem(file, hint="Check free disk space.")
    return {**kept, key_of(table.name): text}


def created(kept: Stored, name: str, declared: str, owner: str) -> dict[str, str]:
    """Return a data directory with a new, empty table."""
    columns = parsed(declared)[0][0].columns
    oid = int(kept.get(_OID, FIRST_OID)) + sum(each.type in SERIALS for each in columns)
    table = Table(name, declared, owner, oid)
    return with_table({**kept, _OID: str(oid + 1)}, table)


@lru_cache(maxsize=4096)
def made_row(query: str, number: int) -> tuple[Value, ...]:
    """Return one row of a query over a series of numbers."""
    statement = parsed(query)[0][0]
    scope = Scope({statement.alias or "generate_series": Typed(number, "integer")})
    return tuple(stored(evaluated(node, scope).value) for node, _ in statement.items)


def too_many(count: int) -> Problem:
    """Return what is said of rows that nobody here goes through one by one."""
    return Problem(
        "canceling statement due to user request",
        detail=f"This simulated server does not go through {count} rows.",
    )


def row_bytes(values: tuple[Value, ...]) -> int:
    """Return what a row takes on disk."""
    return _ROW_BYTES + sum(4 if isinstance(value, int) else 4 + len(shown(value)) for value in values)


def dropped(kept: Stored, name: str) -> dict[str, str]:
    """Return a data directory without a table."""
    return {key: text for key, text in kept.items() if key != key_of(name)}


def selected(
    table: Table, where: Node | None, scope: Scope, is_mine: Callable[[Row], bool] = lambda _row: True
) -> list[Row]:
    """Return the rows of which a condition holds."""
    return [
        row for row in table.all_rows()
        if (where is None or truth(where, table.scope(row.values, scope), "WHERE") is True) and is_mine(row)
    ]  # fmt: skip
