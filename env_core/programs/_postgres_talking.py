"""How a Postgres server talks with a client that keeps its connection, as psql does: from the first word to the farewell.

Source: postgres 15 src/backend/tcop/postgres.c, utils/init/postinit.c; tests/golden/programs/postgres (postgres.ok.*,
postgres.timeouts, postgres.toomany*).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

from env_core.programs import (
    _postgres_catalogue,
    _postgres_crashing,
    _postgres_login,
    _postgres_results,
    _postgres_running,
    _postgres_standby,
)
from env_core.programs import _postgres_sessions as sessions
from env_core.programs._model import EMPTY, END_OF_TIME_MS, Container, Line, Reply, Request, Served, Upstream
from env_core.programs._postgres_config import ON, duration_ms
from env_core.programs._postgres_errors import Fields
from env_core.programs._postgres_login import Refusal, Server, stamp
from env_core.programs._postgres_sessions import GONE, Session
from env_core.programs._postgres_stopping import STOPPING
from env_core.programs._postgres_waiting import Turn, World
from env_core.programs._postgres_wire import (
    ALIVE,
    ASKS,
    CATALOGUE,
    COLUMNS,
    END,
    ERROR,
    GO_ON,
    ONLY,
    PENDING,
    RESULTS,
    SESSION,
    Query,
)

_TOOK_MS: Final = 2
_ASKED_WORK: Final = 200
_SESSION_WORK: Final = 10
"""What a query, and every open session, costs the simulator at least, in units of about a microsecond."""
_LOGGING: Final = (
    "log_connections",
    "log_disconnections",
    "log_statement",
    "log_min_duration_statement",
    "log_duration",
)


class _Heard(NamedTuple):
    """One request of a session, and what it meets."""

    server: Server
    container: Container
    query: Query
    request: Request
    upstream: Upstream

    def is_on(self, name: str) -> bool:
        """Whether a setting is switched on."""
        return self.server.settings.get(name, "off") in ON


def unready(server: Server, upstream: Upstream) -> Refusal | None:
    """Return why a server lets nobody in as it is, None when it does."""
    memory = upstream.state()
    if STOPPING in memory:
        return Refusal("the database system is shutting down")
    crashed = _postgres_crashing.refusal(memory, upstream.now_ms)
    if crashed is not None:
        return crashed
    if server.is_standby and not _postgres_standby.is_hot(server.settings):
        return Refusal(
            "the database system is not accepting connections",
            ("Hot standby mode is disabled.",),
            is_shown=True,
        )
    return None


def refused(refusal: Refusal, pid: int, now_ms: int, before: tuple[str, ...] = ()) -> Served:
    """Turn a client away."""
    if refusal.is_silent:
        return Served(reply=Reply(body=ASKS, latency_ms=_TOOK_MS), log=_lines(before, pid, now_ms), cpu_ms=1)
    texts = [*before, f"FATAL:  {refusal.problem}"]
    if refusal.before:
        texts.insert(len(before), f"LOG:  {refusal.before}")
    if refusal.details:
        texts += [f"DETAIL:  {refusal.details[0]}", *(f"\t{each}" for each in refusal.details[1:])]
    body = f"FATAL:  {refusal.problem}"
    if refusal.is_shown:
        body += "".join(f"\nDETAIL:  {each}" for each in refusal.details)
    return Served(reply=Reply(body=body, latency_ms=4), log=_lines(texts, pid, now_ms), cpu_ms=1)


def _lines(texts: Iterable[str], pid: int, at_ms: int) -> tuple[Line, ...]:
    """Return lines of the log; those that begin with a tab go on the one before them."""
    head = f"{stamp(at_ms)} [{pid}]"
    return tuple(Line(at_ms, text if text[0] == "\t" else f"{head} {text}", "stderr") for text in texts)


def pinged(server: Server, request: Request, upstream: Upstream) -> Served:
    """Answer pg_isready, which says nothing more when it is let in."""
    pid, now_ms = _postgres_login.pid_of(request), upstream.now_ms
    received: tuple[str, ...] = ()
    if server.settings.get("log_connections", "off") in ON:
        received = (_received(request.source_ip, pid),)
    refusal = unready(server, upstream)
    if refusal is not None:
        return refused(refusal, pid, now_ms, received)
    return Served(reply=Reply(body="ok", latency_ms=1), log=_lines(received, pid, now_ms), cpu_ms=1)


def touched(server: Server, address: str, at_ms: int) -> tuple[Line, ...]:
    """Return what is logged of a connection over which nothing comes."""
    if server.settings.get("log_connections", "off") not in ON:
        return ()
    pid = _postgres_login.pid_of(Request(source_ip=address))
    return _lines((_received(address, pid),), pid, at_ms)


def _port(pid: int) -> int:
    return 32_768 + pid * 26 % 28_000


def _received(address: str, pid: int) -> str:
    return (
        f"LOG:  connection received: host={address} port={_port(pid)}"
        if address
        else "LOG:  connection received: host=[local]"
    )


def serve(server: Server, container: Container, query: Query, request: Request, upstream: Upstream) -> Served:
    """Answer a client that keeps its connection."""
    heard = _Heard(server, container, query, request, upstream)
    number = request.headers[SESSION]
    if not number:
        return _greeted(heard)
    session = sessions.session_of(upstream.state(), number)
    if session is None:
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    if request.path == END:
        return _left(heard, session)
    world = _world(heard)
    lost = _postgres_running.lost(session, world)
    if lost is not None:
        return _cut(heard, session, lost)
    if request.path == CATALOGUE:
        return _shown(heard, session)
    if request.path == GO_ON:
        return _went_on(heard, session, world, ())
    session = _postgres_running.began(session, query.statement, upstream.now_ms)
    return _went_on(heard, session, world, _announced(heard))


def _world(heard: _Heard) -> World:
    server, upstream = heard.server, heard.upstream
    kept = upstream.stored(server.directory)
    return World(
        server.settings, server.version, kept, upstream.state(), upstream.now_ms,
        is_superuser=_postgres_login.is_superuser(server, heard.container, heard.query.user), is_standby=server.is_standby,
    )  # fmt: skip


def _greeted(heard: _Heard) -> Served:
    """Let a client in, and answer its first statement."""
    server, upstream, request, query = heard.server, heard.upstream, heard.request, heard.query
    is_quiet = not any(name in server.settings for name in _LOGGING)
    memory, pid = upstream.state(), _postgres_login.pid_of(request)
    if not (is_quiet and ONLY in request.headers and query.statement.upper() == ALIVE):
        memory, pid = sessions.next_pid(memory)
    received: tuple[str, ...] = (_received(request.source_ip, pid),) if heard.is_on("log_connections") else ()
    kept = upstream.stored(server.directory)
    refusal = unready(server, upstream) or _postgres_login.refusal(
        server, heard.container, query, kept, request
    )
    if refusal is None:
        problem = _postgres_login.no_room(server, heard.container, query.user, upstream)
        refusal = Refusal(problem) if problem else None
    if refusal is not None:
        return refused(refusal, pid, upstream.now_ms, received)
    if is_quiet and ONLY in request.headers and query.statement.upper() == ALIVE:
        reply = Reply(
            body="ok", headers=_postgres_results.headers(("?column?",), (("1",),)), latency_ms=_TOOK_MS
        )
        return Served(reply=reply, cpu_ms=1, memory_bytes=1 << 20, lasts_until_ms=END_OF_TIME_MS)
    session = Session(pid, query.user, query.database, request.source_ip, upstream.now_ms)
    if heard.is_on("log_connections"):
        received += _admitted(heard)
    upstream.remember(memory)
    world = _world(heard)
    if request.path == CATALOGUE:
        return _shown(heard, session, received)
    session = _postgres_running.began(session, query.statement, upstream.now_ms)
    return _went_on(heard, session, world, (*received, *_announced(heard)))


def _admitted(heard: _Heard) -> tuple[str, ...]:
    query, rule = heard.query, _postgres_login.rule_for(heard.server, heard.query, heard.request)
    lines: tuple[str, ...] = ()
    if rule is not None and rule.method != "trust":
        path = heard.server.settings.get("hba_file", f"{heard.server.directory}/pg_hba.conf")
        lines = (
            f'LOG:  connection authenticated: identity="{query.user}" method={rule.method} ({path}:{rule.number})',
        )
    authorized = (
        f"LOG:  connection authorized: user={query.user} database={query.database} application_name=psql"
    )
    return (*lines, authorized)


def _announced(heard: _Heard) -> tuple[str, ...]:
    """Return what is logged of a query before it runs."""
    return (f"LOG:  statement: {heard.query.statement}",) if _is_announced(heard) else ()


def _is_announced(heard: _Heard) -> bool:
    """Whether log_statement asks for a query: "mod" takes what writes, "ddl" what declares."""
    verb = (heard.query.statement.split(None, 1) or [""])[0].lower()
    declaring = ("create", "alter", "drop", "grant", "revoke", "comment", "reindex")
    writing = (*declaring, "insert", "update", "delete", "truncate", "copy", "merge")
    kind = heard.server.settings.get("log_statement", "none")
    return kind == "all" or (kind == "mod" and verb in writing) or (kind == "ddl" and verb in declaring)


def _went_on(heard: _Heard, session: Session, world: World, before: tuple[str, ...]) -> Served:
    """Run a session's query on."""
    upstream, directory = heard.upstream, heard.server.directory
    query = heard.query._replace(statement=session.query)
    heard = heard._replace(query=query)
    since_ms = session.asked_ms
    turn = _postgres_running.go_on(session, world)
    if turn.session.order == sessions.TERMINATED:
        upstream.remember(sessions.with_session(turn.world.memory, turn.session))
        lost = _postgres_running.lost(turn.session, world)
        assert lost is not None
        return _cut(heard, turn.session, lost)
    work = turn.work + _ASKED_WORK + _SESSION_WORK * len(sessions.sessions_of(world.memory))
    if turn.wal_bytes and _postgres_crashing.is_too_much(turn.wal_bytes, upstream.free_bytes(directory)):
        return _postgres_crashing.panicked(
            upstream, session.pid, query.statement, _lines(before, session.pid, upstream.now_ms)
        )
    if turn.world.kept is not world.kept:
        upstream.store(directory, turn.world.kept)
    texts = (*before, *turn.log)
    if turn.pending_ms is not None:
        upstream.remember(sessions.with_session(turn.world.memory, turn.session))
        headers: tuple[tuple[str, str], ...] = ((SESSION, str(session.pid)), (PENDING, str(turn.pending_ms)))
        reply = Reply(body="", headers=headers, latency_ms=1)
        return Served(reply=reply, log=_lines(texts, session.pid, upstream.now_ms), work=work)
    texts += _lasted(heard, upstream.now_ms - since_ms + _TOOK_MS)
    log = _lines(texts, session.pid, upstream.now_ms)
    memory = sessions.with_session(turn.world.memory, turn.session)
    number = str(session.pid)
    if ONLY in heard.request.headers:
        memory, number = sessions.without_session(memory, turn.session), ""
        log += _parted(heard, turn.session, upstream.now_ms + _TOOK_MS)
    upstream.remember(memory)
    return Served(reply=_reply(turn, number), log=log, cpu_ms=1, memory_bytes=1 << 20, work=work)


