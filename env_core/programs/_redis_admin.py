"""Redis commands about the server itself: configuration, clients, information."""

from __future__ import annotations

import fnmatch
from hashlib import sha1
from typing import Final

from env_core.programs import _redis_config, _redis_saving
from env_core.programs._redis_lifecycle import is_replica
from env_core.programs._redis_session import NIL, OK, Session, array, bulk, encode, integer


def info(session: Session, words: list[str]) -> str:
    """Answer INFO."""
    return bulk(session.info(session, words[1].lower() if len(words) > 1 else ""))


def config(session: Session, words: list[str]) -> str:
    """Answer CONFIG GET, SET, RESETSTAT and REWRITE."""
    action = words[1].lower()
    if action == "get":
        if len(words) < 3:
            return "-ERR wrong number of arguments for 'config|get' command\r\n"
        found = [
            name
            for name in session.config
            if any(fnmatch.fnmatchcase(name, word.lower()) for word in words[2:])
        ]
        return array([part for name in found for part in (name, _shown(session, name))])
    if action == "set":
        if len(words) < 4:
            return "-ERR wrong number of arguments for 'config|set' command\r\n"
        name, value = words[2].lower(), words[3]
        if not _redis_config.is_known(name):
            return f"-ERR Unknown option or number of arguments for CONFIG SET - '{words[2]}'\r\n"
        problem = _redis_config.value_problem(name, value)
        if problem:
            return f"-ERR CONFIG SET failed (possibly related to argument '{name}') - {problem}\r\n"
        session.memory[f"config {name}"] = value
        if name == "save":
            session.memory.pop(_redis_saving.NEXT, None)
        session.is_changed = True
        return OK
    if action in ("resetstat", "rewrite"):
        return OK if action == "resetstat" else "-ERR The server is running without a config file\r\n"
    return f"-ERR unknown subcommand '{words[1]}'. Try CONFIG HELP.\r\n"


def _shown(session: Session, name: str) -> str:
    value = session.setting(name)
    if name == "maxmemory":
        return str(_redis_config.memory_bytes(value) or 0)
    return value


def client(session: Session, words: list[str]) -> str:
    """Answer CLIENT."""
    action = words[1].lower()
    if action in ("setname", "setinfo", "no-evict", "no-touch", "reply"):
        return OK
    if action == "getname":
        return NIL
    if action == "id":
        return integer(7)
    if action in ("list", "info"):
        return bulk(_shown_client(session, words) + "\n")
    if action == "kill" and len(words) > 3:
        return integer(0)
    if action == "kill":
        return "-ERR No such client\r\n"
    return f"-ERR unknown subcommand '{words[1]}'. Try CLIENT HELP.\r\n"


def role(session: Session, _words: list[str]) -> str:
    """Answer ROLE: a master without replicas, or a replica that waits for its master."""
    if is_replica(session.setting, session.memory):
        host, _, port = (session.setting("replicaof") or session.setting("slaveof")).partition(" ")
        state = "connect" if session.memory.get("link", "").startswith("down") else "connected"
        return "*5\r\n" + bulk("slave") + bulk(host) + integer(int(port)) + bulk(state) + integer(-1)
    return "*3\r\n" + bulk("master") + integer(0) + "*0\r\n"


