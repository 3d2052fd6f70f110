"""Statements of a session: one after the other, with transactions, time limits, sleeps and waits for locks.

A statement that cannot end yet leaves its session waiting; its client asks again, when it is told to.
Source: postgres 15 src/backend/tcop/postgres.c, storage/lmgr/proc.c, deadlock.c; tests/golden/programs/postgres (postgres.timeouts,
postgres.deadlock, postgres.lockwait, postgres.ok.fast).
"""

from __future__ import annotations

import json
from typing import Final

from env_core.programs import _postgres_data, _postgres_results, _postgres_sessions
from env_core.programs._postgres_bounds import UNDO_MAX
from env_core.programs._postgres_config import ON
from env_core.programs._postgres_data import Actor
from env_core.programs._postgres_errors import Fields, Problem
from env_core.programs._postgres_names import NAMES
from env_core.programs._postgres_parser import parsed
from env_core.programs._postgres_sessions import (
    ABORTED,
    ACTIVE,
    CANCELED,
    GONE,
    IDLE,
    IN_TRANSACTION,
    TERMINATED,
    Session,
)
from env_core.programs._postgres_syntax import Statement
from env_core.programs._postgres_tables import too_many
from env_core.programs._postgres_waiting import (
    Ended,
    Reached,
    Turn,
    Waiting,
    World,
    acquired,
    limit_of,
    take_table,
    waited,
)


def began(session: Session, query: str, now_ms: int) -> Session:
    """Return a session that has been sent a query."""
    return session._replace(
        query=query,
        place=0,
        results=(),
        state=ACTIVE,
        asked_ms=now_ms,
        since_ms=now_ms,
        waits_told=(),
        waits_for=0,
    )


def lost(session: Session, world: World) -> Fields | None:
    """Return with which words the server has ended a session, None when it has not."""
    if session.order in (TERMINATED, GONE):
        return Fields("terminating connection due to administrator command", severity="FATAL")
    limit_ms = limit_of(session, world, "idle_in_transaction_session_timeout")
    if (
        session.state in (IN_TRANSACTION, ABORTED)
        and limit_ms
        and world.now_ms - session.since_ms >= limit_ms
    ):
        return Fields("terminating connection due to idle-in-transaction timeout", severity="FATAL")
    return None


def go_on(session: Session, world: World) -> Turn:
    """Run a session's query as far as it comes."""
    statements, refused = parsed(session.query)
    if refused is not None:
        return _failed(session, world, refused.fields, ())
    log: tuple[str, ...] = ()
    wal_bytes = work = 0
    while session.place < len(statements):
        statement = statements[session.place]
        try:
            turn = _one(statement, session, world, is_alone=len(statements) == 1)
        except Problem as problem:
            return _failed(session, world, problem.fields, log)
        except Ended:
            return Turn(session._replace(order=TERMINATED), world, log=log)
        except Waiting as waiting:
            turn = waited(session, world, waiting)
            if turn.problem is not None:
                return _failed(turn.session, turn.world, turn.problem, (*log, *turn.log))
            return turn._replace(log=(*log, *turn.log))
        log = (*log, *turn.log, *acquired(session, world))
        wal_bytes += turn.wal_bytes
        work += turn.work
        session, world = turn.session, turn.world
        if turn.problem is not None:
            return _failed(session, world, turn.problem, log)
        session = session._replace(place=session.place + 1, since_ms=world.now_ms, waits_for=0, waits_told=())
    return Turn(_rested(session, world), world, log=log, wal_bytes=wal_bytes, work=work)


def _rested(session: Session, world: World) -> Session:
    """Return a session between two queries: without a block, its transaction is over."""
    state = IDLE
    if session.is_in_block:
        state = ABORTED if session.is_failed else IN_TRANSACTION
    else:
        session = _postgres_sessions.ended(session)
    return session._replace(state=state, since_ms=world.now_ms, waits_for=0, order="", waits_told=())


def _failed(session: Session, world: World, fields: Fields, log: tuple[str, ...]) -> Turn:
    """Return the end of a query that failed; what its transaction has changed is undone."""
    kept = _postgres_sessions.undone(world.kept, session)
    session = session._replace(undo=(), rows=(), tables=(), is_failed=session.is_in_block)
    world = world._replace(kept=kept)
    return Turn(_rested(session, world), world, problem=fields, log=(*log, *fields.logged(session.query)))


