"""Statements about accounts, variables and sessions of a MariaDB server, and its SHOW statements.

Source: https://mariadb.com/kb/en/administrative-sql-statements/, account-management-sql-commands/, set/;
tests/golden/programs/mariadb (mariadb.ok, mariadb.timeouts).
"""

from __future__ import annotations

from typing import Final

from env_core.programs import _mariadb_sessions as sessions
from env_core.programs import _mariadb_tables as tables
from env_core.programs import _mariadb_users as users
from env_core.programs import _mariadb_views as views
from env_core.programs._mariadb_config import is_number
from env_core.programs._mariadb_data import Told, place_of
from env_core.programs._mariadb_errors import Problem, unsupported
from env_core.programs._mariadb_names import DEFAULTS, GLOBAL_ONLY, READ_ONLY, SECONDS, SQL_MODES
from env_core.programs._mariadb_sessions import Session
from env_core.programs._mariadb_syntax import Node, Statement
from env_core.programs._mariadb_types import Value, number, stored, text, truth
from env_core.programs._mariadb_users import Account
from env_core.programs._mariadb_values import check, evaluated
from env_core.programs._mariadb_views import Shown
from env_core.programs._mariadb_world import Reached, World

_VARIABLES_MAX: Final = 64
_VALUE_MAX: Final = 4_096
_LIMITS: Final = {
    "max_connections": (10, 100_000), "wait_timeout": (1, 31_536_000), "interactive_timeout": (1, 31_536_000),
    "innodb_lock_wait_timeout": (0, 100_000_000), "connect_timeout": (2, 31_536_000), "log_warnings": (0, 1 << 32),
}  # fmt: skip
"""The least and the most of numbers: what lies outside is taken as the nearest."""


def assigned(statement: Statement, session: Session, world: World) -> tuple[Session, dict[str, str]]:
    """Set variables; return the session and the server's memory after it.

    Raises:
        Problem: there is no such variable, or it takes no such value.
    """
    memory = dict(world.memory)
    reached = Reached(session, world)
    for node, name in statement.items:
        scope = reached.scope()
        check(node, scope, "SET")
        value = evaluated(node, scope)
        if not name.startswith("@@"):
            if len(session.variables) >= _VARIABLES_MAX:
                raise unsupported("MORE USER VARIABLES")
            kept = stored(value)
            if isinstance(kept, dict) or len(str(kept)) > _VALUE_MAX:
                kept = text(value)[:_VALUE_MAX]
            session = session._replace(
                variables=tuple({**dict(session.variables), name[1:].lower(): kept}.items())
            )
            continue
        where, _, bare = name[2:].lower().rpartition(".")
        shown = _value(bare, node, value)
        is_global = where == "global"
        if bare in READ_ONLY:
            raise Problem(1238, f"Variable '{bare}' is a read only variable")
        if is_global and not world.is_super:
            raise users.needs("SUPER")
        if not is_global and bare in GLOBAL_ONLY:
            raise Problem(1229, f"Variable '{bare}' is a GLOBAL variable and should be set with SET GLOBAL")
        if is_global:
            memory[sessions.GLOBAL + bare] = shown
            continue
        if bare == "autocommit":
            session = session._replace(is_manual=shown == "OFF")
            if shown == "ON":
                session = sessions.ended(session)
        session = session._replace(settings=tuple({**dict(session.settings), bare: shown}.items()))
    return session, memory