def _reply(turn: Turn, number: str) -> Reply:
    results = turn.session.results
    headers: list[tuple[str, str]] = [(SESSION, number)] if number else []
    headers.append((RESULTS, json.dumps(results)))
    body = "ok"
    if turn.problem is not None:
        headers.append((ERROR, turn.problem.encode()))
        body = turn.problem.body
    elif results:
        tag, columns = results[-1]
        body = tag or "ok"
        if columns:
            headers.append((COLUMNS, columns))
    return Reply(body=body, headers=tuple(headers), latency_ms=_TOOK_MS)


def _lasted(heard: _Heard, took_ms: int) -> tuple[str, ...]:
    """Return what is logged of a query's length: with its text, where that has not been logged yet."""
    least = heard.server.settings.get("log_min_duration_statement", "-1")
    if least.startswith("-") or took_ms < duration_ms(least):
        return ()
    text = "" if _is_announced(heard) else f"  statement: {heard.query.statement}"
    return (f"LOG:  duration: {took_ms}.{took_ms * 37 % 1000:03d} ms{text}",)


def _parted(heard: _Heard, session: Session, at_ms: int) -> tuple[Line, ...]:
    if not heard.is_on("log_disconnections"):
        return ()
    lasted_ms = at_ms - session.started_ms
    seconds = lasted_ms // 1000
    lasted = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{lasted_ms % 1000:03d}"
    text = (
        f"LOG:  disconnection: session time: {lasted} user={session.user} database={session.database} host={session.address}"
        f" port={_port(session.pid)}"
    )
    return _lines((text,), session.pid, at_ms)


