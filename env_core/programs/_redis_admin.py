"""Redis commands about the server itself: configuration, clients, information."""

from __future__ import annotations

import fnmatch

from env_core.programs import _redis_config
from env_core.programs._redis_session import NIL, OK, Session, array, bulk, integer


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


def client(_session: Session, words: list[str]) -> str:
    """Answer CLIENT."""
    action = words[1].lower()
    if action in ("setname", "setinfo", "no-evict", "no-touch", "reply"):
        return OK
    if action == "getname":
        return NIL
    if action == "id":
        return integer(7)
    if action == "list":
        return bulk("")
    if action == "kill":
        return "-ERR No such client\r\n"
    return f"-ERR unknown subcommand '{words[1]}'. Try CLIENT HELP.\r\n"


def role(_session: Session, _words: list[str]) -> str:
    """Answer ROLE: a master without replicas."""
    return "*3\r\n" + bulk("master") + integer(0) + "*0\r\n"


def time(session: Session, _words: list[str]) -> str:
    """Answer TIME."""
    return array([str(session.now_ms // 1000), str(session.now_ms % 1000 * 1000)])


def cluster(_session: Session, _words: list[str]) -> str:
    """Answer CLUSTER."""
    return "-ERR This instance has cluster support disabled\r\n"


def save(_session: Session, words: list[str]) -> str:
    """Answer SAVE and BGSAVE."""
    return OK if words[0].lower() == "save" else "+Background saving started\r\n"


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


def rewrite(_session: Session, _words: list[str]) -> str:
    """Answer BGREWRITEAOF."""
    return "+Background append only file rewriting started\r\n"


def module(_session: Session, _words: list[str]) -> str:
    """Refuse MODULE."""
    return (
        '-ERR MODULE command not allowed. If the enable-module-command option is set to "local", you can run it from a local'
        " connection, otherwise you need to set this option in the configuration file, and then restart the server.\r\n"
    )
