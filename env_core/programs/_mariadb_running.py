"""Statements of a session: transactions, variables, limits, waits for rows, and how these are given up.

A statement that cannot end yet leaves its session waiting; its client asks again, when it is told to.
Source: MariaDB/server sql/sql_parse.cc, storage/innobase/lock/lock0lock.cc; tests/golden/programs/mariadb (mariadb.timeouts,
mariadb.deadlock).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from env_core.programs import _mariadb_administering as administering
from env_core.programs import _mariadb_data as data
from env_core.programs import _mariadb_sessions as sessions
from env_core.programs._mariadb_config import seconds_ms
from env_core.programs._mariadb_data import Told
from env_core.programs._mariadb_errors import UNDO_MAX, Meter, Problem, too_much
from env_core.programs._mariadb_parser import parsed
from env_core.programs._mariadb_querying import Result, selected
from env_core.programs._mariadb_sessions import DEADLOCK, KILL, KILL_QUERY, RUNNING, SLEEPING, Session
from env_core.programs._mariadb_syntax import Statement
from env_core.programs._mariadb_tables import Stored
from env_core.programs._mariadb_world import Reached, Waiting, World, poll_ms

_DEADLOCK: Final = "Deadlock found when trying to get lock; try restarting transaction"
_CHANGING: Final = ("insert", "update", "delete")
_DECLARING: Final = (
    "truncate", "create table", "drop table", "create database", "drop database", "create user", "alter user", "drop user", "grant",
    "revoke",
)  # fmt: skip
"""Statements that commit what was before them."""
_RESOLUTIONS: Final = 16
_KEPT_PER_UNIT: Final = 8
"""How many characters of a data directory are written in about a microsecond."""


class Turn(NamedTuple):
    """What became of a session's statement."""

    session: Session
    world: World
    pending_ms: int | None = None
    """After how long the client shall ask again; None when the statement is over."""
    result: Result | None = None
    problem: Problem | None = None
    affected: int = 0
    work: int = 0
    """What it cost the simulator, in units of about a microsecond."""
    is_shutdown: bool = False


def began(session: Session, statement: str, now_ms: int) -> Session:
    """Return a session that has been sent a statement."""
    return session._replace(
        statement=statement, state=RUNNING, since_ms=now_ms, waits_for=0, waits_row=("", 0), order=""
    )


def rested(session: Session, now_ms: int) -> Session:
    """Return a session between two statements."""
    return session._replace(
        state=SLEEPING, since_ms=now_ms, waits_for=0, waits_row=("", 0), order="", statement=""
    )


def go_on(session: Session, world: World) -> Turn:
    """Run a session's statement as far as it comes."""
    statement = parsed(session.statement)
    meter = Meter()
    is_query = isinstance(statement, Statement) and statement.verb == "select"
    try:
        _ordered(session, world, is_query=is_query)
        if isinstance(statement, Problem):
            raise Problem(statement.number, statement.text)
        turn = _unless_it_waits(statement, session, world, meter)
    except Problem as problem:
        if problem.number == 1213:
            # Its transaction is gone already.
            session = sessions.ended(session)
        return _failed(session, world, problem)._replace(work=meter.done)
    if turn.pending_ms is not None or turn.problem is not None:
        return turn._replace(work=meter.done)
    session = turn.session
    if not session.is_in_block and not session.is_manual:
        session = sessions.ended(session)
    return turn._replace(session=rested(session, world.now_ms))


def _failed(session: Session, world: World, problem: Problem) -> Turn:
    """Return the end of a statement that failed: its transaction goes on."""
    if not session.is_in_block and not session.is_manual:
        session = sessions.ended(session)
    return Turn(rested(session, world.now_ms), world, problem=problem)


def _ordered(session: Session, world: World, *, is_query: bool) -> None:
    """See whether the statement has to end.

    Raises:
        Problem: it has.
    """
    if session.order == DEADLOCK:
        raise Problem(1213, _DEADLOCK)
    if session.order == KILL_QUERY:
        raise Problem(1317, "Query execution was interrupted", is_late=is_query)
    limit_ms = seconds_ms(session.setting("max_statement_time", world.options, world.memory))
    if limit_ms and world.now_ms - session.since_ms >= limit_ms:
        raise Problem(1969, "Query execution was interrupted (max_statement_time exceeded)", is_late=is_query)


def _unless_it_waits(statement: Statement, session: Session, world: World, meter: Meter) -> Turn:
    """Run a statement; where it waits in a circle of sessions, one of them has to give up."""
    for _ in range(_RESOLUTIONS):
        try:
            holder = _still_held(session, world)
            if holder is not None:
                # Nothing has changed for this statement: it need not be tried again.
                raise Waiting(poll_ms(session, world), holder, session.waits_row)
            return _run(statement, session, world, meter)
        except Waiting as waiting:
            if waiting.holder is None:
                return _kept(session, world, waiting.pending_ms)
            session = session._replace(waits_for=waiting.holder.number, waits_row=waiting.row)
            memory = sessions.with_session(world.memory, session)
            world = world._replace(memory=memory)
            found = sessions.circle(memory, session)
            if not found:
                limit_ms = seconds_ms(session.setting("innodb_lock_wait_timeout", world.options, memory))
                waited_ms = world.now_ms - session.since_ms
                if waited_ms >= limit_ms:
                    raise Problem(1205, "Lock wait timeout exceeded; try restarting transaction") from None
                return _kept(session, world, min(waiting.pending_ms, limit_ms - waited_ms))
            victim, world = _resolved(found, world)
            if victim.number == session.number:
                return _failed(sessions.ended(session), world, Problem(1213, _DEADLOCK))
    return _kept(session, world, 1)