def _one(statement: Statement, session: Session, world: World, *, is_alone: bool) -> Turn:
    """Run one statement.

    Raises:
        Problem: it fails.
        Waiting: it cannot end yet.
    """
    if session.order == CANCELED:
        raise Problem("canceling statement due to user request")
    limit_ms = limit_of(session, world, "statement_timeout")
    if limit_ms and world.now_ms - session.since_ms >= limit_ms:
        raise Problem("canceling statement due to statement timeout")
    verb = statement.verb
    if verb in ("begin", "commit", "rollback"):
        return _transacted(statement, session, world)
    if session.is_failed:
        raise Problem("current transaction is aborted, commands ignored until end of transaction block")
    is_read_only = (
        world.is_standby or session.setting("default_transaction_read_only", world.settings, "off") in ON
    )
    if is_read_only and (problem := _postgres_results.read_only_problem(statement.text)):
        raise Problem(problem.removeprefix("ERROR:  "))
    if verb == "set":
        return _set(statement, session, world)
    if verb == "checkpoint" and not world.is_superuser:
        raise Problem("must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")
    if verb == "lock" and not session.is_in_block and is_alone:
        raise Problem("LOCK TABLE can only be used in transaction blocks")
    found = None if verb != "show" else _postgres_results.answer(
        statement.text, {**world.settings, **dict(session.settings)}, world.version, session.user, session.database
    )  # fmt: skip
    if found is not None:
        if found.error:
            raise Problem(found.error.removeprefix("ERROR:  "))
        columns = _postgres_results.columns(found.names, found.rows, is_text=found.is_text)
        return Turn(session._replace(results=(*session.results, ("", columns))), world)
    return _executed(statement, session, world)


def _set(statement: Statement, session: Session, world: World) -> Turn:
    (name,) = statement.names
    if name.text not in NAMES and "." not in name.text:
        raise Problem(f'unrecognized configuration parameter "{name.text}"')
    settings = {**dict(session.settings), name.text: statement.value}
    return _told(session._replace(settings=tuple(settings.items())), world, "SET")


def _told(session: Session, world: World, tag: str) -> Turn:
    return Turn(session._replace(results=(*session.results, (tag, ""))), world)


def _transacted(statement: Statement, session: Session, world: World) -> Turn:
    if statement.verb == "begin":
        return _told(session._replace(is_in_block=True), world, statement.tag)
    if statement.verb == "commit" and not session.is_failed:
        return _told(_postgres_sessions.ended(session), world, "COMMIT")
    kept = _postgres_sessions.undone(world.kept, session)
    return _told(_postgres_sessions.ended(session), world._replace(kept=kept), "ROLLBACK")


_READING: Final = ("select", "with", "values", "explain", "fetch", "execute")
"""What brings rows, of which nothing can be said that is not simulated."""


def _executed(statement: Statement, session: Session, world: World) -> Turn:
    reached = Reached(session, world)
    take_table(statement, session, world)
    views = {}
    if statement.table == "pg_stat_activity":
        views = {"pg_stat_activity": _postgres_sessions.activity(reached.memory, session.database)}
    actor = Actor(session.user, world.is_superuser, reached.scope(), views, reached.is_mine)
    is_reading = statement.verb == "select"
    kept = _postgres_sessions.visible(world.kept, world.memory, session) if is_reading else world.kept
    told = _postgres_data.execute(statement, kept, actor)
    if told is None and statement.text.split(None, 1)[0].lower() in _READING:
        raise Problem("this simulated server does not know this form of the statement")
    memory = _postgres_sessions.with_session(reached.memory, session)
    if told is None:
        return _told(session, world, _postgres_results.tag_of(statement.text))
    if told.rows is not None:
        if statement.verb in ("insert", "update", "delete", "truncate", "create", "create as", "drop"):
            memory, session = _postgres_sessions.with_transaction(memory, session)
        session = session._replace(
            undo=(*session.undo, *_postgres_sessions.changes(world.kept, told.rows)), rows=(*session.rows, *reached.rows)
        )  # fmt: skip
        if len(session.undo) > UNDO_MAX:
            raise too_many(len(session.undo))
        world = world._replace(kept=told.rows)
    if statement.verb == "lock" and statement.value == "access exclusive":
        session = session._replace(tables=(*session.tables, statement.table))
    columns = ""
    if told.table is not None:
        columns = json.dumps([*told.table, told.kinds])
    session = session._replace(results=(*session.results, (told.text if told.table is None else "", columns)))
    problem = told.problem.fields if told.problem is not None else None
    if problem is not None:
        session = session._replace(results=session.results[:-1])
    return Turn(
        session,
        world._replace(memory=memory),
        problem=problem,
        wal_bytes=told.wal_bytes,
        work=reached.meter.done,
    )
