"""How a Postgres server answers what comes over a connection: who may log in, and what statements bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _postgres_data, _postgres_hba, _postgres_results, _postgres_wire
from env_core.programs._http import moment
from env_core.programs._model import EMPTY, END_OF_TIME_MS, Container, Line, Reply, Request, Served, Upstream
from env_core.programs._postgres_hba import PASSWORDS, Rule
from env_core.programs._postgres_settings import whole
from env_core.programs._postgres_wire import ALIVE, ASKS, LOCAL, NO_PASSWORD, PING, Query

PEER: Final = "pool "
_DEFAULT_RULES: Final = (
    Rule(1, "local all all trust", "local", ("all",), ("all",), "", "trust"),
    Rule(3, "host all all all scram-sha-256", "host", ("all",), ("all",), "all", "scram-sha-256"),
)
"""What the image's entry point writes, as far as it matters."""


class Server(NamedTuple):
    """What does not change while a server runs."""

    directory: str
    settings: Mapping[str, str]
    rules: tuple[Rule, ...]
    version: str
    is_bare: bool = False


class _Refusal(NamedTuple):
    problem: str
    details: tuple[str, ...] = ()
    before: str = ""
    """What is logged first."""
    is_silent: bool = False


def stamp(at_ms: int) -> str:
    """Return a time as the log has it."""
    return f"{moment(at_ms):%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d} UTC"


def rules_of(container: Container, directory: str, settings: Mapping[str, str]) -> tuple[Rule, ...]:
    """Return the rules in force: those of pg_hba.conf, or what the image's entry point makes."""
    text = container.files.get(settings.get("hba_file", f"{directory}/pg_hba.conf"))
    if text is not None:
        return _postgres_hba.read(text)[0]
    if container.env.get("POSTGRES_HOST_AUTH_METHOD") == "trust":
        return (_DEFAULT_RULES[0], _DEFAULT_RULES[1]._replace(method="trust", text="host all all all trust"))
    return _DEFAULT_RULES


def serve(server: Server, container: Container, request: Request, upstream: Upstream) -> Served:
    """Answer a request."""
    query = _postgres_wire.decode(request.body) if request.protocol == _postgres_wire.PROTOCOL else None
    if query is None:
        return Served(reply=Reply(failure=EMPTY, latency_ms=1))
    if request.path == PING:
        return Served(reply=Reply(body="ok", latency_ms=1), cpu_ms=1)
    kept = upstream.stored(server.directory)
    refusal = _refusal(server, container, query, kept, request)
    if refusal is None:
        crowd = _crowd(server, request.source_ip, query.pool, upstream)
        refusal = _Refusal(crowd) if crowd else None
    at_ms = upstream.now_ms
    head = f"{stamp(at_ms)} [{_pid(request)}]"
    if refusal is not None:
        if refusal.is_silent:
            return Served(reply=Reply(body=ASKS, latency_ms=2), cpu_ms=1)
        texts = [f"{head} FATAL:  {refusal.problem}"]
        if refusal.before:
            texts.insert(0, f"{head} LOG:  {refusal.before}")
        if refusal.details:
            texts += [f"{head} DETAIL:  {refusal.details[0]}", *(f"\t{each}" for each in refusal.details[1:])]
        log = tuple(Line(at_ms, text, "stderr") for text in texts)
        return Served(reply=Reply(body=f"FATAL:  {refusal.problem}", latency_ms=4), log=log, cpu_ms=1)
    return _answered(server, query, kept, upstream, head)


def _answered(server: Server, query: Query, kept: Mapping[str, str], upstream: Upstream, head: str) -> Served:
    settings = server.settings
    error = ""
    if settings.get("default_transaction_read_only", "off") in _ON:
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


_ON: Final = ("on", "true", "yes", "1")


def _pid(request: Request) -> int:
    return 40 + sum(map(ord, request.source_ip)) % 900


def _refusal(
    server: Server, container: Container, query: Query, kept: Mapping[str, str], request: Request
) -> _Refusal | None:
    """Return why a client may not log in, None when it may.

    Source: tests/golden/programs/postgres (postgres.auth.*); https://hub.docker.com/_/postgres (the variables have an
    effect only when the container starts with an empty data directory).
    """
    env = container.env
    own = env.get("POSTGRES_USER") or "postgres"
    user, database = query.user, query.database
    is_local = LOCAL in request.headers
    rule = _postgres_hba.match(
        server.rules, is_local=is_local, database=database, user=user, address=request.source_ip
    )
    whence = f'host "{request.source_ip}", user "{user}", database "{database}", no encryption'
    if rule is None:
        return _Refusal(f"no pg_hba.conf entry for {whence}")
    if rule.method == "reject":
        return _Refusal(f"pg_hba.conf rejects connection for {whence}")
    matched = f'Connection matched pg_hba.conf line {rule.number}: "{rule.text}"'
    is_known = _postgres_data.role(user) in kept or (not server.is_bare and user == own)
    if rule.method == "peer" and request.headers.get(LOCAL) != user:
        before = f"provided user name ({user}) and authenticated user name ({request.headers.get(LOCAL)}) do not match"
        return _Refusal(f'Peer authentication failed for user "{user}"', (matched,), before)
    if rule.method in PASSWORDS:
        if NO_PASSWORD in request.headers:
            return _Refusal("", is_silent=True)
        problem = f'password authentication failed for user "{user}"'
        if not is_known:
            return _Refusal(problem, (f'Role "{user}" does not exist.', matched))
        password = kept.get(_postgres_data.role(user), env.get("POSTGRES_PASSWORD"))
        if query.password != password:
            return _Refusal(problem, (matched,))
    elif not is_known:
        return _Refusal(f'role "{user}" does not exist')
    if (
        database not in (env.get("POSTGRES_DB") or own, "postgres", "template1")
        and f"database {database}" not in kept
    ):
        return _Refusal(f'database "{database}" does not exist')
    return None


def _crowd(server: Server, address: str, pool: int, upstream: Upstream) -> str:
    """Count a client's connections beside the others'; return why there is no room.

    Clients that are gone have closed theirs. Source: tests/golden/programs/postgres (postgres.toomany.all).
    """
    memory = upstream.state()
    key = f"{PEER}{address}"
    size = str(max(pool, 1))
    if memory.get(key) == size:
        return ""
    kept = {
        name: value for name, value in memory.items()
        if not name.startswith(PEER) or (name != key and upstream.has_peer(name.removeprefix(PEER)))
    }  # fmt: skip
    open_now = sum(int(value) for name, value in kept.items() if name.startswith(PEER))
    if open_now + int(size) > whole(server.settings, "max_connections", 100):
        return "sorry, too many clients already"
    upstream.remember({**kept, key: size})
    return ""
