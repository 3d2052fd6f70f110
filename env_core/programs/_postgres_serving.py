"""How a Postgres server answers what comes over a connection: who may log in, and what statements bring."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.programs import (
    _postgres_data,
    _postgres_login,
    _postgres_results,
    _postgres_talking,
    _postgres_wire,
)
from env_core.programs._model import EMPTY, END_OF_TIME_MS, Container, Line, Reply, Request, Served, Upstream
from env_core.programs._postgres_config import ON
from env_core.programs._postgres_login import Refusal, Server, stamp
from env_core.programs._postgres_wire import ALIVE, PING, SESSION, Query


def serve(server: Server, container: Container, request: Request, upstream: Upstream) -> Served:
    """Answer a request."""
    query = _postgres_wire.decode(request.body) if request.protocol == _postgres_wire.PROTOCOL else None
    if query is None:
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    if request.path == PING:
        return _postgres_talking.pinged(server, request, upstream)
    if SESSION in request.headers:
        return _postgres_talking.serve(server, container, query, request, upstream)
    kept = upstream.stored(server.directory)
    refusal = _postgres_talking.unready(server, upstream) or _postgres_login.refusal(
        server, container, query, kept, request
    )
    if refusal is None:
        crowd = _postgres_login.crowd(server, container, query, request, upstream)
        refusal = Refusal(crowd) if crowd else None
    pid = _postgres_login.pid_of(request)
    if refusal is not None:
        return _postgres_talking.refused(refusal, pid, upstream.now_ms)
    head = f"{stamp(upstream.now_ms)} [{pid}]"
    return _answered(server, query, kept, upstream, head)


def _answered(server: Server, query: Query, kept: Mapping[str, str], upstream: Upstream, head: str) -> Served:
    settings = server.settings
    error = ""
    if settings.get("default_transaction_read_only", "off") in ON:
        error = _postgres_results.read_only_problem(query.statement)
    found = (
        None
        if error
        else _postgres_results.answer(query.statement, settings, server.version, query.user, query.database)
    )
    if found is not None and not found.error:
        reply = Reply(
            body="ok",
            headers=_postgres_results.headers(found.names, found.rows, is_text=found.is_text),
            latency_ms=2 + found.took_ms,
        )
        until_ms = END_OF_TIME_MS if query.statement == ALIVE else 0
        return Served(reply=reply, cpu_ms=1, memory_bytes=1 << 20, lasts_until_ms=until_ms)
    told = None if error or found is not None else _postgres_data.run(query.statement, kept)
    if found is not None:
        error = found.error
    elif told is not None and told.text.startswith("ERROR:"):
        error = told.text
    if error:
        texts = (f"{head} {error}", f"{head} STATEMENT:  {query.statement}")
        log = tuple(Line(upstream.now_ms, text, "stderr") for text in texts)
        return Served(reply=Reply(body=error, latency_ms=2), log=log, cpu_ms=1, memory_bytes=1 << 20)
    if told is not None and told.rows is not None:
        upstream.store(server.directory, told.rows)
    columns = () if told is None or told.table is None else _postgres_results.headers(*told.table)
    reply = Reply(body=told.text if told else "ok", headers=columns, latency_ms=2)
    return Served(reply=reply, cpu_ms=1, memory_bytes=1 << 20)
