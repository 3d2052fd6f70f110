"""How a MariaDB server answers what comes over a connection: logins, statements, farewells, and what is no MySQL protocol at all.

Source: MariaDB/server sql/sql_connect.cc, sql_parse.cc, mysqld.cc (close_connection); tests/golden/programs/mariadb
(mariadb.ok, mariadb.timeouts, mariadb.notmysql, mariadb.diskfull).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _mariadb_crashing as crashing
from env_core.programs import _mariadb_mysql as mysql
from env_core.programs import _mariadb_running as running
from env_core.programs import _mariadb_sessions as sessions
from env_core.programs import _mariadb_tables as tables
from env_core.programs import _mariadb_users as users
from env_core.programs import _mariadb_wire as wire
from env_core.programs._http import FOREIGN
from env_core.programs._mariadb_administering import used
from env_core.programs._mariadb_config import Read, seconds_ms
from env_core.programs._mariadb_errors import Problem
from env_core.programs._mariadb_log import WARNING, Said, lines, short_stamp
from env_core.programs._mariadb_running import Turn
from env_core.programs._mariadb_sessions import Session
from env_core.programs._mariadb_starting import DUMPED, stopped
from env_core.programs._mariadb_wire import Query
from env_core.programs._mariadb_world import NoSpace, World, status
from env_core.programs._model import EMPTY, Line, Reply, Request, Served, Upstream

_TOOK_MS: Final = 1
_ASKED_WORK: Final = 150
_SESSION_WORK: Final = 10
"""What a request, and every open session, costs the simulator at least, in units of about a microsecond."""
_NO_LOGIN: Final = "This connection closed normally without authentication"
_CROWDED: Final = -1040
"""Instead of 1040, where the client's abilities are not known yet: the error has no SQL state of its own then."""
_GONE: Final = json.dumps([2013, "HY000", "Lost connection to server during query", False])
_STOPPING_MS: Final = 300


class Server(NamedTuple):
    """What does not change while a server runs."""

    options: Read
    directory: str
    version: str
    revision: str
    comment: str
    started_ms: int

    def warns(self, memory: Mapping[str, str], above: int) -> bool:
        """Whether log_warnings is above a level; MySQL keeps such messages to itself (log_error_verbosity)."""
        if self.comment == mysql.COMMENT:
            return False
        found = memory.get(f"{sessions.GLOBAL}log_warnings") or self.options.get("log_warnings")
        return found.isdigit() and int(found[:9]) > above