def _value(name: str, node: Node, value: Value) -> str:
    """Return a value as a variable keeps it."""
    default = DEFAULTS.get(name)
    if default is None:
        if name in ("character_set_client", "character_set_connection", "character_set_results", "foreign_key_checks", "unique_checks",
                    "sql_notes", "time_zone", "timestamp", "tx_isolation", "transaction_isolation", "sql_log_bin", "sql_safe_updates"):  # fmt: skip
            return text(value)[:_VALUE_MAX]
        raise Problem(1193, f"Unknown system variable '{name}'")
    if node.kind == "default":
        return default
    wrong = Problem(
        1231,
        f"Variable '{name}' can't be set to the value of '{'NULL' if value is None else text(value)[:64]}'",
    )
    if value is None:
        raise wrong
    if default in ("ON", "OFF"):
        word = text(value).upper()
        if word not in ("ON", "OFF", "0", "1", "TRUE", "FALSE"):
            raise wrong
        return "ON" if word in ("ON", "TRUE") or (word != "OFF" and truth(value)) else "OFF"
    if is_number(name) or name in SECONDS:
        found = number(value)
        if isinstance(value, str) or found is None or (is_number(name) and not isinstance(found, int)):
            raise Problem(1232, f"Incorrect argument type to variable '{name}'")
        low, high = _LIMITS.get(name, (0, (1 << 64) - 1))
        return str(max(min(found, high), low))
    if name == "sql_mode":
        words = [word for word in text(value).upper().split(",") if word]
        for word in words:
            if word not in SQL_MODES:
                raise Problem(1231, f"Variable 'sql_mode' can't be set to the value of '{word[:64]}'")
        return ",".join(words)
    return text(value)[:_VALUE_MAX]


def target(statement: Statement, session: Session, world: World) -> tuple[int, str]:
    """Return which session a KILL is about, and what of it shall end.

    Raises:
        Problem: there is none, or it is another's.
    """
    ((node, kind),) = statement.items
    scope = Reached(session, world).scope()
    check(node, scope, "KILL")
    found = number(evaluated(node, scope))
    other = sessions.session_of(world.memory, str(found)) if isinstance(found, int) else None
    if other is None:
        raise Problem(1094, f"Unknown thread id: {0 if found is None else int(min(found, 1 << 62))}")
    if other.user != session.user and not world.is_super:
        raise Problem(1095, f"You are not owner of thread {found}")
    return other.number, kind


def _manages_users(reached: Reached) -> None:
    if not users.may(reached.world.kept, reached.session.who, users.EVERYWHERE, "CREATE USER"):
        raise users.needs("CREATE USER")


def _account(key: str) -> Account:
    return Account(*key.rsplit("@", 1))


def create_user(statement: Statement, reached: Reached) -> Told:
    """Make an account."""
    _manages_users(reached)
    who = _account(statement.names[0])
    if users.exists(reached.world.kept, who):
        if statement.is_lenient:
            return Told(reached.world.kept)
        raise Problem(1396, f"Operation CREATE USER failed for {who.shown}")
    return Told(users.with_account(reached.world.kept, who, statement.value))


def alter_user(statement: Statement, reached: Reached) -> Told:
    """Give an account another password: one's own always."""
    who = _account(statement.names[0]) if statement.names[0] else reached.session.who
    if who != reached.session.who:
        _manages_users(reached)
    if not users.exists(reached.world.kept, who):
        if statement.is_lenient:
            return Told(reached.world.kept)
        if statement.text.lstrip()[:3].lower() == "set":
            raise Problem(1133, "Can't find any matching row in the user table")
        raise Problem(1396, f"Operation ALTER USER failed for {who.shown}")
    return Told(users.with_account(reached.world.kept, who, statement.value))


def drop_user(statement: Statement, reached: Reached) -> Told:
    """Remove an account."""
    _manages_users(reached)
    who = _account(statement.names[0])
    if not users.exists(reached.world.kept, who):
        if statement.is_lenient:
            return Told(reached.world.kept)
        raise Problem(1396, f"Operation DROP USER failed for {who.shown}")
    return Told(users.without_account(reached.world.kept, who))


def _granting(statement: Statement, reached: Reached) -> str:
    database = statement.database or reached.session.database
    if not database:
        raise Problem(1046, "No database selected")
    if not users.is_super(reached.world.kept, reached.session.who):
        who = reached.session.who
        raise (
            users.no_database(who, database)
            if database != users.EVERYWHERE
            else users.denied(who.name, who.host, "YES")
        )
    return database