def time(session: Session, _words: list[str]) -> str:
    """Answer TIME."""
    return array([str(session.now_ms // 1000), str(session.now_ms % 1000 * 1000)])


def cluster(_session: Session, _words: list[str]) -> str:
    """Answer CLUSTER."""
    return "-ERR This instance has cluster support disabled\r\n"


def save(session: Session, _words: list[str]) -> str:
    """Answer SAVE."""
    is_saved, said = _redis_saving.foreground(session.memory, session.disk, session.now_ms)
    session.said += said
    session.is_changed = True
    return OK if is_saved else "-ERR\r\n"


def save_aside(session: Session, _words: list[str]) -> str:
    """Answer BGSAVE."""
    session.said += _redis_saving.background(session.memory, session.disk, session.now_ms)
    session.is_changed = True
    return "+Background saving started\r\n"


def lastsave(session: Session, _words: list[str]) -> str:
    """Answer LASTSAVE."""
    return integer(_redis_saving.state(session.memory, session.started_ms).saved_ms // 1000)


def shutdown(session: Session, words: list[str]) -> str:
    """Answer SHUTDOWN, or end the server."""
    options = {word.lower() for word in words[1:]}
    if not options <= {"nosave", "save", "now", "force", "abort"} or {"nosave", "save"} <= options:
        return "-ERR syntax error\r\n"
    points = "" if "nosave" in options else session.setting("save")
    has_aof = session.setting("appendonly") == "yes"
    is_over, said = _redis_saving.shutdown(
        session.memory, points, session.disk, session.now_ms, has_aof=has_aof
    )
    session.said += said
    if is_over or "force" in options:
        session.ends = 0
        return ""
    return "-ERR Errors trying to SHUTDOWN. Check logs.\r\n"


def promoted(session: Session, words: list[str]) -> list[tuple[int, str]]:
    """Return what a replica logs when a client makes a master of it."""
    now_ms = session.now_ms
    before, after = (
        sha1(f"{what} {session.own_ip} {now_ms}".encode(), usedforsecurity=False).hexdigest() for what in "12"
    )
    return [
        (
            now_ms,
            f"M # Setting secondary replication ID to {before}, valid up to offset: 1. New replication ID is {after}",
        ),
        (now_ms, f"M * MASTER MODE enabled (user request from '{_shown_client(session, words)}')"),
    ]


def _shown_client(session: Session, words: list[str]) -> str:
    """Return a connection as CLIENT LIST has it. Source: redis 7.0 src/networking.c catClientInfoString."""
    size, held = len(encode(*words)), sum(map(len, words))
    name = words[0].lower() + (f"|{words[1].lower()}" if words[0].lower() in _WITH_SUBCOMMANDS else "")
    return (
        f"id=7 addr={session.source_ip}:43210 laddr={session.own_ip}:{session.setting('port')} fd=8 name= age=0 idle=0 flags=N"
        f" db={session.database} sub=0 psub=0 ssub=0 multi=-1 qbuf={size} qbuf-free={_QUERY_BYTES - size} argv-mem={held}"
        f" multi-mem=0 rbs=16384 rbp=16384 obl=0 oll=0 omem=0 tot-mem={_CLIENT_BYTES + 8 * len(words) + held} events=r cmd={name}"
        " user=default redir=-1 resp=2"
    )


_WITH_SUBCOMMANDS: Final = ("client", "config", "cluster", "memory", "object", "slowlog", "command", "acl")
_QUERY_BYTES: Final = 20_474
_CLIENT_BYTES: Final = 37_632
"""What a connection takes beside its command: of the recorded 7.0.15."""


def memory(session: Session, words: list[str]) -> str:
    """Answer MEMORY USAGE."""
    if words[1].lower() == "usage" and len(words) > 2:
        text = session.memory.get(session.key(words[2]))
        return NIL if text is None else integer(len(text) + 56)
    return bulk("")


def ok(_session: Session, _words: list[str]) -> str:
    """Answer with OK."""
    return OK


def debug(_session: Session, _words: list[str]) -> str:
    """Refuse DEBUG."""
    return (
        '-ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", you can run it from a local'
        " connection, otherwise you need to set this option in the configuration file, and then restart the server.\r\n"
    )


def slowlog(_session: Session, words: list[str]) -> str:
    """Answer SLOWLOG: nothing was slow."""
    return integer(0) if words[1].lower() == "len" else "*0\r\n"


def is_not_modelled(_session: Session, _words: list[str]) -> str:
    """Answer a command whose data type is not kept here."""
    return "-ERR syntax error\r\n"


def evalsha(_session: Session, _words: list[str]) -> str:
    """Answer EVALSHA: no script was loaded."""
    return "-NOSCRIPT No matching script. Please use EVAL.\r\n"


def rewrite(session: Session, _words: list[str]) -> str:
    """Answer BGREWRITEAOF."""
    if session.setting("appendonly") == "yes":
        keys = sum(slot[0].isdigit() for slot in session.memory)
        name = session.setting("appendfilename") or "appendonly.aof"
        session.said += _redis_saving.rewritten(session.memory, name, keys, session.now_ms)
        session.is_changed = True
    return "+Background append only file rewriting started\r\n"


def module(_session: Session, _words: list[str]) -> str:
    """Refuse MODULE."""
    return (
        '-ERR MODULE command not allowed. If the enable-module-command option is set to "local", you can run it from a local'
        " connection, otherwise you need to set this option in the configuration file, and then restart the server.\r\n"
    )
