"""Tables as a MariaDB server's data directory keeps them: what declares them, their rows, and what their files take.

Source: https://mariadb.com/kb/en/innodb-row-formats-overview/; MariaDB/server storage/innobase/fsp/fsp0fsp.cc
(fsp_get_pages_to_extend_ibd); tests/golden/programs/mariadb (mariadb.diskfull).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._mariadb_errors import TABLE_MAX, Problem, within
from env_core.programs._mariadb_parser import parsed
from env_core.programs._mariadb_syntax import Column, Key, Statement
from env_core.programs._mariadb_types import Value, length, loaded, stored

_TABLE: Final = "table "
_DATABASE: Final = "database "
SYSTEM: Final = ("information_schema", "mysql", "performance_schema", "sys")
"""Databases that every server has."""
_PAGE: Final = 16 << 10
_EXTENT: Final = 1 << 20
_FIRST_PAGES: Final = 4
_LONG: Final = 8_000
"""Longer values have pages of their own."""
_LONG_PAGE: Final = 16_327
"""What of a value such a page holds."""
_ROW_BYTES: Final = 24

Stored = Mapping[str, str]


class Row(NamedTuple):
    """A row, and its place in the table."""

    place: int
    values: tuple[Value, ...]


class Table(NamedTuple):
    """A table."""

    database: str
    name: str
    declared: str
    """The statement that made it."""
    rows: tuple[Row, ...] = ()
    last_place: int = 0
    next_number: int = 1
    """What its AUTO_INCREMENT gives next."""
    bytes: int = 0
    """What its rows have taken at most: files do not shrink."""

    @property
    def statement(self) -> Statement:
        """Its declaration."""
        found = parsed(self.declared)
        assert isinstance(found, Statement)
        return found

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns."""
        return self.statement.columns

    @property
    def keys(self) -> tuple[Key, ...]:
        """Its keys in order of declaration, the primary one first."""
        return tuple(sorted(self.statement.keys, key=lambda each: each.name != "PRIMARY"))

    @property
    def key(self) -> str:
        """Where a data directory keeps it."""
        return key_of(self.database, self.name)


def key_of(database: str, name: str) -> str:
    """Return where a data directory keeps a table."""
    return f"{_TABLE}{database}.{name}"


def databases_of(kept: Stored) -> list[str]:
    """Return the databases that somebody has made."""
    return sorted(key.removeprefix(_DATABASE) for key in kept if key.startswith(_DATABASE))


def has_database(kept: Stored, name: str) -> bool:
    """Whether there is a database."""
    return name.lower() in SYSTEM or _DATABASE + name in kept


def with_database(kept: Stored, name: str) -> dict[str, str]:
    """Return a data directory with another database."""
    return within({**kept, _DATABASE + name: ""})


def without_database(kept: Stored, name: str) -> dict[str, str]:
    """Return a data directory without a database and its tables."""
    prefix = f"{_TABLE}{name}."
    return {key: text for key, text in kept.items() if key != _DATABASE + name and not key.startswith(prefix)}


def table_of(kept: Stored, database: str, name: str) -> Table | None:
    """Return a table, None when there is none."""
    text = kept.get(key_of(database, name))
    return None if text is None else _read(text)


def tables_of(kept: Stored, database: str) -> list[Table]:
    """Return all tables of a database by name."""
    prefix = f"{_TABLE}{database}."
    return [_read(text) for key, text in sorted(kept.items()) if key.startswith(prefix)]


def table_at(kept: Stored, key: str) -> Table | None:
    """Return the table that is kept under a key."""
    text = kept.get(key)
    return None if text is None or not key.startswith(_TABLE) else _read(text)


@lru_cache(maxsize=256)
def _read(text: str) -> Table:
    database, name, declared, rows, place, number, size = json.loads(text)
    found = tuple(Row(where, tuple(map(loaded, values))) for where, values in rows)
    return Table(database, name, declared, found, place, number, size)


def row_text(row: Row) -> str:
    """Return a row as it is kept."""
    return json.dumps([row.place, [stored(value) for value in row.values]])


def row_of(text: str) -> Row:
    """Return a row that was kept."""
    place, values = json.loads(text)
    return Row(place, tuple(map(loaded, values)))


def table_text(table: Table) -> str:
    """Return a table as it is kept."""
    rows = [[row.place, [stored(value) for value in row.values]] for row in table.rows]
    return json.dumps(
        [table.database, table.name, table.declared, rows, table.last_place, table.next_number, table.bytes]
    )


def with_table(kept: Stored, table: Table) -> dict[str, str]:
    """Return a data directory with a table as it is now.

    Raises:
        Problem: it takes more than the server keeps.
    """
    text = table_text(table)
    before = len(kept.get(table.key, ""))
    if len(text) > TABLE_MAX and len(text) > before:
        raise Problem(1114, f"The table '{table.name}' is full")
    return within({**kept, table.key: text}) if len(text) > before else {**kept, table.key: text}


def without_table(kept: Stored, table: Table) -> dict[str, str]:
    """Return a data directory without a table."""
    return {key: text for key, text in kept.items() if key != table.key}


def row_bytes(values: tuple[Value, ...]) -> int:
    """Return what a row takes in its file: long values take whole pages."""
    total = _ROW_BYTES
    for value in values:
        size = 8 if isinstance(value, int | float) else length(value) if value is not None else 0
        total += -(-size // _LONG_PAGE) * _PAGE if size > _LONG else size
    return total


def file_bytes(rows_bytes: int) -> int:
    """Return how long a table's file is: small ones grow by pages, then by one extent, large ones by four."""
    needed = rows_bytes + _FIRST_PAGES * _PAGE
    if needed <= _EXTENT:
        return -(-needed // _PAGE) * _PAGE
    step = _EXTENT if needed <= 32 * _EXTENT else 4 * _EXTENT
    return -(-needed // step) * step


def used_bytes(kept: Stored) -> int:
    """Return what all tables take on disk."""
    return sum(file_bytes(_read(text).bytes) for key, text in kept.items() if key.startswith(_TABLE))
