"""Who is connected to a Postgres server, since when, with which statement, and which locks each one holds.

A session is kept in the memory of the server's process from its first statement to the client's farewell.
Source: https://www.postgresql.org/docs/15/monitoring-stats.html (pg_stat_activity), explicit-locking.html.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs import _postgres_roles, _postgres_tables
from env_core.programs._postgres_settings import whole
from env_core.programs._postgres_tables import Stored
from env_core.programs._postgres_types import Typed

POOL: Final = "pool "
_KEY: Final = "session "
_ROW: Final = "row "
_LAST_PID: Final = "last pid"
_LAST_XID: Final = "last xid"
_FIRST_PID: Final = 41
_FIRST_XID: Final = 730
FIRST_POOLED: Final = 90_000
"""The processes of pools, whose clients connect anew when one ends, are numbered from here."""
IDLE: Final = "idle"
ACTIVE: Final = "active"
IN_TRANSACTION: Final = "idle in transaction"
ABORTED: Final = "idle in transaction (aborted)"
CANCELED: Final = "cancel"
TERMINATED: Final = "terminate"
GONE: Final = "gone"
"""The server has ended it, and logged that."""


class Session(NamedTuple):
    """One connection."""

    pid: int
    user: str
    database: str
    address: str
    started_ms: int
    query: str = ""
    state: str = IDLE
    since_ms: int = 0
    """When its state, or its present statement, began."""
    asked_ms: int = 0
    """When its query came."""
    place: int = 0
    """Which statement of its query comes next."""
    is_in_block: bool = False
    """Whether a BEGIN holds its transaction open."""
    is_failed: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    results: tuple[tuple[str, str], ...] = ()
    """What its query's statements have brought so far: the tag, and the columns as the client gets them."""
    xid: int = 0
    rows: tuple[tuple[str, int], ...] = ()
    """Rows that it has changed and holds, by table and place."""
    tables: tuple[str, ...] = ()
    """Tables that it has locked against all others."""
    undo: tuple[tuple[str, str | None], ...] = ()
    """What its changes found, newest last: for a rollback."""
    waits_for: int = 0
    """The process that holds what it waits for."""
    waits_told: tuple[str, ...] = ()
    """For what it waits, and while doing what, when the log says so."""
    order: str = ""
    """What another session has asked of it: to cancel, or to end."""

    def setting(self, name: str, settings: Mapping[str, str], default: str) -> str:
        """Return a setting as the session has it."""
        return dict(self.settings).get(name) or settings.get(name, default)


def sessions_of(memory: Mapping[str, str]) -> list[Session]:
    """Return all sessions by the time of their start."""
    return [_read(text) for key, text in memory.items() if key.startswith(_KEY)]


def session_of(memory: Mapping[str, str], number: str) -> Session | None:
    """Return one session, None when it is over."""
    text = memory.get(_KEY + number)
    return None if text is None else _read(text)


@lru_cache(maxsize=256)
def _read(text: str) -> Session:
    values = json.loads(text)
    found = Session(*values)
    return found._replace(
        settings=tuple((name, value) for name, value in found.settings),
        results=tuple((tag, columns) for tag, columns in found.results),
        rows=tuple((table, place) for table, place in found.rows),
        tables=tuple(found.tables),
        undo=tuple((key, text) for key, text in found.undo),
        waits_told=tuple(found.waits_told),
    )


def with_session(memory: Mapping[str, str], session: Session) -> dict[str, str]:
    """Return a server's memory with a session as it is now."""
    return {**memory, f"{_KEY}{session.pid}": json.dumps(session)}


def without_session(memory: Mapping[str, str], session: Session) -> dict[str, str]:
    """Return a server's memory after a session."""
    return {key: text for key, text in memory.items() if key != f"{_KEY}{session.pid}"}


