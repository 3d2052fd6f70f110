"""A replica's link to its master: attempts to connect, and what is logged of them.

A master that answers is taken for one in step: nothing is copied here.

Source: redis 7.0 src/replication.c (replicationCron, connectWithMaster, syncWithMaster); tests/golden/programs/redis
(redis.replica, redis.replica.drop). Not recorded: a name that does not resolve.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final

from env_core.programs._model import DNS_TIMEOUT, NXDOMAIN, REFUSED, SERVFAIL, TIMEOUT, Request, Upstream

_LINK: Final = "link"
_SECOND: Final = 1_000
_ATTEMPTS_MAX: Final = 100
_UNNOTED_MS: Final = 10_000
"""How far back attempts are told of when nothing is noted of them: the master may have gone since the start."""
_ERRORS: Final = {REFUSED: "Connection refused"}
_UNRESOLVED: Final = (NXDOMAIN, SERVFAIL, DNS_TIMEOUT)
Said = list[tuple[int, str]]


def link(upstream: Upstream, master: str) -> str:
    """Return why a replica cannot connect to its master ("host port"), "" when it can."""
    host, _, port = master.partition(" ")
    return upstream.request(host, int(port) if port.isdigit() else 6379, Request(protocol="tcp")).failure


def first(master: str, failure: str, at_ms: int, timeout_s: int) -> tuple[Said, int]:
    """Return what is logged of the first attempt, and when the next one begins."""
    if failure != TIMEOUT:
        return _attempt(master, failure, at_ms, timeout_s)
    host, _, port = master.partition(" ")
    begun = [
        (at_ms, f"S * Connecting to MASTER {host}:{port}"),
        (at_ms, "S * MASTER <-> REPLICA sync started"),
    ]
    late_ms = at_ms + (timeout_s + 1) * _SECOND
    told, due_ms = _attempt(master, failure, late_ms, timeout_s)
    return [*begun, *told], due_ms


def _attempt(master: str, failure: str, at_ms: int, timeout_s: int) -> tuple[Said, int]:
    host, _, port = master.partition(" ")
    if failure == TIMEOUT:
        texts = (
            "# Timeout connecting to the MASTER...", f"* Reconnecting to MASTER {host}:{port} after failure",
            "* MASTER <-> REPLICA sync started",
        )  # fmt: skip
        return [(at_ms, f"S {text}") for text in texts], at_ms + (timeout_s + 1) * _SECOND
    begun = [(at_ms, f"S * Connecting to MASTER {host}:{port}")]
    if failure in _UNRESOLVED:
        said = (at_ms, "S # Unable to connect to MASTER: Resource temporarily unavailable")
        return [*begun, said], at_ms + _SECOND
    begun.append((at_ms, "S * MASTER <-> REPLICA sync started"))
    problem = _ERRORS.get(failure, "No route to host")
    return [*begun, (at_ms, f"S # Error condition on socket for SYNC: {problem}")], at_ms + _SECOND


def catch_up(
    memory: MutableMapping[str, str], master: str, failure: str, now_ms: int, begun_ms: int, timeout_s: int
) -> Said:
    """Return what was logged of the attempts up to now, and note when the next one is due."""
    if not failure:
        memory.pop(_LINK, None)
        return []
    noted = memory.get(_LINK, "").partition(" ")[2]
    due_ms = int(noted) if noted else max(begun_ms, now_ms - _UNNOTED_MS)
    said: Said = []
    for _ in range(_ATTEMPTS_MAX):
        if due_ms > now_ms:
            break
        told, due_ms = _attempt(master, failure, due_ms, timeout_s)
        said += told
    memory[_LINK] = f"down {max(due_ms, now_ms // _SECOND * _SECOND)}"
    return said
