"""What a Postgres server answers to statements that are about itself, and which it refuses where only reading is allowed.

Source: postgres 15 src/backend/tcop/utility.c (PreventCommandIfReadOnly), guc.c; tests/golden/programs/postgres (postgres.ok.fast,
postgres.readonly.tx).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs._postgres_names import NAMES
from env_core.programs._postgres_wire import COLUMNS

_DEFAULTS: Final = {
    "max_connections": "100", "superuser_reserved_connections": "3", "shared_buffers": "128MB", "work_mem": "4MB", "port": "5432",
    "wal_level": "replica", "max_wal_size": "1GB", "statement_timeout": "0", "default_transaction_read_only": "off",
    "listen_addresses": "*", "data_directory": "/var/lib/postgresql/data", "transaction_read_only": "off", "timezone": "Etc/UTC",
}  # fmt: skip
_NUMBER: Final = re.compile(r"select\s+(-?\d+)", re.IGNORECASE)
_TEXT: Final = re.compile(r"select\s+'((?:[^']|'')*)'", re.IGNORECASE)
_SLEEP: Final = re.compile(r"select\s+pg_sleep\((\d+(?:\.\d+)?)\)", re.IGNORECASE)
_SHOW: Final = re.compile(r"show\s+([a-z_.]+)", re.IGNORECASE)
_FUNCTION: Final = re.compile(
    r"select\s+(version|pg_is_in_recovery|current_user|current_database)(?:\(\))?", re.IGNORECASE
)
_WRITING: Final = {
    "insert": "INSERT", "update": "UPDATE", "delete": "DELETE", "truncate": "TRUNCATE TABLE", "create": "CREATE", "drop": "DROP",
    "alter": "ALTER",
}  # fmt: skip


class Result(NamedTuple):
    """An answer: rows under named columns, or an error."""

    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    error: str = ""
    took_ms: int = 0
    is_text: bool = False
    """Whether the values are texts, whatever they look like."""


def headers(
    names: tuple[str, ...], rows: tuple[tuple[str, ...], ...], *, is_text: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return rows as the pseudo header that clients of the shell print a table of."""
    return ((COLUMNS, columns(names, rows, is_text=is_text)),)


def columns(names: tuple[str, ...], rows: tuple[tuple[str, ...], ...], *, is_text: bool = False) -> str:
    """Return what clients print a table of, by the look of its values."""
    kinds = [
        "number"
        if rows and not is_text and all(re.fullmatch(r"-?\d+(?:\.\d+)?", row[at]) for row in rows)
        else "text"
        for at in range(len(names))
    ]
    return json.dumps([names, rows, kinds])


def tag_of(statement: str) -> str:
    """Return what a good statement is answered with that is about no table of the server's."""
    words = statement.split(None, 2) or [""]
    verb = words[0].upper().rstrip(";")
    if verb == "INSERT":
        return "INSERT 0 1"
    if verb in ("UPDATE", "DELETE"):
        return f"{verb} 1"
    if verb in ("CREATE", "DROP", "ALTER") and len(words) > 1:
        return f"{verb} {words[1].upper()}"
    return verb


def read_only_problem(statement: str) -> str:
    """Return what is said of a statement that writes where only reading is allowed; "" of others."""
    words = statement.split(None, 2)
    verb = _WRITING.get(words[0].lower(), "") if words else ""
    if not verb:
        return ""
    if verb in ("CREATE", "DROP", "ALTER") and len(words) > 1:
        verb = f"{verb} {words[1].upper()}"
    return f"ERROR:  cannot execute {verb} in a read-only transaction"


@lru_cache(maxsize=1024)
def _is_own(text: str) -> bool:
    return any(each.fullmatch(text) for each in (_NUMBER, _TEXT, _SLEEP, _SHOW, _FUNCTION))


def answer(
    statement: str, settings: Mapping[str, str], version: str, user: str, database: str
) -> Result | None:
    """Return the answer to a statement about the server, None for statements about data."""
    text = statement.strip().rstrip(";").strip()
    if not _is_own(text):
        return None
    number = _NUMBER.fullmatch(text)
    if number is not None:
        return Result(("?column?",), ((number[1],),))
    literal = _TEXT.fullmatch(text)
    if literal is not None:
        return Result(("?column?",), ((literal[1].replace("''", "'"),),))
    slept = _SLEEP.fullmatch(text)
    if slept is not None:
        return Result(("pg_sleep",), (("",),), took_ms=int(float(slept[1]) * 1000))
    shown = _SHOW.fullmatch(text)
    if shown is not None:
        name = shown[1].lower()
        if name not in NAMES and name not in _DEFAULTS and name not in settings:
            return Result(error=f'ERROR:  unrecognized configuration parameter "{shown[1]}"')
        return Result((name,), ((settings.get(name, _DEFAULTS.get(name, "")),),), is_text=True)
    called = _FUNCTION.fullmatch(text)
    if called is not None:
        name = called[1].lower()
        value = {
            "version": f"PostgreSQL {version}", "pg_is_in_recovery": "f", "current_user": user, "current_database": database,
        }[name]  # fmt: skip
        return Result((name,), ((value,),))
    return None
