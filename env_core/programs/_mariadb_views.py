"""What a MariaDB server shows of itself: SHOW statements, and tables of its own databases.

Source: https://mariadb.com/kb/en/show/, information-schema-tables/; tests/golden/programs/mariadb (mariadb.ok).
"""

from __future__ import annotations

import hashlib
from typing import Final

from env_core.programs import _mariadb_sessions as sessions
from env_core.programs import _mariadb_tables as tables
from env_core.programs import _mariadb_users as users
from env_core.programs._mariadb_errors import Problem
from env_core.programs._mariadb_sessions import Session
from env_core.programs._mariadb_syntax import Column
from env_core.programs._mariadb_tables import Table
from env_core.programs._mariadb_types import Value, fitted, is_number, shown
from env_core.programs._mariadb_users import ALL, EVERYWHERE, Account
from env_core.programs._mariadb_values import is_like
from env_core.programs._mariadb_world import World, status, variables

Shown = tuple[tuple[str, ...], list[tuple[Value, ...]]]
_PROCESSES: Final = ("Id", "User", "Host", "db", "Command", "Time", "State", "Info", "Progress")
_INFO_MAX: Final = 100


def visible_databases(session: Session, world: World) -> list[str]:
    """Return the databases that a session may see."""
    kept, who = world.kept, session.who
    found = ["information_schema", *tables.databases_of(kept)]
    if users.is_super(kept, who):
        found += list(tables.SYSTEM[1:])
    return sorted(each for each in found if users.may(kept, who, each, ""))


def databases(session: Session, world: World, pattern: str) -> Shown:
    """Show databases."""
    title = f"Database ({pattern})" if pattern else "Database"
    return (title,), [
        (each,) for each in visible_databases(session, world) if not pattern or is_like(each, pattern)
    ]


def tables_in(session: Session, world: World, database: str, pattern: str, *, is_full: bool) -> Shown:
    """Show the tables of a database.

    Raises:
        Problem: there is none, or it is not for this session.
    """
    database = database or session.database
    if not database:
        raise Problem(1046, "No database selected")
    if not users.may(world.kept, session.who, database, ""):
        raise users.no_database(session.who, database)
    if not tables.has_database(world.kept, database):
        raise Problem(1049, f"Unknown database '{database}'")
    title = f"Tables_in_{database}" + (f" ({pattern})" if pattern else "")
    found = [
        each.name
        for each in tables.tables_of(world.kept, database)
        if not pattern or is_like(each.name, pattern)
    ]
    if is_full:
        return (title, "Table_type"), [(each, "BASE TABLE") for each in found]
    return (title,), [(each,) for each in found]


def named_values(session: Session, world: World, what: str, pattern: str, *, is_global: bool) -> Shown:
    """Show variables, or what the server counts."""
    found = variables(session, world, is_global=is_global) if what == "variables" else status(world)
    rows: list[tuple[Value, ...]] = [
        (name, value) for name, value in found.items() if not pattern or is_like(name, pattern)
    ]
    return ("Variable_name", "Value"), rows


def processes(session: Session, world: World, *, is_full: bool) -> Shown:
    """Show the sessions: one's own, or all."""
    sees_all = users.may(world.kept, session.who, EVERYWHERE, "PROCESS")
    memory = sessions.with_session(world.memory, session)
    rows: list[tuple[Value, ...]] = []
    for each in sessions.sessions_of(memory):
        if not sees_all and each.user != session.user:
            continue
        is_own = each.number == session.number
        statement: str | None = each.statement if each.state == sessions.RUNNING else None
        if statement is not None and not is_full:
            statement = statement[:_INFO_MAX]
        state = (
            "starting"
            if is_own
            else ""
            if statement is None
            else "Updating"
            if each.waits_for
            else _state(statement)
        )
        rows.append((
            each.number, each.user, each.place, each.database or None, each.state, (world.now_ms - each.since_ms) // 1000, state,
            statement, "0.000",
        ))  # fmt: skip
    return _PROCESSES, rows


def _state(statement: str) -> str:
    return "User sleep" if "sleep" in statement.lower() else "executing"


def grants(session: Session, world: World, key: str) -> Shown:
    """Show what an account may do.

    Raises:
        Problem: there is no such account, or it is another's.
    """
    who = Account(*key.rsplit("@", 1)) if key else session.who
    kept = world.kept
    if who != session.who and not users.is_super(kept, session.who):
        raise users.no_database(session.who, "mysql")
    if not users.exists(kept, who):
        raise Problem(1141, f"There is no such grant defined for user '{who.name}' on host '{who.host}'")
    name = f"`{who.name}`@`{who.host}`"
    password = users.password_of(kept, who)
    proof = f" IDENTIFIED BY PASSWORD '{password_hash(password)}'" if password else ""
    rights = users.rights_of(kept, who, EVERYWHERE)
    rows: list[tuple[Value, ...]] = [(f"GRANT {_rights(rights)} ON *.* TO {name}{proof}{_option(rights)}",)]
    for database, found in users.granted(kept, who):
        if database != EVERYWHERE:
            rows.append((f"GRANT {_rights(found)} ON `{database}`.* TO {name}",))
    return (f"Grants for {who.key}",), rows


