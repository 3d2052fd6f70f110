"""Reads statements about accounts: who there is, with which password, and what each may do.

Source: https://mariadb.com/kb/en/create-user/, alter-user/, set-password/, grant/.
"""

from __future__ import annotations

from typing import Final

from env_core.programs._mariadb_errors import Problem, unsupported
from env_core.programs._mariadb_reader import Reader
from env_core.programs._mariadb_syntax import Statement

_NAME_MAX: Final = 128
_HOST_MAX: Final = 255
_RIGHTS: Final = (
    "select", "insert", "update", "delete", "create", "drop", "reload", "shutdown", "process", "file", "references", "index", "alter",
    "super", "execute", "trigger", "event", "usage",
)  # fmt: skip
_LONG_RIGHTS: Final = (
    ("show", "databases"), ("lock", "tables"), ("create", "view"), ("show", "view"), ("create", "user"), ("create", "routine"),
    ("alter", "routine"), ("create", "temporary", "tables"), ("replication", "slave"), ("replication", "client"), ("connection", "admin"),
    ("read_only", "admin"), ("binlog", "monitor"),
)  # fmt: skip


def account(reader: Reader) -> str:
    """Read the name of an account, as keys have it: name@host."""
    name = reader.word()
    host = "%"
    token = reader.peek()
    if token is not None and token.kind == "variable" and not token.text.startswith("@@"):
        reader.place += 1
        host = token.text[1:] or reader.word()
    if len(name) > _NAME_MAX or len(host) > _HOST_MAX or "@" in host or " " in host:
        raise Problem(
            1470,
            f"String '{(name if len(name) > _NAME_MAX else host)[:70]}' is too long for user name (should be no longer than 128)",
        )
    return f"{name}@{host.lower()}"


def _password(reader: Reader) -> str | None:
    """Read how an account proves who it is; None where nothing is said of it."""
    if not reader.take("identified"):
        return None
    if reader.take("via") or reader.take("with"):
        plugin = reader.word().lower()
        if plugin not in ("mysql_native_password", "caching_sha2_password"):
            raise unsupported(f"IDENTIFIED VIA {plugin}")
        if not (reader.take("by") or reader.take("using") or reader.take("as")):
            return ""
    else:
        reader.need("by")
    if reader.take("password"):
        if not reader.take("("):
            raise unsupported("IDENTIFIED BY PASSWORD")
        text = reader.literal()
        reader.need(")")
        return text
    return reader.literal()


def create_user(reader: Reader) -> Statement:
    """Read CREATE USER."""
    is_lenient = reader.take("if", "not", "exists")
    name = account(reader)
    return Statement("create user", names=(name,), value=_password(reader) or "", is_lenient=is_lenient)


def alter_user(reader: Reader, *, is_password: bool) -> Statement:
    """Read ALTER USER, or SET PASSWORD."""
    if not is_password:
        if not reader.take("user"):
            raise unsupported("ALTER OTHER THAN USER")
        is_lenient = reader.take("if", "exists")
        if reader.take("current_user"):
            if reader.take("("):
                reader.need(")")
            name = ""
        else:
            name = account(reader)
        password = _password(reader)
        if password is None:
            raise unsupported("ALTER USER OTHER THAN IDENTIFIED")
        return Statement("alter user", names=(name,), value=password, is_lenient=is_lenient)
    name = account(reader) if reader.take("for") else ""
    reader.need("=")
    if not reader.take("password"):
        raise unsupported("SET PASSWORD WITH A HASH")
    reader.need("(")
    text = reader.literal()
    reader.need(")")
    return Statement("alter user", names=(name,), value=text)


def drop_user(reader: Reader) -> Statement:
    """Read DROP USER."""
    is_lenient = reader.take("if", "exists")
    return Statement("drop user", names=(account(reader),), is_lenient=is_lenient)


def _rights(reader: Reader) -> tuple[str, ...]:
    if reader.take("all"):
        reader.take("privileges")
        return ("ALL",)
    found: list[str] = []
    while True:
        words: tuple[str, ...] = next((each for each in _LONG_RIGHTS if reader.is_next(*each)), ())
        if not words:
            token = reader.peek()
            if token is None or token.text not in _RIGHTS:
                raise reader.refused()
            words = (token.text,)
        reader.place += len(words)
        if reader.is_next("("):
            raise unsupported("PRIVILEGES ON COLUMNS")
        if words != ("usage",):
            found.append(" ".join(words).upper())
        if not reader.take(","):
            return tuple(found)


def _database(reader: Reader) -> str:
    reader.need("on")
    reader.take("table")
    if reader.take("*"):
        if reader.take("."):
            reader.need("*")
            return "*"
        return ""
    name = reader.name().replace("\\_", "_")
    reader.need(".")
    if not reader.take("*"):
        raise unsupported("PRIVILEGES ON TABLES")
    return name


def grant(reader: Reader) -> Statement:
    """Read GRANT."""
    rights, database = _rights(reader), _database(reader)
    reader.need("to")
    name = account(reader)
    password = _password(reader)
    if reader.take("with"):
        reader.need("grant", "option")
    return Statement(
        "grant",
        database=database,
        names=(name, *rights),
        value=password or "",
        is_lenient=password is not None,
    )


def revoke(reader: Reader) -> Statement:
    """Read REVOKE."""
    rights, database = _rights(reader), _database(reader)
    reader.need("from")
    return Statement("revoke", database=database, names=(account(reader), *rights))