def touched(server: Server, address: str, at_ms: int) -> tuple[Line, ...]:
    """Return what is logged of a connection over which nothing comes; its number stands for itself."""
    if not server.warns({}, 1):
        return ()
    return _without_login(3 + max(at_ms - server.started_ms, 0) // 1000, address, at_ms)


def _without_login(number: int, address: str, at_ms: int) -> tuple[Line, ...]:
    text = f"Aborted connection {number} to db: 'unconnected' user: 'unauthenticated' host: '{address}' ({_NO_LOGIN})"
    return lines((Said(text, WARNING, number),), at_ms)


def serve(server: Server, request: Request, upstream: Upstream) -> Served:
    """Answer a request."""
    query = wire.decode(request.body) if request.protocol == wire.PROTOCOL else None
    if query is None:
        return _greeted(server, request, upstream)
    heard = _Heard(server, query, request, upstream)
    if wire.SESSION not in request.headers:
        return _greeted(server, request, upstream)
    number = request.headers[wire.SESSION]
    if not number:
        return _logged_in(heard)
    memory = upstream.state()
    session = sessions.session_of(memory, number)
    if session is None:
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    if request.path == wire.END:
        return _left(heard, session, memory, _broken_off(heard, session, memory))
    if session.order == sessions.KILL:
        return _left(heard, session, memory, (), is_lost=True)
    late = _idle_for_too_long(heard, session, memory)
    if late is not None:
        return _left(heard, session, memory, late, is_lost=True)
    return _asked(heard, session, memory)


class _Heard(NamedTuple):
    """One request, and what it meets."""

    server: Server
    query: Query
    request: Request
    upstream: Upstream


def _greeted(server: Server, request: Request, upstream: Upstream) -> Served:
    """Greet a client that is none, as the server speaks first."""
    memory, number = sessions.next_number(upstream.state())
    memory = sessions.counted(memory, sessions.ABORTED)
    upstream.remember(memory)
    log = _without_login(number, request.source_ip, upstream.now_ms) if server.warns(memory, 1) else ()
    if request.protocol not in ("http", "https", "tls"):
        return Served(reply=Reply(failure=EMPTY, latency_ms=1), log=log, cpu_ms=1)
    greeting = f"\n{server.version}\0"
    return Served(reply=Reply(headers=((FOREIGN, greeting),), body=greeting, latency_ms=1), log=log, cpu_ms=1)


def _world(heard: _Heard, memory: dict[str, str], session: Session | None) -> World:
    server, upstream = heard.server, heard.upstream
    kept = upstream.stored(server.directory)
    free = upstream.free_bytes(server.directory)
    room = None if free is None else free - tables.used_bytes(kept)
    is_super = session is not None and users.is_super(kept, session.who)
    return World(
        server.options, server.version, server.comment, kept, memory, upstream.now_ms, server.started_ms, is_super=is_super,
        room_bytes=room,
    )  # fmt: skip


def _port(number: int) -> int:
    return 32_768 + number * 2 + number * 26 % 27_000


def _logged_in(heard: _Heard) -> Served:
    """Let a client in, or not."""
    server, query, request, upstream = heard
    kept, now_ms = upstream.stored(server.directory), upstream.now_ms
    is_local = wire.LOCAL in request.headers
    host = "localhost" if is_local else request.source_ip
    is_ping = request.path == wire.PING
    memory, number = sessions.next_number(upstream.state())
    before = upstream.state()
    try:
        if sessions.count(before) > _limit(server, before, "max_connections"):
            # Whom it may concern is not known yet.
            raise Problem(_CROWDED, "Too many connections")
        account = _account(server, query, kept, host)
        _room_for(server, before, kept, account)
        session = Session(
            number,
            query.user,
            account.key,
            host,
            0 if is_local else _port(number),
            "",
            now_ms,
            since_ms=now_ms,
        )
        if query.database:
            session = used(session, _world(heard, memory, session), query.database)
    except Problem as problem:
        log = _turned_away(server, problem, memory, number, host, now_ms)
        upstream.remember(sessions.counted(memory, sessions.ABORTED))
        return Served(reply=_error(server, problem), log=log, cpu_ms=1, work=_ASKED_WORK)
    if is_ping:
        # Nothing is kept of a client that only asks whether there is somebody.
        return Served(reply=Reply(latency_ms=_TOOK_MS), cpu_ms=1, work=_ASKED_WORK)
    upstream.remember(sessions.with_session(memory, session))
    return Served(
        reply=Reply(headers=((wire.SESSION, str(number)),), latency_ms=_TOOK_MS),
        cpu_ms=1,
        memory_bytes=1 << 18,
        work=_ASKED_WORK,
    )


def _account(server: Server, query: Query, kept: Mapping[str, str], host: str) -> users.Account:
    if server.options.is_on("skip_grant_tables"):
        return users.Account("root", "localhost")
    return users.login(kept, query.user, query.password, host)


def _room_for(
    server: Server, memory: Mapping[str, str], kept: Mapping[str, str], account: users.Account
) -> None:
    """See whether there is room for one more session: administrators have one of their own.

    Raises:
        Problem: there is none.
    """
    open_now = sessions.count(memory)
    if open_now >= _limit(server, memory, "max_connections") + users.is_super(kept, account):
        raise Problem(1040, "Too many connections")
    most = _limit(server, memory, "max_user_connections")
    if most and sum(each.account == account.key for each in sessions.sessions_of(memory)) >= most:
        raise Problem(
            1203, f"User {account.name} already has more than 'max_user_connections' active connections"
        )


def _limit(server: Server, memory: Mapping[str, str], name: str) -> int:
    found = memory.get(sessions.GLOBAL + name)
    return int(found) if found is not None and found.isdigit() else server.options.whole(name)


def _turned_away(
    server: Server, problem: Problem, memory: Mapping[str, str], number: int, host: str, at_ms: int
) -> tuple[Line, ...]:
    if not server.warns(memory, 1):
        return ()
    if problem.number == 1045:
        return lines((Said(problem.text, WARNING, number),), at_ms)
    if problem.number in (_CROWDED, 1130):
        why = problem.text if problem.number == _CROWDED else _NO_LOGIN
        text = (
            f"Aborted connection {number} to db: 'unconnected' user: 'unauthenticated' host: '{host}' ({why})"
        )
        return lines((Said(text, WARNING, number),), at_ms)
    return ()


def _error(server: Server, problem: Problem, number: str = "") -> Reply:
    if problem.number == _CROWDED:
        # Not even MySQL's text differs.
        found = json.dumps([1040, "HY000", problem.text, False])
        return Reply(headers=((wire.ERROR, found),), latency_ms=_TOOK_MS)
    if server.comment == mysql.COMMENT:
        problem = Problem(problem.number, mysql.worded(problem.text), is_late=problem.is_late)
    headers = ((wire.SESSION, number),) if number else ()
    return Reply(headers=(*headers, (wire.ERROR, problem.encode())), latency_ms=_TOOK_MS)


def _left(
    heard: _Heard, session: Session, memory: dict[str, str], log: tuple[Line, ...], *, is_lost: bool = False
) -> Served:
    """End a session; what it has not committed is undone."""
    upstream, directory = heard.upstream, heard.server.directory
    if session.undo:
        upstream.store(directory, sessions.undone(upstream.stored(directory), session))
    upstream.remember(sessions.without_session(memory, session))
    reply = Reply(failure=EMPTY, latency_ms=1) if is_lost else Reply(latency_ms=0)
    return Served(reply=reply, log=log)


def _idle_for_too_long(heard: _Heard, session: Session, memory: Mapping[str, str]) -> tuple[Line, ...] | None:
    """Return what the log says of a session that has been idle for longer than it may; None when it has not."""
    if session.state != sessions.SLEEPING:
        return None
    limit_ms = seconds_ms(session.setting("wait_timeout", heard.server.options, memory))
    if heard.upstream.now_ms - session.since_ms < limit_ms:
        return None
    if not heard.server.warns(memory, 1):
        return ()
    text = _aborted(session, "Got timeout reading communication packets")
    return lines((Said(text, WARNING, session.number),), session.since_ms + limit_ms)


def _broken_off(heard: _Heard, session: Session, memory: Mapping[str, str]) -> tuple[Line, ...]:
    """Return what the log says of a client that has gone without a farewell."""
    if wire.ABORTED not in heard.request.headers or not heard.server.warns(memory, 1):
        return ()
    text = _aborted(session, "Got an error reading communication packets")
    return lines((Said(text, WARNING, session.number),), heard.upstream.now_ms)


def _aborted(session: Session, why: str) -> str:
    return (
        f"Aborted connection {session.number} to db: '{session.database or 'unconnected'}' user: '{session.user}'"
        f" host: '{session.host}' ({why})"
    )


def _asked(heard: _Heard, session: Session, memory: dict[str, str]) -> Served:
    """Answer a session."""
    upstream, path = heard.upstream, heard.request.path
    world = _world(heard, memory, session)
    if path == wire.STATISTICS:
        return Served(reply=_statistics(heard, session, world), cpu_ms=1)
    if path == wire.USE:
        try:
            session = used(session, world, heard.query.statement)
        except Problem as problem:
            return Served(reply=_error(heard.server, problem, str(session.number)), cpu_ms=1)
        upstream.remember(sessions.with_session(memory, session._replace(since_ms=upstream.now_ms)))
        return Served(reply=_done(session), cpu_ms=1)
    if path == wire.GO_ON:
        if session.state != sessions.RUNNING:
            return Served(reply=Reply(failure=EMPTY, latency_ms=1))
        return _went_on(heard, session, world)
    memory = sessions.counted(memory, sessions.QUESTIONS)
    statement = "shutdown" if path == wire.SHUTDOWN else heard.query.statement
    session = running.began(session, statement, upstream.now_ms)
    return _went_on(heard, session, world._replace(memory=sessions.with_session(memory, session)))


def _done(session: Session) -> Reply:
    return Reply(headers=((wire.SESSION, str(session.number)),), latency_ms=_TOOK_MS)


def _statistics(heard: _Heard, session: Session, world: World) -> Reply:
    found = status(world)
    uptime, questions = int(found["Uptime"]), int(found["Questions"])
    text = (
        f"Uptime: {uptime}  Threads: {found['Threads_connected']}  Questions: {questions}  Slow queries: 0  Opens: 33"
        f"  Open tables: 27  Queries per second avg: {questions / max(uptime, 1):.3f}"
    )
    del heard
    return _done(session)._replace(body=text)


def _went_on(heard: _Heard, session: Session, world: World) -> Served:
    """Run a session's statement on."""
    upstream, directory = heard.upstream, heard.server.directory
    work = _ASKED_WORK + _SESSION_WORK * sessions.count(world.memory)
    try:
        turn = running.go_on(session, world)
    except NoSpace as full:
        return _crashed(heard, session, world, full)
    if turn.world.kept is not world.kept:
        upstream.store(directory, turn.world.kept)
    upstream.remember(sessions.with_session(turn.world.memory, turn.session))
    number = str(session.number)
    work += turn.work
    if turn.pending_ms is not None:
        headers = ((wire.SESSION, number), (wire.PENDING, str(turn.pending_ms)))
        return Served(reply=Reply(headers=headers, latency_ms=1), work=work)
    if turn.problem is not None and turn.problem.number == 1927:
        return _left(heard, turn.session, dict(turn.world.memory), (), is_lost=True)
    try:
        reply = _answer(heard.server, turn, number)
    except Problem as problem:
        reply = _error(heard.server, problem, number)
    if turn.is_shutdown:
        return _shut_down(heard, turn, reply)
    return Served(reply=reply, cpu_ms=1, memory_bytes=1 << 20, work=work)


def _answer(server: Server, turn: Turn, number: str) -> Reply:
    """Return what a client gets when its statement is over.

    Raises:
        Problem: it is more than the server sends.
    """
    if turn.problem is not None:
        return _error(server, turn.problem, number)
    headers: list[tuple[str, str]] = [(wire.SESSION, number)]
    if turn.result is not None:
        rows, kinds = turn.result.texts()
        headers.append((wire.RESULT, json.dumps([turn.result.names, rows, kinds])))
    return Reply(body=str(turn.affected), headers=tuple(headers), latency_ms=_TOOK_MS)


def _crashed(heard: _Heard, session: Session, world: World, full: NoSpace) -> Served:
    """Crash: what was not committed is undone when the server starts again."""
    server, upstream = heard.server, heard.upstream
    kept = world.kept
    for each in sessions.sessions_of(world.memory):
        kept = sessions.undone(kept, each)
    if kept is not world.kept:
        upstream.store(server.directory, kept)
    upstream.remember(sessions.without_all(world.memory))
    log = crashing.report(
        server.version,
        server.revision,
        server.directory,
        full.table,
        full.size,
        session.number,
        session.statement,
        upstream.now_ms,
    )
    return Served(
        reply=Reply(headers=((wire.ERROR, _GONE),), latency_ms=1),
        log=log,
        cpu_ms=1,
        ends=crashing.CODE,
        ends_after_ms=1,
    )


def _shut_down(heard: _Heard, turn: Turn, reply: Reply) -> Served:
    """End the server as one of its clients has asked."""
    upstream, session = heard.upstream, turn.session
    at_ms = upstream.now_ms
    who = (
        f"{session.user}[{session.user}] @ {session.host} []"
        if session.host == "localhost"
        else f"{session.user}[{session.user}] @  [{session.host}]"
    )
    first, *rest = stopped(heard.server.directory, int(turn.world.memory.get(sessions.QUESTIONS, "0")))
    said = (
        first._replace(text=f"mariadbd (initiated by: {who}): Normal shutdown"),
        *(
            each._replace(text=each.text + short_stamp(at_ms)) if each.text == DUMPED else each
            for each in rest
        ),
    )
    upstream.remember(sessions.without_all(turn.world.memory))
    return Served(reply=reply, log=lines(said, at_ms), cpu_ms=1, ends=0, ends_after_ms=_STOPPING_MS)