def _option(rights: tuple[str, ...]) -> str:
    return " WITH GRANT OPTION" if ALL in rights else ""


def _rights(rights: tuple[str, ...]) -> str:
    return "ALL PRIVILEGES" if ALL in rights else ", ".join(rights) or "USAGE"


def password_hash(password: str) -> str:
    """Return a password as mysql_native_password keeps it."""
    return "*" + hashlib.sha1(hashlib.sha1(password.encode()).digest()).hexdigest().upper()


def described(table: Table, pattern: str) -> Shown:
    """Show the columns of a table."""
    rows: list[tuple[Value, ...]] = []
    for column in table.columns:
        if pattern and not is_like(column.name, pattern):
            continue
        first = [key for key in table.keys if key.columns[0] == column.name]
        is_primary = any(key.name == "PRIMARY" and column.name in key.columns for key in table.keys)
        alone = any(key.is_unique and len(key.columns) == 1 for key in first)
        kind = "PRI" if is_primary else "UNI" if alone else "MUL" if first else ""
        rows.append((
            column.name, column.declared, "NO" if column.is_required else "YES", kind,
            None if column.default is None else _shown_default(column, table).strip("'"),
            "auto_increment" if column.is_counted else "",
        ))  # fmt: skip
    return ("Field", "Type", "Null", "Key", "Default", "Extra"), rows


def _shown_default(column: Column, table: Table) -> str:
    """Return a column's default as it is declared: numbers and functions without quotes."""
    assert column.default is not None
    if column.default == "current_timestamp()":
        return column.default
    value = fitted(column.default, column, (table.database, table.name), 1)
    return shown(value) if is_number(value) else "'" + shown(value).replace("'", "''") + "'"


def created(table: Table) -> Shown:
    """Show how to make a table."""
    parts = []
    for column in table.columns:
        text = f"  `{column.name}` {column.declared}{' NOT NULL' if column.is_required else ''}"
        if column.is_counted:
            text += " AUTO_INCREMENT"
        elif column.default is not None:
            text += f" DEFAULT {_shown_default(column, table)}"
        elif not column.is_required:
            text += " DEFAULT NULL"
        parts.append(text)
    for key in table.keys:
        names = ",".join(f"`{name}`" for name in key.columns)
        head = (
            "PRIMARY KEY"
            if key.name == "PRIMARY"
            else f"{'UNIQUE ' if key.is_unique else ''}KEY `{key.name}`"
        )
        parts.append(f"  {head} ({names})")
    counted = (
        f" AUTO_INCREMENT={table.next_number}"
        if table.next_number > 1 and any(each.is_counted for each in table.columns)
        else ""
    )
    body = ",\n".join(parts)
    text = f"CREATE TABLE `{table.name}` (\n{body}\n) ENGINE=InnoDB{counted} DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci"
    return ("Table", "Create Table"), [(table.name, text)]


def view(database: str, name: str, session: Session, world: World) -> Shown | None:
    """Return a table of the server's own databases, None when there is none: few of them are simulated."""
    if database == "mysql":
        return _accounts(world) if name in ("user", "global_priv") else None
    if database != "information_schema":
        return None
    seen = [each for each in visible_databases(session, world) if each not in tables.SYSTEM]
    every = [table for each in seen for table in tables.tables_of(world.kept, each)]
    if name == "schemata":
        return ("CATALOG_NAME", "SCHEMA_NAME"), [("def", each) for each in visible_databases(session, world)]
    if name == "tables":
        rows: list[tuple[Value, ...]] = [
            (
                "def",
                each.database,
                each.name,
                "BASE TABLE",
                "InnoDB",
                len(each.rows),
                tables.file_bytes(each.bytes),
            )
            for each in every
        ]
        return (
            "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "TABLE_TYPE", "ENGINE", "TABLE_ROWS", "DATA_LENGTH",
        ), rows  # fmt: skip
    if name == "columns":
        rows = [
            ("def", each.database, each.name, column.name, number, column.default, "NO" if column.is_required else "YES", column.type,
             column.declared)
            for each in every for number, column in enumerate(each.columns, start=1)
        ]  # fmt: skip
        return (
            "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "ORDINAL_POSITION", "COLUMN_DEFAULT", "IS_NULLABLE",
            "DATA_TYPE", "COLUMN_TYPE",
        ), rows  # fmt: skip
    if name == "processlist":
        titles, rows = processes(session, world, is_full=True)
        return tuple(title.upper() for title in titles[:8]), [row[:8] for row in rows]
    if name in ("global_variables", "session_variables", "global_status", "session_status"):
        what = "variables" if name.endswith("variables") else "status"
        _, rows = named_values(session, world, what, "", is_global=name.startswith("global"))
        return ("VARIABLE_NAME", "VARIABLE_VALUE"), [(str(row[0]).upper(), row[1]) for row in rows]
    return None


def _accounts(world: World) -> Shown:
    rows: list[tuple[Value, ...]] = []
    for each in users.accounts(world.kept):
        password = users.password_of(world.kept, each)
        rows.append(
            (each.host, each.name, password_hash(password) if password else "", "mysql_native_password")
        )
    return ("Host", "User", "Password", "plugin"), rows
