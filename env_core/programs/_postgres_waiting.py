"""What keeps a statement from its end: sleeps, and locks that other sessions hold; and how a wait is given up.

Source: postgres 15 src/backend/storage/lmgr/proc.c, deadlock.c; tests/golden/programs/postgres (postgres.timeouts,
postgres.deadlock, postgres.lockwait).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from env_core.programs import _postgres_sessions, _postgres_tables
from env_core.programs._postgres_bounds import Meter
from env_core.programs._postgres_config import ON, duration_ms
from env_core.programs._postgres_errors import Fields, Problem
from env_core.programs._postgres_sessions import (
    ACTIVE,
    CANCELED,
    TERMINATED,
    Session,
)
from env_core.programs._postgres_syntax import Statement
from env_core.programs._postgres_tables import Row, Stored, Table
from env_core.programs._postgres_types import Typed, converted, shown
from env_core.programs._postgres_values import Function, Scope

POLL_MS: Final = 50
"""After how long a client asks again, at the soonest, whose statement waits for another session."""
_POLLS: Final = 40
"""The longer it waits, the less often it asks: after a fortieth of the time so far."""
_SLEEP_MAX_S: Final = 1e9


class World(NamedTuple):
    """What a session runs in."""

    settings: Mapping[str, str]
    version: str
    kept: Stored
    memory: dict[str, str]
    now_ms: int
    is_superuser: bool
    is_standby: bool = False
    """Whether the server takes no changes at all."""


class Turn(NamedTuple):
    """What became of a session's query."""

    session: Session
    world: World
    pending_ms: int | None = None
    """After how long the client shall ask again; None when the query is over."""
    problem: Fields | None = None
    log: tuple[str, ...] = ()
    wal_bytes: int = 0
    work: int = 0
    """What it cost the simulator, in units of about a microsecond."""


class Waiting(Exception):
    """A statement cannot go on yet."""

    def __init__(
        self, pending_ms: int, holder: Session | None = None, what: str = "", context: str = "", at: int = 0
    ) -> None:
        super().__init__(what)
        self.pending_ms = pending_ms
        self.holder = holder
        self.what = what
        self.context = context
        self.at = at


class Ended(Exception):
    """A statement has ended its own session."""


def limit_of(session: Session, world: World, name: str, default: str = "0") -> int:
    return duration_ms(session.setting(name, world.settings, default))


class Reached:
    """What a statement's functions and rows have asked for."""

    def __init__(self, session: Session, world: World) -> None:
        self.session = session
        self.world = world
        self.memory = _postgres_sessions.with_session(world.memory, session)
        self.rows: list[tuple[str, int]] = []
        self.meter = Meter()

    def is_mine(self, table: Table, row: Row) -> bool:
        """Take a row for the transaction, or wait for the one that holds it."""
        holder = _postgres_sessions.holder_of(self.memory, self.session, table.name, row.place)
        if holder is not None:
            place = f'while updating tuple (0,{row.place}) in relation "{table.name}"'
            raise Waiting(POLL_MS, holder, f"ShareLock on transaction {holder.xid}", place)
        self.rows.append((table.name, row.place))
        return True

    def sleep(self, values: list[Typed]) -> Typed:
        """Come back when the time is over."""
        seconds = converted(values[0], "double precision", 0)
        if not isinstance(seconds, float):
            return Typed(None, "void")
        left_ms = self.session.since_ms + int(min(seconds, _SLEEP_MAX_S) * 1000) - self.world.now_ms
        if left_ms > 0:
            raise Waiting(left_ms)
        return Typed("", "void")

    def ordered(self, order: str) -> Callable[[list[Typed]], Typed]:
        """Return the function that asks something of another session."""

        def ask(values: list[Typed]) -> Typed:
            pid = converted(values[0], "integer", 0)
            other = _postgres_sessions.session_of(self.memory, shown(pid))
            if other is None:
                return Typed(isinstance(pid, int) and pid >= _postgres_sessions.FIRST_POOLED, "boolean")
            if other.pid == self.session.pid:
                raise Ended if order == TERMINATED else Problem("canceling statement due to user request")
            if not self.world.is_superuser and other.user != self.session.user:
                raise Problem(
                    f"must be a member of the role whose {'query' if order == CANCELED else 'process'} is being"
                    f" {'canceled' if order == CANCELED else 'terminated'} or member of pg_signal_backend"
                )
            if other.state == ACTIVE or order == TERMINATED:
                self.memory = _postgres_sessions.with_session(self.memory, other._replace(order=order))
            return Typed(True, "boolean")

        return ask

    def scope(self) -> Scope:
        """Return the server's functions."""
        session = self.session
        texts = {
            "version": f"PostgreSQL {self.world.version}", "current_user": session.user, "session_user": session.user,
            "user": session.user, "current_database": session.database,
        }  # fmt: skip
        functions = {name: _telling(text) for name, text in texts.items()}
        functions |= {
            "pg_sleep": Function(self.sleep, ("number",)),
            "pg_cancel_backend": Function(self.ordered(CANCELED), ("number",)),
            "pg_terminate_backend": Function(self.ordered(TERMINATED), ("number",)),
            "pg_is_in_recovery": Function(lambda _values: Typed(self.world.is_standby, "boolean")),
            "pg_backend_pid": Function(lambda _values: Typed(session.pid, "integer")),
        }
        return Scope({}, functions, self.meter)