def _left(heard: _Heard, session: Session) -> Served:
    """End a session whose client has gone; what it has not committed is undone."""
    upstream, directory = heard.upstream, heard.server.directory
    if session.undo:
        upstream.store(directory, sessions.undone(upstream.stored(directory), session))
    upstream.remember(sessions.without_session(upstream.state(), session))
    return Served(reply=Reply(body="ok", latency_ms=0), log=_parted(heard, session, upstream.now_ms))


def _cut(heard: _Heard, session: Session, fields: Fields) -> Served:
    """End a session from the server's side."""
    statement = session.query if session.state == sessions.ACTIVE else ""
    _left(heard, session)
    log = (
        () if session.order == GONE else _lines(fields.logged(statement), session.pid, heard.upstream.now_ms)
    )
    reply = Reply(body=fields.body, headers=((SESSION, ""),), latency_ms=1)
    return Served(reply=reply, log=log, cpu_ms=1)


def _shown(heard: _Heard, session: Session, before: tuple[str, ...] = ()) -> Served:
    """Answer what psql's own commands ask of the catalogue."""
    upstream = heard.upstream
    kept = upstream.stored(heard.server.directory)
    columns = _postgres_catalogue.shown(heard.query.statement, kept, heard.container, heard.server.is_bare)
    headers: tuple[tuple[str, str], ...] = ((COLUMNS, columns),) if columns else ()
    log = _lines(before, session.pid, upstream.now_ms)
    if ONLY in heard.request.headers:
        log += _parted(heard, session, upstream.now_ms + _TOOK_MS)
    else:
        upstream.remember(sessions.with_session(upstream.state(), session))
        headers = (*headers, (SESSION, str(session.pid)))
    return Served(reply=Reply(body="ok", headers=headers, latency_ms=_TOOK_MS), log=log, cpu_ms=1)
