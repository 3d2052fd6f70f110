"""Who is connected to a MariaDB server, since when, with which statement, and which rows each one holds.

A session is kept in the memory of the server's process from its login to the client's farewell.
Source: https://mariadb.com/kb/en/show-processlist/, innodb-lock-modes/.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from env_core.programs import _mariadb_tables
from env_core.programs._mariadb_config import Read
from env_core.programs._mariadb_tables import Stored
from env_core.programs._mariadb_users import Account

_KEY: Final = "session "
_ROW: Final = "row "
_LAST: Final = "last connection"
GLOBAL: Final = "global "
"""Before the names of variables that were set for all, in a server's memory."""
QUESTIONS: Final = "questions"
ABORTED: Final = "aborted connects"
_FIRST: Final = 3
"""The number of a server's first connection: threads of its own come before."""
SLEEPING: Final = "Sleep"
RUNNING: Final = "Query"
KILL_QUERY: Final = "query"
KILL: Final = "connection"
DEADLOCK: Final = "deadlock"


class Session(NamedTuple):
    """One connection."""

    number: int
    user: str
    account: str
    """The key of its account."""
    host: str
    port: int
    """0 for the Unix socket."""
    database: str
    started_ms: int
    statement: str = ""
    state: str = SLEEPING
    since_ms: int = 0
    """When its statement began, or its sleep."""
    is_in_block: bool = False
    is_manual: bool = False
    """Whether autocommit is off."""
    settings: tuple[tuple[str, str], ...] = ()
    variables: tuple[tuple[str, object], ...] = ()
    """Variables of its user's own (@name)."""
    rows: tuple[tuple[str, int], ...] = ()
    """Rows that it has changed and holds, by table and place."""
    undo: tuple[tuple[str, str | None], ...] = ()
    """What its changes found, newest last: for a rollback."""
    waits_for: int = 0
    """The session that holds the row for which its statement waits."""
    waits_row: tuple[str, int] = ("", 0)
    order: str = ""
    """What was asked of it from outside: to end its statement, or itself."""
    last_id: int = 0
    """What AUTO_INCREMENT gave it last."""

    @property
    def who(self) -> Account:
        """Its account."""
        return Account(*self.account.rsplit("@", 1))

    @property
    def place(self) -> str:
        """Its client's place as SHOW PROCESSLIST has it."""
        return f"{self.host}:{self.port}" if self.port else self.host

    def setting(self, name: str, options: Read, memory: Mapping[str, str]) -> str:
        """Return a variable as the session has it."""
        found = dict(self.settings).get(name)
        return memory.get(GLOBAL + name) or options.get(name) if found is None else found


def sessions_of(memory: Mapping[str, str]) -> list[Session]:
    """Return all sessions by the time of their start."""
    return [_read(text) for key, text in memory.items() if key.startswith(_KEY)]


def count(memory: Mapping[str, str]) -> int:
    """Return how many sessions there are."""
    return sum(key.startswith(_KEY) for key in memory)


def session_of(memory: Mapping[str, str], number: str) -> Session | None:
    """Return one session, None when it is over."""
    text = memory.get(_KEY + number)
    return None if text is None else _read(text)


@lru_cache(maxsize=256)
def _read(text: str) -> Session:
    found = Session(*json.loads(text))
    return found._replace(
        settings=tuple((name, value) for name, value in found.settings),
        variables=tuple((name, value) for name, value in found.variables),
        rows=tuple((table, place) for table, place in found.rows),
        waits_row=(found.waits_row[0], found.waits_row[1]),
        undo=tuple((key, text) for key, text in found.undo),
    )


def with_session(memory: Mapping[str, str], session: Session) -> dict[str, str]:
    """Return a server's memory with a session as it is now."""
    return {**memory, f"{_KEY}{session.number}": json.dumps(session)}


def without_session(memory: Mapping[str, str], session: Session) -> dict[str, str]:
    """Return a server's memory after a session."""
    return {key: text for key, text in memory.items() if key != f"{_KEY}{session.number}"}


def without_all(memory: Mapping[str, str]) -> dict[str, str]:
    """Return a server's memory after all sessions."""
    return {key: text for key, text in memory.items() if not key.startswith(_KEY)}


def next_number(memory: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Return a server's memory after another connection, and its number."""
    number = connections(memory) + 1
    return {**memory, _LAST: str(number)}, number


def connections(memory: Mapping[str, str]) -> int:
    """Return the number of the last connection."""
    return int(memory.get(_LAST, _FIRST - 1))


def counted(memory: Mapping[str, str], name: str) -> dict[str, str]:
    """Return a server's memory with one more of something that it counts."""
    return {**memory, name: str(int(memory.get(name, "0")) + 1)}


def changes(before: Stored, after: Stored) -> tuple[tuple[str, str | None], ...]:
    """Return what a change found where it wrote: rows of tables by their places, and else whole entries."""
    found: list[tuple[str, str | None]] = []
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) == after.get(key):
            continue
        old, new = _mariadb_tables.table_at(before, key), _mariadb_tables.table_at(after, key)
        if old is None or new is None or old.declared != new.declared:
            found.append((key, before.get(key)))
            continue
        was, is_now = {row.place: row for row in old.rows}, {row.place: row for row in new.rows}
        found += [
            (f"{_ROW}{place} {key}", _mariadb_tables.row_text(was[place]) if place in was else None)
            for place in sorted({*was, *is_now})
            if was.get(place) != is_now.get(place)
        ]
    return tuple(found)


def undone(kept: Stored, session: Session) -> Stored:
    """Return a data directory without what a session's transaction has changed; numbers once given stay given."""
    found = dict(kept)
    by_table: dict[str, dict[int, str | None]] = {}
    for key, text in reversed(session.undo):
        if key.startswith(_ROW):
            place, _, table = key.removeprefix(_ROW).partition(" ")
            by_table.setdefault(table, {})[int(place)] = text
        elif text is None:
            found.pop(key, None)
        else:
            found[key] = text
    for key, texts in by_table.items():
        table_ = _mariadb_tables.table_at(found, key)
        if table_ is None:
            continue
        rows = [row for row in table_.rows if row.place not in texts]
        rows += [_mariadb_tables.row_of(text) for text in texts.values() if text is not None]
        # What was there before has room.
        before = table_._replace(rows=tuple(sorted(rows, key=lambda row: row.place)))
        found[key] = _mariadb_tables.table_text(before)
    return found


def visible(kept: Stored, memory: Mapping[str, str], session: Session) -> Stored:
    """Return a data directory as a session reads it: without what others have not committed."""
    for each in sessions_of(memory):
        if each.undo and each.number != session.number:
            kept = undone(kept, each)
    return kept


def ended(session: Session) -> Session:
    """Return a session after its transaction."""
    return session._replace(is_in_block=False, rows=(), undo=())


def held_by_others(memory: Mapping[str, str], session: Session) -> dict[tuple[str, int], Session]:
    """Return the rows that other sessions hold, by table and place."""
    return {row: each for each in sessions_of(memory) if each.number != session.number for row in each.rows}


def circle(memory: Mapping[str, str], session: Session) -> list[Session]:
    """Return the sessions that wait for each other and for this one, which comes first; [] when there is no circle."""
    waiting = {each.number: each for each in sessions_of(memory)}
    found, number = [session], session.waits_for
    while number and number != session.number and len(found) <= len(waiting):
        each = waiting.get(number)
        if each is None or each.state != RUNNING:
            return []
        found.append(each)
        number = each.waits_for
    return found if number == session.number and len(found) > 1 else []