def next_pid(memory: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Return a server's memory after it has started a process, and the process's number."""
    pid = int(memory.get(_LAST_PID, _FIRST_PID - 1)) + 1
    return {**memory, _LAST_PID: str(pid)}, pid


def with_transaction(memory: Mapping[str, str], session: Session) -> tuple[dict[str, str], Session]:
    """Return a session that has a number for its transaction, which it gets with its first change."""
    if session.xid:
        return dict(memory), session
    xid = int(memory.get(_LAST_XID, _FIRST_XID)) + 1
    return {**memory, _LAST_XID: str(xid)}, session._replace(xid=xid)


def changes(before: Stored, after: Stored) -> tuple[tuple[str, str | None], ...]:
    """Return what a change found where it wrote: rows of tables by their places, and else whole entries."""
    found: list[tuple[str, str | None]] = []
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) == after.get(key):
            continue
        name = key.removeprefix("table ")
        old, new = _postgres_tables.table_of(before, name), _postgres_tables.table_of(after, name)
        if old is None or new is None or old.made != new.made or old.declared != new.declared:
            found.append((key, before.get(key)))
            continue
        was, is_now = dict(old.rows), dict(new.rows)
        found += [
            (f"{_ROW}{place} {name}", json.dumps(was[place]) if place in was else None)
            for place in sorted({*was, *is_now})
            if was.get(place) != is_now.get(place)
        ]
    return tuple(found)


def undone(kept: Stored, session: Session) -> Stored:
    """Return a data directory without what a session's transaction has changed; numbers of sequences stay given."""
    found = dict(kept)
    for key, text in reversed(session.undo):
        if key.startswith(_ROW):
            place, _, name = key.removeprefix(_ROW).partition(" ")
            found.update(_with_row(found, name, int(place), text))
        elif text is None:
            found.pop(key, None)
        else:
            found[key] = text
    return found


def _with_row(kept: Stored, name: str, place: int, text: str | None) -> Stored:
    table = _postgres_tables.table_of(kept, name)
    if table is None:
        return kept
    rows = [row for row in table.rows if row.place != place]
    if text is not None:
        rows.append(_postgres_tables.Row(place, tuple(json.loads(text))))
    return _postgres_tables.with_table(
        kept, table._replace(rows=tuple(sorted(rows, key=lambda row: row.place)))
    )


def visible(kept: Stored, memory: Mapping[str, str], session: Session) -> Stored:
    """Return a data directory as a session reads it: without what others have not committed."""
    for each in sessions_of(memory):
        if each.undo and each.pid != session.pid:
            kept = undone(kept, each)
    return kept


def ended(session: Session) -> Session:
    """Return a session after its transaction."""
    return session._replace(is_in_block=False, is_failed=False, xid=0, rows=(), tables=(), undo=())


def crowd(
    memory: Mapping[str, str],
    settings: Mapping[str, str],
    kept: Stored,
    user: str,
    more: int,
    *,
    is_superuser: bool,
) -> str:
    """Return why there is no room for more connections of a user, "" when there is.

    Source: postgres 15 src/backend/utils/init/postinit.c; tests/golden/programs/postgres (postgres.toomany*).
    """
    sessions = [key for key in memory if key.startswith(_KEY)]
    pooled = sum(int(value) for name, value in memory.items() if name.startswith(POOL))
    wanted = len(sessions) + pooled + more
    limit = whole(settings, "max_connections", 100)
    if wanted > limit:
        return "sorry, too many clients already"
    if not is_superuser and wanted > limit - whole(settings, "superuser_reserved_connections", 3):
        return "remaining connection slots are reserved for non-replication superuser connections"
    allowed = int(kept.get(f"{_postgres_roles.LIMIT}{user}", -1))
    if (
        allowed >= 0
        and not is_superuser
        and sum(each.user == user for each in sessions_of(memory)) >= allowed
    ):
        return f'too many connections for role "{user}"'
    return ""


_COLUMNS: Final = (
    "datname", "pid", "usename", "application_name", "client_addr", "state", "wait_event_type", "wait_event", "backend_xid", "query",
)  # fmt: skip


def activity(
    memory: Mapping[str, str], database: str
) -> tuple[tuple[str, ...], tuple[tuple[Typed, ...], ...]]:
    """Return pg_stat_activity: the sessions, and the connections of the services' pools."""
    rows = []
    for each in sessions_of(memory):
        waits = ("Lock", "transactionid") if each.waits_for else (None, None)
        if each.state != ACTIVE:
            waits = ("Client", "ClientRead")
        rows.append((
            each.database, each.pid, each.user, "psql", each.address or None, each.state, *waits, each.xid or None, each.query,
        ))  # fmt: skip
    for key, size in memory.items():
        if key.startswith(POOL):
            address = key.removeprefix(POOL)
            first = FIRST_POOLED + len(rows)
            rows += [
                (database, number, None, "", address, IDLE, "Client", "ClientRead", None, "SELECT 1")
                for number in range(first, first + int(size))
            ]
    return _COLUMNS, tuple(
        tuple(Typed(value, "integer" if isinstance(value, int) else "text") for value in row) for row in rows
    )


def holder_of(memory: Mapping[str, str], session: Session, table: str, place: int | None) -> Session | None:
    """Return another session that holds a row of a table, or (without a place) all of the table."""
    for each in sessions_of(memory):
        if each.pid == session.pid:
            continue
        if place is None and table in each.tables:
            return each
        if place is not None and (table, place) in each.rows:
            return each
    return None


def writer_of(memory: Mapping[str, str], session: Session, table: str) -> Session | None:
    """Return another session whose open transaction has changed a table."""
    for each in sessions_of(memory):
        if each.pid != session.pid and any(name == table for name, _ in each.rows):
            return each
    return None


def is_circle(memory: Mapping[str, str], session: Session) -> bool:
    """Whether those for whom a session waits wait, one for the other, for itself."""
    waiting = {each.pid: each.waits_for for each in sessions_of(memory)}
    seen, pid = {session.pid}, session.waits_for
    while pid and pid not in seen:
        seen.add(pid)
        pid = waiting.get(pid, 0)
    return pid == session.pid