def grant(statement: Statement, reached: Reached) -> Told:
    """Give an account rights."""
    database = _granting(statement, reached)
    who, kept = _account(statement.names[0]), reached.world.kept
    if not users.exists(kept, who) and not statement.is_lenient:
        raise Problem(1133, "Can't find any matching row in the user table")
    if statement.is_lenient:
        kept = users.with_account(kept, who, statement.value)
    return Told(users.with_grant(kept, who, database, statement.names[1:]))


def revoke(statement: Statement, reached: Reached) -> Told:
    """Take rights from an account."""
    database = _granting(statement, reached)
    who, kept = _account(statement.names[0]), reached.world.kept
    if not users.rights_of(kept, who, database):
        raise Problem(1141, f"There is no such grant defined for user '{who.name}' on host '{who.host}'")
    return Told(users.without_grant(kept, who, database, statement.names[1:]))


def flush(_statement: Statement, reached: Reached) -> Told:
    """Do nothing that shows: accounts are read at each login."""
    if not users.may(reached.world.kept, reached.session.who, users.EVERYWHERE, "RELOAD"):
        raise users.needs("RELOAD")
    return Told()


def nothing(_statement: Statement, _reached: Reached) -> Told:
    """Do nothing."""
    return Told()


def shutdown(_statement: Statement, reached: Reached) -> Told:
    """See whether a session may end the server."""
    if not users.may(reached.world.kept, reached.session.who, users.EVERYWHERE, "SHUTDOWN"):
        raise users.needs("SHUTDOWN")
    return Told()


def do(statement: Statement, reached: Reached) -> Told:
    """Do what an expression does, and forget its value."""
    scope = reached.scope()
    check(statement.items[0][0], scope, "SELECT")
    evaluated(statement.items[0][0], scope)
    return Told()


def shown(statement: Statement, reached: Reached) -> Shown:
    """Return what a SHOW statement brings.

    Raises:
        Problem: it is wrong, or not simulated.
    """
    session, world = reached.session, reached.world
    what = statement.verb.removeprefix("show ")
    pattern = statement.names[0] if statement.names else ""
    if what in ("databases", "schemas"):
        return views.databases(session, world, pattern)
    if what == "tables":
        return views.tables_in(session, world, statement.database, pattern, is_full=statement.value == "full")
    if what in ("variables", "status"):
        found = views.named_values(session, world, what, pattern, is_global=statement.value == "global")
        return _narrowed(statement, found, reached)
    if what == "processlist":
        return views.processes(session, world, is_full=statement.value == "full")
    if what == "grants":
        return views.grants(session, world, pattern)
    if what in ("warnings", "errors"):
        return ("Level", "Code", "Message"), []
    if what in ("describe", "create table"):
        database, name = place_of(statement, reached, "SELECT")
        table = tables.table_of(world.kept, database, name)
        if table is None:
            raise Problem(1146, f"Table '{database}.{name}' doesn't exist")
        return views.described(table, pattern) if what == "describe" else views.created(table)
    if what == "create database":
        name = statement.table
        if not users.may(world.kept, session.who, name, ""):
            raise users.no_database(session.who, name)
        if not tables.has_database(world.kept, name):
            raise Problem(1049, f"Unknown database '{name}'")
        made = (
            f"CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */"
        )
        return ("Database", "Create Database"), [(name, made)]
    raise unsupported(statement.verb.upper())


def _narrowed(statement: Statement, found: Shown, reached: Reached) -> Shown:
    """Return the rows of which a condition holds."""
    if statement.where is None:
        return found
    names, rows = found
    lower = [name.lower() for name in names]
    check(statement.where, reached.scope(dict.fromkeys(lower)), "WHERE")
    kept = [row for row in rows if truth(evaluated(statement.where, reached.scope(dict(zip(lower, row)))))]
    return names, kept


def used(session: Session, world: World, database: str) -> Session:
    """Return a session with another default database.

    Raises:
        Problem: there is none, or it is not for this session.
    """
    if not users.may(world.kept, session.who, database, ""):
        raise users.no_database(session.who, database)
    if not tables.has_database(world.kept, database):
        raise Problem(1049, f"Unknown database '{database}'")
    return session._replace(database=database)