def _telling(text: str) -> Function:
    return Function(lambda _values: Typed(text, "text"))


_MODES: Final = {
    "select": "AccessShareLock", "insert": "RowExclusiveLock", "update": "RowExclusiveLock", "delete": "RowExclusiveLock",
    "lock": "AccessExclusiveLock", "truncate": "AccessExclusiveLock", "drop": "AccessExclusiveLock",
}  # fmt: skip


def take_table(statement: Statement, session: Session, world: World) -> None:
    """Wait for a session that has locked a statement's table, or changed it when all of it is wanted.

    Raises:
        Waiting: there is one.
    """
    mode = _MODES.get(statement.verb)
    if mode is None or not statement.table:
        return
    holder = _postgres_sessions.holder_of(world.memory, session, statement.table, None)
    if holder is None and mode == "AccessExclusiveLock":
        holder = _postgres_sessions.writer_of(world.memory, session, statement.table)
    if holder is not None:
        oid = _postgres_tables.oid_of(world.kept, statement.table)
        what = f"{mode} on relation {oid} of database {_postgres_tables.DATABASE_OID}"
        at = 0 if mode == "AccessExclusiveLock" else statement.at
        raise Waiting(POLL_MS, holder, what, at=at)


def waited(session: Session, world: World, waiting: Waiting) -> Turn:
    """Return a session whose statement waits: the limits of the wait count from the statement's start."""
    waited_ms = world.now_ms - session.since_ms
    statement_ms = limit_of(session, world, "statement_timeout")
    if waiting.holder is None:
        return _kept(session, world, _next_ms(waiting.pending_ms, waited_ms, statement_ms), ())
    session = session._replace(waits_for=waiting.holder.pid)
    memory = _postgres_sessions.with_session(world.memory, session)
    lock_ms = limit_of(session, world, "lock_timeout")
    if lock_ms and waited_ms >= lock_ms:
        return Turn(
            session,
            world,
            problem=Fields("canceling statement due to lock timeout", waiting.at, context=waiting.context),
        )
    deadlock_ms = limit_of(session, world, "deadlock_timeout", "1s")
    pending_ms = max(waiting.pending_ms, waited_ms // _POLLS)
    pending_ms = _next_ms(pending_ms, waited_ms, statement_ms, lock_ms, deadlock_ms)
    if waited_ms < deadlock_ms or session.waits_told:
        return _kept(session, world, pending_ms, ())
    is_logged = session.setting("log_lock_waits", world.settings, "off") in ON
    if _postgres_sessions.is_circle(memory, session):
        log = _wait_lines(session, world, waiting, "detected deadlock while waiting for") if is_logged else ()
        return Turn(session, world, problem=_deadlock(session, memory, waiting), log=log)
    log = _wait_lines(session, world, waiting, "still waiting for") if is_logged else ()
    told = (waiting.what if is_logged else "", waiting.context)
    return _kept(session._replace(waits_told=told), world, pending_ms, log)


def _next_ms(pending_ms: int, waited_ms: int, *limits_ms: int) -> int:
    """Return after how long to look again: at the latest when the next limit of the wait is reached."""
    return min(pending_ms, *(each - waited_ms for each in limits_ms if each > waited_ms), pending_ms)


def _kept(session: Session, world: World, pending_ms: int, log: tuple[str, ...]) -> Turn:
    memory = _postgres_sessions.with_session(world.memory, session)
    return Turn(session, world._replace(memory=memory), pending_ms=max(pending_ms, 1), log=log)


def acquired(session: Session, world: World) -> tuple[str, ...]:
    """Return what is logged when a wait is over of which the log has told."""
    if not session.waits_told or not session.waits_told[0]:
        return ()
    what, context = session.waits_told
    lines = [f"LOG:  process {session.pid} acquired {what} after {_waited_for(session, world)} ms"]
    if context:
        lines.append(f"CONTEXT:  {context}")
    return (*lines, f"STATEMENT:  {session.query}")


def _waited_for(session: Session, world: World) -> str:
    return f"{world.now_ms - session.since_ms}.{session.pid % 1000:03d}"


def _wait_lines(session: Session, world: World, waiting: Waiting, does: str) -> tuple[str, ...]:
    assert waiting.holder is not None
    lines = [
        f"LOG:  process {session.pid} {does} {waiting.what} after {_waited_for(session, world)} ms",
        f"DETAIL:  Process holding the lock: {waiting.holder.pid}. Wait queue: {session.pid}.",
    ]
    if waiting.context:
        lines.append(f"CONTEXT:  {waiting.context}")
    return (*lines, f"STATEMENT:  {session.query}")


def _deadlock(session: Session, memory: Mapping[str, str], waiting: Waiting) -> Fields:
    """Return what is said to the session that finds itself in a circle."""
    waits: list[str] = []
    queries: list[str] = []
    each: Session | None = session
    while each is not None and (each.pid != session.pid or not waits):
        holder = _postgres_sessions.session_of(memory, str(each.waits_for))
        assert holder is not None
        what = waiting.what if each.pid == session.pid else f"ShareLock on transaction {holder.xid}"
        waits.append(f"Process {each.pid} waits for {what}; blocked by process {holder.pid}.")
        queries.append(f"Process {each.pid}: {each.query}")
        each = holder
    return Fields(
        "deadlock detected", detail="\n".join(waits), hint="See server log for query details.", context=waiting.context,
        log_detail="\n".join((*waits, *queries)),
    )  # fmt: skip
