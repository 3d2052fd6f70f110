"""How a redis-server answers what comes over a connection, and what it logs meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from env_core.programs import _redis_commands, _redis_lifecycle, _redis_loading, _redis_replica, _redis_saving
from env_core.programs._machine import is_volume_full
from env_core.programs._model import EMPTY, TIMEOUT, Container, Line, Reply, Request, Served, Upstream
from env_core.programs._redis_info import info
from env_core.programs._redis_lifecycle import LOADING, Stamp, log_line
from env_core.programs._redis_saving import Disk
from env_core.programs._redis_session import DATA_BASE, Session, commands, encode

_SELECT_BYTES: Final = 23
"""What stands before the first command in an append-only file."""
_ATTACKS_MS: Final = 60_000
"""How often attacks are told of at most. Source: redis 7.0 src/networking.c securityWarningCommand."""


class Server(NamedTuple):
    """What does not change while a server runs."""

    settings: Mapping[str, str]
    renamed: tuple[tuple[str, str], ...]
    version: str
    directory: str
    disk: Disk
    config_file: str = ""
    start_ms: int = 0
    """From the start of its container to the moment when it listens."""
    is_saved: bool = False
    """Whether it keeps its data on disk."""
    has_aof: bool = False
    follows: bool = False
    """Whether it is configured as a replica."""


def serve(server: Server, container: Container, request: Request, upstream: Upstream, stamp: Stamp) -> Served:
    """Answer a request."""
    if request.protocol == "http":
        return _attack(server, request, upstream, stamp)
    if request.protocol == "tls":
        return Served(reply=Reply(failure=TIMEOUT, latency_ms=request.timeout_ms, detail="read"))
    memory = upstream.state()
    run = str(container.started_ms)
    settings = server.settings
    now_ms = upstream.now_ms
    if memory.get("run") != run:
        told = {"attack": memory["attack"]} if "attack" in memory else {}
        memory = {"run": run, **told, **(upstream.stored(server.directory) if server.is_saved else {})}
        memory.pop(_redis_loading.WRITTEN, None)
        if "key-load-delay" in settings:
            memory[LOADING] = str(container.started_ms + server.start_ms + loading_ms(settings, memory))
            upstream.remember(memory)
    session = Session(
        memory=memory, config=settings, renamed=server.renamed, now_ms=now_ms, started_ms=container.started_ms,
        version=server.version, memory_limit=container.memory_limit_bytes, info=info, disk=server.disk,
        source_ip=request.source_ip, own_ip=container.pod_ip, config_file=server.config_file,
    )  # fmt: skip
    session.is_loading = LOADING in memory and int(memory[LOADING]) > now_ms
    is_guarded = session.setting("protected-mode") == "yes" and not session.setting("requirepass")
    session.is_refused = is_guarded and not request.source_ip.startswith("127.")
    if _redis_saving.is_due(memory, now_ms):
        _save(session, upstream)
    follows = server.follows or "config replicaof" in memory
    if follows:
        _follow(session, server, upstream)
    asked = commands(request.body)
    body = _answers(session, server, asked, upstream)
    if session.changes and not session.is_loading:
        save = session.setting("save")
        _redis_saving.changed(memory, save, session.changes, now_ms, container.started_ms)
        if _redis_saving.is_due(memory, now_ms):
            _save(session, upstream)
    if session.is_changed:
        upstream.remember(memory)
        if server.is_saved:
            rows = session.data()
            rows[_redis_loading.WRITTEN] = str(now_ms)
            upstream.store(server.directory, rows)
    log: tuple[Line, ...] = ()
    if session.said:
        role = _redis_lifecycle.role(settings, memory)
        log = tuple(line for at_ms, text in session.said for line in log_line(text, at_ms, stamp, role))
    if session.ends is not None:
        return Served(reply=Reply(failure=EMPTY, latency_ms=1), log=log, ends=session.ends)
    extra = session.used_bytes() - DATA_BASE if session.is_changed else 0
    is_idle = not (session.is_changed or session.is_loading or follows)
    until_ms = _redis_saving.due_ms(memory) if is_idle and _only_asks_whether_it_lives(asked) else 0
    return Served(reply=Reply(body=body, latency_ms=1), log=log, memory_bytes=extra, lasts_until_ms=until_ms)


def _only_asks_whether_it_lives(asked: list[list[str]]) -> bool:
    return all(words and words[0].upper() in ("AUTH", "PING") for words in asked)


def _answers(session: Session, server: Server, asked: list[list[str]], upstream: Upstream) -> str:
    has_aof = server.has_aof
    said: list[str] = []
    for words in asked:
        if not words:
            continue
        before = session.changes
        said.append(_redis_commands.run(session, words))
        if has_aof and session.changes > before:
            _append(session, words, upstream)
        if session.ends is not None:
            break
    return "".join(said)


def _append(session: Session, words: list[str], upstream: Upstream) -> None:
    """Write a command to the append-only file."""
    memory = session.memory
    size = len(encode(*words)) + (
        0 if memory.get(_redis_saving.AOF, "1 0 0").split()[2] != "0" else _SELECT_BYTES
    )
    problem = _redis_saving.appended(memory, size, upstream.free_bytes(session.disk.directory))
    if not problem:
        return
    session.said.append((session.now_ms, f"M {problem}"))
    if session.setting("appendfsync") == "always":
        why = "# Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting..."
        session.said.append((session.now_ms, f"M {why}"))
        session.ends = 1


def _save(session: Session, upstream: Upstream) -> None:
    """Take the snapshots that are due."""
    disk = session.disk
    disk = disk._replace(is_full=disk.is_full or is_volume_full(upstream, disk.directory))
    session.said += _redis_saving.tick(
        session.memory, session.setting("save"), disk, session.now_ms, session.started_ms
    )
    session.is_changed = True


def _follow(session: Session, server: Server, upstream: Upstream) -> None:
    """Tell of the attempts to reach a master since the last request."""
    master = session.setting("replicaof") or session.setting("slaveof")
    if not master or not _redis_lifecycle.is_replica(session.setting, session.memory):
        return
    failure = _redis_replica.link(upstream, master)
    timeout_s = patience_s(server.settings)
    _, due_ms = _redis_replica.first(master, failure, session.started_ms + server.start_ms, timeout_s)
    before = session.memory.get("link")
    session.said += _redis_replica.catch_up(
        session.memory, master, failure, session.now_ms, due_ms, timeout_s
    )
    session.is_changed = session.is_changed or session.memory.get("link") != before


def patience_s(settings: Mapping[str, str]) -> int:
    """Return for how many seconds a replica waits for its master."""
    return int(settings.get("repl-timeout", "60"))


def loading_ms(settings: Mapping[str, str], kept: Mapping[str, str]) -> int:
    """Return how long the data take to load: `key-load-delay`, microseconds for each key, is what slows it down."""
    delay_us = int(settings.get("key-load-delay", "0"))
    return sum(slot[0].isdigit() for slot in kept) * max(delay_us, 0) // 1000


def _attack(server: Server, request: Request, upstream: Upstream, stamp: Stamp) -> Served:
    """Close the connection of what speaks HTTP, and tell of it from time to time."""
    memory = upstream.state()
    at_ms = upstream.now_ms
    reply = Reply(failure=EMPTY, latency_ms=1)
    last = memory.get("attack")
    if last is not None and at_ms - int(last) <= _ATTACKS_MS:
        return Served(reply=reply)
    upstream.remember({**memory, "attack": str(at_ms)})
    who = "aborted" if server.version < "7.2" else f"from {request.source_ip}:43210 aborted"
    text = (
        "M # Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is likely"
        " due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. Connection"
        f" {who}."
    )
    return Served(
        reply=reply, log=log_line(text, at_ms, stamp, _redis_lifecycle.role(server.settings, memory))
    )