def _still_held(session: Session, world: World) -> Session | None:
    """Return the session that holds the row for which a statement waits, None when it may go on."""
    holder = sessions.session_of(world.memory, str(session.waits_for)) if session.waits_for else None
    return holder if holder is not None and session.waits_row in holder.rows else None


def _resolved(circle: list[Session], world: World) -> tuple[Session, World]:
    """Roll back the session of a circle that has changed least; of equals, the one that has waited, not the newest."""
    victim = min(circle[1:] + circle[:1], key=lambda each: len(each.undo))
    kept = sessions.undone(world.kept, victim)
    gone = sessions.ended(victim)._replace(order=DEADLOCK, waits_for=0)
    return victim, world._replace(kept=kept, memory=sessions.with_session(world.memory, gone))


def _kept(session: Session, world: World, pending_ms: int) -> Turn:
    limit_ms = seconds_ms(session.setting("max_statement_time", world.options, world.memory))
    left_ms = session.since_ms + limit_ms - world.now_ms if limit_ms else pending_ms
    memory = sessions.with_session(world.memory, session)
    return Turn(session, world._replace(memory=memory), pending_ms=max(min(pending_ms, left_ms), 1))


def _run(statement: Statement, session: Session, world: World, meter: Meter) -> Turn:
    verb = statement.verb
    if verb in ("begin", "commit", "rollback"):
        return _transacted(verb, session, world)
    if verb in _DECLARING:
        session = sessions.ended(session)
    if verb in (*_CHANGING, *_DECLARING) and not world.is_super:
        is_read_only = (
            world.memory.get(f"{sessions.GLOBAL}read_only") or world.options.get("read_only")
        ).lower() in ("on", "1")
        if is_read_only:
            raise Problem(
                1290,
                "The MariaDB server is running with the --read-only option so it cannot execute this statement",
            )
    if verb == "set":
        session, memory = administering.assigned(statement, session, world)
        return Turn(session, world._replace(memory=memory))
    if verb == "use":
        return Turn(administering.used(session, world, statement.database), world)
    if verb == "kill":
        return _killed(statement, session, world)
    reached = Reached(session, world, meter)
    told = _told(statement, reached)
    if told is None:
        told = _queried(statement, session, world, reached)
    memory, work = world.memory, reached.meter.done
    if told.kept is not None and told.kept is not world.kept:
        undo = () if verb in _DECLARING else sessions.changes(world.kept, told.kept)
        session = session._replace(
            undo=(*session.undo, *undo), rows=() if verb in _DECLARING else tuple(dict.fromkeys((*session.rows, *reached.rows))),
            last_id=told.last_id or session.last_id,
        )  # fmt: skip
        if len(session.undo) > UNDO_MAX:
            raise too_much(len(session.undo))
        work += _written(world.kept, told.kept)
        world = world._replace(kept=told.kept)
    elif reached.rows and verb in _CHANGING:
        session = session._replace(rows=tuple(dict.fromkeys((*session.rows, *reached.rows))))
    return Turn(
        session, world._replace(memory=memory), result=told.result, affected=told.affected, work=work,
        is_shutdown=verb == "shutdown",
    )  # fmt: skip


def _written(before: Stored, after: Stored) -> int:
    """Return what it costs the simulator to keep what a statement has changed."""
    return sum(len(text) for key, text in after.items() if before.get(key) is not text) // _KEPT_PER_UNIT


_DOING: Final[dict[str, Callable[[Statement, Reached], Told]]] = {
    "insert": data.insert, "update": data.update, "delete": data.delete, "truncate": data.truncate, "create table": data.create_table,
    "drop table": data.drop_table, "create database": data.create_database, "drop database": data.drop_database,
    "create user": administering.create_user, "alter user": administering.alter_user, "drop user": administering.drop_user,
    "grant": administering.grant, "revoke": administering.revoke, "flush": administering.flush, "nothing": administering.nothing,
    "shutdown": administering.shutdown, "do": administering.do,
}  # fmt: skip


def _told(statement: Statement, reached: Reached) -> Told | None:
    doing = _DOING.get(statement.verb)
    return None if doing is None else doing(statement, reached)


def _queried(statement: Statement, session: Session, world: World, reached: Reached) -> Told:
    """Return what a query brings, which reads what is committed."""
    reached.world = world._replace(kept=sessions.visible(world.kept, world.memory, session))
    if statement.verb == "select":
        return Told(result=selected(statement, reached))
    return Told(result=Result(*administering.shown(statement, reached)))


def _transacted(verb: str, session: Session, world: World) -> Turn:
    if verb == "begin":
        return Turn(sessions.ended(session)._replace(is_in_block=True), world)
    if verb == "rollback":
        world = world._replace(kept=sessions.undone(world.kept, session))
    return Turn(sessions.ended(session), world)


def _killed(statement: Statement, session: Session, world: World) -> Turn:
    """End another session, or its statement."""
    number, kind = administering.target(statement, session, world)
    if number == session.number:
        if kind == KILL_QUERY:
            raise Problem(1317, "Query execution was interrupted")
        raise Problem(1927, "Connection was killed")
    other = sessions.session_of(world.memory, str(number))
    assert other is not None
    memory = world.memory
    if other.state == RUNNING or kind == KILL:
        memory = sessions.with_session(memory, other._replace(order=kind))
    return Turn(session, world._replace(memory=memory))
