"""Roles of a Postgres server: statements that make, change and drop them.

Not recorded. Source: https://www.postgresql.org/docs/15/sql-createrole.html, sql-alterrole.html, sql-droprole.html; the texts of
postgres 15 src/backend/commands/user.c. Memberships, and what a role may do beside owning tables, are not simulated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from env_core.programs._postgres_errors import Problem
from env_core.programs._postgres_reader import Reader
from env_core.programs._postgres_syntax import Statement

LIMIT: Final = "connection limit "
NO_LOGIN: Final = "no login "
_FLAGS: Final = ("superuser", "createdb", "createrole", "inherit", "replication", "bypassrls")


def role(name: str) -> str:
    """Return the key under which a role's password is kept."""
    return f"role {name}"


def create(reader: Reader) -> Statement | None:
    """Read what follows CREATE when it makes a role."""
    is_user = reader.take("user")
    if not is_user and not reader.take("role"):
        return None
    name = reader.name()
    options = {"login": "yes" if is_user else "no", **_options(reader)}
    return Statement("create role", "", names=(name,), options=tuple(options.items()))


def alter(reader: Reader) -> Statement | None:
    """Read what follows ALTER when it changes a role."""
    if not (reader.take("role") or reader.take("user")):
        return None
    name = reader.name()
    return Statement("alter role", "", names=(name,), options=tuple(_options(reader).items()))


def drop(reader: Reader) -> Statement | None:
    """Read what follows DROP when it drops a role."""
    if not (reader.take("role") or reader.take("user")):
        return None
    is_lenient = reader.take("if", "exists")
    return Statement("drop role", "", names=(reader.name(),), is_lenient=is_lenient)


def _options(reader: Reader) -> dict[str, str]:
    found: dict[str, str] = {}
    reader.take("with")
    while reader.peek() is not None and not reader.is_next(";"):
        if reader.take("login"):
            found["login"] = "yes"
        elif reader.take("nologin"):
            found["login"] = "no"
        elif reader.take("connection", "limit"):
            sign = "-" if reader.take("-") else ""
            found["limit"] = f"{sign}{reader.whole()}"
        elif reader.take("valid", "until"):
            reader.literal()
        elif reader.is_next("encrypted", "password") or reader.is_next("password"):
            reader.take("encrypted")
            reader.need("password")
            found["password"] = "" if reader.take("null") else reader.literal()
        elif not any(reader.take(word) or reader.take(f"no{word}") for word in _FLAGS):
            raise reader.refused()
    return found


def execute(
    statement: Statement,
    kept: Mapping[str, str],
    user: str,
    owners: Iterable[tuple[str, str]],
    *,
    is_superuser: bool,
) -> tuple[str, Mapping[str, str]]:
    """Return the tag of a statement about a role, and the data directory after it; `owners` are those of the tables.

    Raises:
        Problem: it fails.
    """
    name, options = statement.names[0].text, dict(statement.options)
    is_known = role(name) in kept
    if statement.verb == "create role":
        if not is_superuser:
            raise Problem("permission denied to create role")
        if is_known:
            raise Problem(f'role "{name}" already exists')
        return "CREATE ROLE", _with(kept, name, {"password": "", **options})
    if not is_known:
        if statement.is_lenient:
            return "DROP ROLE", kept
        raise Problem(f'role "{name}" does not exist')
    if statement.verb == "drop role":
        return "DROP ROLE", _without(kept, name, user, owners, is_superuser=is_superuser)
    if not (is_superuser or (name == user and set(options) == {"password"})):
        raise Problem("permission denied")
    return "ALTER ROLE", _with(kept, name, options)


def _with(kept: Mapping[str, str], name: str, options: Mapping[str, str]) -> Mapping[str, str]:
    found = dict(kept)
    if "password" in options:
        found[role(name)] = options["password"]
    if "limit" in options:
        if int(options["limit"]) < -1:
            raise Problem(f"invalid connection limit: {options['limit']}")
        found[f"{LIMIT}{name}"] = options["limit"]
    if options.get("login") == "no":
        found[f"{NO_LOGIN}{name}"] = ""
    elif "login" in options:
        found.pop(f"{NO_LOGIN}{name}", None)
    return found


def _without(
    kept: Mapping[str, str], name: str, user: str, owners: Iterable[tuple[str, str]], *, is_superuser: bool
) -> Mapping[str, str]:
    if not is_superuser:
        raise Problem("permission denied to drop role")
    if name == user:
        raise Problem("current user cannot be dropped")
    owned = [f"owner of table {table}" for table, owner in owners if owner == name]
    owned += [
        f"owner of database {key.removeprefix('database ')}"
        for key, text in sorted(kept.items())
        if key.startswith("database ") and text == name
    ]
    if owned:
        text = f'role "{name}" cannot be dropped because some objects depend on it'
        raise Problem(text, detail="\n".join(owned))
    gone = (role(name), f"{LIMIT}{name}", f"{NO_LOGIN}{name}")
    return {key: text for key, text in kept.items() if key not in gone}
