"""A Postgres server that follows a primary: how it starts, and how it fails to reach the primary.

Source: postgres 15 src/backend/access/transam/xlogrecovery.c, replication/walreceiver.c; tests/golden/programs/postgres
(postgres.standby, postgres.standby.nohot). Not recorded: a primary that answers, which is followed from the start of its log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from env_core.programs._model import NXDOMAIN, Container, Request, Upstream
from env_core.programs._postgres_config import ON

SIGNAL: Final = "standby.signal"
RETRY_MS: Final = 5_000
"""The default of wal_retrieve_retry_interval."""
RETRIES_MAX: Final = 12
"""How many of the attempts after the start the log tells of: our bound."""
_PLACE: Final = "0/3000110"
_NEXT: Final = "0/3000128"
_HINT: Final = "\t\tIs the server running on that host and accepting TCP/IP connections?"


def is_standby(container: Container, directory: str) -> bool:
    """Whether a server's data directory says that it follows another one."""
    return f"{directory}/{SIGNAL}" in container.files


def is_hot(settings: Mapping[str, str]) -> bool:
    """Whether a standby answers those who only read."""
    return settings.get("hot_standby", "on") in ON


def begun(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a standby says at its start."""
    lines = (
        "LOG:  entering standby mode",
        f"LOG:  consistent recovery state reached at {_PLACE}",
        f"LOG:  invalid record length at {_PLACE}: wanted 24, got 0",
    )
    return (
        (*lines, "LOG:  database system is ready to accept read-only connections")
        if is_hot(settings)
        else lines
    )


def followed(settings: Mapping[str, str], upstream: Upstream) -> tuple[tuple[int, str], ...]:
    """Return what a standby says of its primary, and how long after its start."""
    words = dict(re.findall(r"(\w+)\s*=\s*'?([^\s']+)'?", settings.get("primary_conninfo", "")))
    host, port = words.get("host", ""), words.get("port", "5432")
    if not host:
        return ()
    problem = _problem(host, port, upstream)
    if not problem:
        return ((0, "LOG:  started streaming WAL from primary at 0/3000000 on timeline 1"),)
    first, *rest = (f"FATAL:  could not connect to the primary server: {problem[0]}", *problem[1:])
    failure = (first, *rest)
    waiting = f"LOG:  waiting for WAL to become available at {_NEXT}"
    lines = [(0, text) for text in (*failure, *failure, waiting)]
    for number in range(1, RETRIES_MAX + 1):
        lines += [(number * RETRY_MS, text) for text in (*failure, waiting)]
    return tuple(lines)


def _problem(host: str, port: str, upstream: Upstream) -> tuple[str, ...]:
    """Return why a primary cannot be reached, () when it can."""
    found = upstream.resolve(host)
    if found.failure:
        why = (
            "Name or service not known"
            if found.failure == NXDOMAIN
            else "Temporary failure in name resolution"
        )
        return (f'could not translate host name "{host}" to address: {why}',)
    reply = upstream.request(host, int(port) if port.isdigit() else 5432, Request(protocol="tcp"))
    if not reply.failure:
        return ()
    why = {"refused": "Connection refused", "timeout": "Connection timed out"}.get(
        reply.failure, "No route to host"
    )
    place = f'"{host}"' if found.body == host else f'"{host}" ({found.body})'
    return (f"connection to server at {place}, port {port} failed: {why}", _HINT)
