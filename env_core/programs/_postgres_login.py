"""Who may log in to a Postgres server, and what it says to those who may not.

Source: postgres 15 src/backend/libpq/auth.c, postmaster/postmaster.c (ProcessStartupPacket); tests/golden/programs/postgres
(postgres.auth.*, postgres.toomany*, postgres.standby.nohot).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _postgres_hba, _postgres_roles, _postgres_sessions
from env_core.programs._http import moment
from env_core.programs._model import Container, Request, Upstream
from env_core.programs._postgres_hba import PASSWORDS, Rule
from env_core.programs._postgres_wire import LOCAL, NO_PASSWORD, Query

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
    is_standby: bool = False


class Refusal(NamedTuple):
    """Why a client may not log in."""

    problem: str
    details: tuple[str, ...] = ()
    before: str = ""
    """What is logged first."""
    is_silent: bool = False
    is_shown: bool = False
    """Whether the client gets the details too."""


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


def rule_for(server: Server, query: Query, request: Request) -> Rule | None:
    """Return the rule that a connection matches."""
    is_local = LOCAL in request.headers
    return _postgres_hba.match(
        server.rules, is_local=is_local, database=query.database, user=query.user, address=request.source_ip
    )


def is_superuser(server: Server, container: Container, user: str) -> bool:
    """Whether a role may do everything: the one that the data directory was made with."""
    return user == ("postgres" if server.is_bare else container.env.get("POSTGRES_USER") or "postgres")


def refusal(
    server: Server, container: Container, query: Query, kept: Mapping[str, str], request: Request
) -> Refusal | None:
    """Return why a client may not log in, None when it may.

    Source: tests/golden/programs/postgres (postgres.auth.*); https://hub.docker.com/_/postgres (the variables have an
    effect only when the container starts with an empty data directory).
    """
    env = container.env
    own = env.get("POSTGRES_USER") or "postgres"
    user, database = query.user, query.database
    rule = rule_for(server, query, request)
    whence = f'host "{request.source_ip}", user "{user}", database "{database}", no encryption'
    if rule is None:
        return Refusal(f"no pg_hba.conf entry for {whence}")
    if rule.method == "reject":
        return Refusal(f"pg_hba.conf rejects connection for {whence}")
    matched = f'Connection matched pg_hba.conf line {rule.number}: "{rule.text}"'
    is_known = _postgres_roles.role(user) in kept or (not server.is_bare and user == own)
    if rule.method == "peer" and request.headers.get(LOCAL) != user:
        before = f"provided user name ({user}) and authenticated user name ({request.headers.get(LOCAL)}) do not match"
        return Refusal(f'Peer authentication failed for user "{user}"', (matched,), before)
    if rule.method in PASSWORDS:
        if NO_PASSWORD in request.headers:
            return Refusal("", is_silent=True)
        problem = f'password authentication failed for user "{user}"'
        if not is_known:
            return Refusal(problem, (f'Role "{user}" does not exist.', matched))
        password = kept.get(_postgres_roles.role(user), env.get("POSTGRES_PASSWORD"))
        if query.password != password:
            return Refusal(problem, (matched,))
    elif not is_known:
        return Refusal(f'role "{user}" does not exist')
    if f"{_postgres_roles.NO_LOGIN}{user}" in kept:
        return Refusal(f'role "{user}" is not permitted to log in')
    if (
        database not in (env.get("POSTGRES_DB") or own, "postgres", "template1")
        and f"database {database}" not in kept
    ):
        return Refusal(f'database "{database}" does not exist')
    return None


def crowd(server: Server, container: Container, query: Query, request: Request, upstream: Upstream) -> str:
    """Count a service's connections beside the others'; return why there is no room.

    Clients that are gone have closed theirs.
    """
    memory = upstream.state()
    key = f"{_postgres_sessions.POOL}{request.source_ip}"
    size = str(max(query.pool, 1))
    if memory.get(key) == size:
        return ""
    kept = _present(memory, upstream)
    kept.pop(key, None)
    problem = _postgres_sessions.crowd(
        kept, server.settings, upstream.stored(server.directory), query.user, int(size),
        is_superuser=is_superuser(server, container, query.user),
    )  # fmt: skip
    if not problem:
        upstream.remember({**kept, key: size})
    return problem


def _present(memory: Mapping[str, str], upstream: Upstream) -> dict[str, str]:
    """Return a server's memory without the pools of services that are gone."""
    pool = _postgres_sessions.POOL
    return {
        name: value for name, value in memory.items()
        if not name.startswith(pool) or upstream.has_peer(name.removeprefix(pool))
    }  # fmt: skip


def no_room(server: Server, container: Container, user: str, upstream: Upstream) -> str:
    """Return why there is no room for one more session."""
    return _postgres_sessions.crowd(
        _present(upstream.state(), upstream), server.settings, upstream.stored(server.directory), user, 1,
        is_superuser=is_superuser(server, container, user),
    )  # fmt: skip


def pid_of(request: Request) -> int:
    """Return the number of the process that serves a client."""
    return 40 + sum(map(ord, request.source_ip)) % 900
