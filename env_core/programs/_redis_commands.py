"""Redis commands on data: strings, keys and their expiry; and the table of all commands."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Final

from env_core.programs import _redis_admin as admin
from env_core.programs import _redis_collections as collections
from env_core.programs import _redis_transactions as transactions
from env_core.programs._redis_eviction import refusal
from env_core.programs._redis_lifecycle import PROTECTED, is_replica, write_problem
from env_core.programs._redis_saving import denial
from env_core.programs._redis_session import (
    BROKEN,
    NIL,
    NOAUTH,
    NOT_INTEGER,
    OK,
    WRONGTYPE,
    Session,
    array,
    bulk,
    integer,
)

Command = Callable[[Session, list[str]], str]


def run(session: Session, words: list[str]) -> str:
    """Run one command and return the reply as RESP.

    Source: tests/golden/programs/redis (command_errors, auth, healthy).
    """
    if words[0] == BROKEN:
        return f"-ERR Protocol error: expected '$', got '{words[1]}'\r\n"
    if session.is_refused:
        return PROTECTED
    name = words[0].lower()
    name = next(
        (old for old, new in session.renamed if new == name), name if _keeps_name(session, name) else ""
    )
    problem = _problem(session, name, words)
    if problem:
        session.is_queue_broken = session.queue is not None
        return problem
    if session.queue is not None and name not in transactions.AT_ONCE:
        session.queue.append([name, *words[1:]])
        return "+QUEUED\r\n"
    return _COMMANDS[name][3](session, words)


def _problem(session: Session, name: str, words: list[str]) -> str:
    """Return why a command is not run, "" when it is. Source: redis 7.0 src/server.c processCommand."""
    found = _COMMANDS.get(name)
    if found is None:
        shown = "".join(f"'{word}' " for word in words[1:])
        return f"-ERR unknown command '{words[0]}', with args beginning with: {shown}\r\n"
    least, most, is_growing, _ = found
    if not least <= len(words) - 1 <= most:
        return f"-ERR wrong number of arguments for '{name}' command\r\n"
    setting = session.setting
    if (
        setting("requirepass")
        and not session.is_authenticated
        and name not in ("auth", "hello", "quit", "reset")
    ):
        return NOAUTH
    if is_growing:
        problem = refusal(session, words)
        if problem:
            return problem
    if is_growing or name in _CHANGING:
        problem = denial(session.memory, setting) or write_problem(setting, session.memory)
        if problem:
            return problem
    elif name == "ping":
        problem = denial(session.memory, setting)
        if problem:
            return problem
    if session.is_loading and name not in _WHILE_LOADING:
        return "-LOADING Redis is loading the dataset in memory\r\n"
    return ""


def _execute(session: Session, words: list[str]) -> str:
    return transactions.execute(session, words, lambda queued: _COMMANDS[queued[0]][3](session, queued))


_CHANGING: Final = ("del", "unlink", "lpop", "rpop", "flushall", "flushdb", "expire", "persist")
"""Commands that change data and never need more memory."""
_WHILE_LOADING: Final = (
        "auth", "hello", "quit", "reset", "select", "info", "config", "client", "command", "shutdown", "lastsave", "slowlog",
        "time", "multi", "exec", "discard", "watch", "unwatch", "subscribe", "role", "replicaof", "module",
)  # fmt: skip
"""Source: redis 7.0 src/commands (CMD_LOADING)."""


def _keeps_name(session: Session, name: str) -> bool:
    return all(old != name for old, _ in session.renamed)


def _ping(_session: Session, words: list[str]) -> str:
    return bulk(words[1]) if len(words) > 1 else "+PONG\r\n"


def _replicaof(session: Session, words: list[str]) -> str:
    """Make a master of a replica ("no one"), or a replica again."""
    if [word.lower() for word in words[1:]] == ["no", "one"]:
        if is_replica(session.setting, session.memory):
            session.said += admin.promoted(session, words)
        session.memory["promoted"] = "1"
    else:
        session.memory.pop("promoted", None)
        session.memory["config replicaof"] = f"{words[1]} {words[2]}"
    session.is_changed = True
    return OK


def _echo(_session: Session, words: list[str]) -> str:
    return bulk(words[1])


def _auth(session: Session, words: list[str]) -> str:
    user, password = (words[1], words[2]) if len(words) > 2 else ("default", words[1])
    wanted = session.setting("requirepass")
    if len(words) == 2 and not wanted:
        return (
            "-ERR AUTH <password> called without any password configured for the default user."
            " Are you sure your configuration is correct?\r\n"
        )
    if user == "default" and (password == wanted or not wanted):
        session.is_authenticated = True
        return OK
    return "-WRONGPASS invalid username-password pair or user is disabled.\r\n"


def _select(session: Session, words: list[str]) -> str:
    if not words[1].lstrip("-").isdigit():
        return NOT_INTEGER
    number = int(words[1])
    if not 0 <= number < int(session.setting("databases") or "16"):
        return "-ERR DB index is out of range\r\n"
    session.database = number
    return OK


def _get(session: Session, words: list[str]) -> str:
    value = session.value(words[1])
    if value is None:
        return NIL
    return bulk(value) if isinstance(value, str) else WRONGTYPE


def _set(session: Session, words: list[str]) -> str:
    options = [word.upper() for word in words[3:]]
    expires_ms: int | None = None
    position = 0
    while position < len(options):
        option = options[position]
        if option in ("EX", "PX") and position + 1 < len(options):
            if not words[3 + position + 1].lstrip("-").isdigit():
                return NOT_INTEGER
            amount = int(words[3 + position + 1])
            if amount <= 0:
                return "-ERR invalid expire time in 'set' command\r\n"
            expires_ms = session.now_ms + amount * (1000 if option == "EX" else 1)
            position += 2
        elif option in ("NX", "XX", "KEEPTTL"):
            exists = session.value(words[1]) is not None
            if (option == "NX" and exists) or (option == "XX" and not exists):
                return NIL
            position += 1
        else:
            return "-ERR syntax error\r\n"
    session.put(words[1], words[2])
    slot = f"expires {session.key(words[1])}"
    if expires_ms is not None:
        session.memory[slot] = str(expires_ms)
    elif "KEEPTTL" not in options:
        session.memory.pop(slot, None)
    return OK


def _setex(session: Session, words: list[str]) -> str:
    if not words[2].lstrip("-").isdigit():
        return NOT_INTEGER
    if int(words[2]) <= 0:
        return "-ERR invalid expire time in 'setex' command\r\n"
    return _set(session, ["set", words[1], words[3], "EX", words[2]])


def _delete(session: Session, words: list[str]) -> str:
    return integer(sum(session.value(name) is not None and session.drop(name) for name in words[1:]))


def _exists(session: Session, words: list[str]) -> str:
    return integer(sum(session.value(name) is not None for name in words[1:]))


def _add(session: Session, name: str, amount: int) -> str:
    value = session.value(name)
    if value is None:
        value = "0"
    if not isinstance(value, str):
        return WRONGTYPE
    if not value.lstrip("-").isdigit():
        return NOT_INTEGER
    total = int(value) + amount
    session.put(name, str(total))
    return integer(total)


def _incr(session: Session, words: list[str]) -> str:
    return _add(session, words[1], 1)


def _decr(session: Session, words: list[str]) -> str:
    return _add(session, words[1], -1)


def _incrby(session: Session, words: list[str]) -> str:
    return _add(session, words[1], int(words[2])) if words[2].lstrip("-").isdigit() else NOT_INTEGER


def _append(session: Session, words: list[str]) -> str:
    value = session.value(words[1])
    if value is not None and not isinstance(value, str):
        return WRONGTYPE
    session.put(words[1], (value or "") + words[2])
    return integer(len((value or "") + words[2]))


def _strlen(session: Session, words: list[str]) -> str:
    value = session.value(words[1])
    return integer(len(value or "")) if value is None or isinstance(value, str) else WRONGTYPE


def _keys(session: Session, words: list[str]) -> str:
    return array([name for name in session.names() if fnmatch.fnmatchcase(name, words[1])])


def _scan(session: Session, words: list[str]) -> str:
    pattern = next((words[at + 1] for at, word in enumerate(words[:-1]) if word.lower() == "match"), "*")
    names = [name for name in session.names() if fnmatch.fnmatchcase(name, pattern)]
    return "*2\r\n" + bulk("0") + array(names)


def _dbsize(session: Session, _words: list[str]) -> str:
    return integer(len(session.names()))


def _flush(session: Session, words: list[str]) -> str:
    for slot in list(session.memory):
        head = slot.partition(" ")[0]
        if head == "expires" or (
            head.isdigit() and (words[0].lower() == "flushall" or head == str(session.database))
        ):
            del session.memory[slot]
    session.is_changed = True
    return OK


def _type(session: Session, words: list[str]) -> str:
    value = session.value(words[1])
    kind = (
        "none"
        if value is None
        else "string"
        if isinstance(value, str)
        else "list"
        if isinstance(value, list)
        else "hash"
    )
    return f"+{kind}\r\n"


def _ttl(session: Session, words: list[str]) -> str:
    if session.value(words[1]) is None:
        return integer(-2)
    expires = session.memory.get(f"expires {session.key(words[1])}")
    if expires is None:
        return integer(-1)
    left_ms = int(expires) - session.now_ms
    return integer(left_ms if words[0].lower() == "pttl" else (left_ms + 500) // 1000)


def _expire(session: Session, words: list[str]) -> str:
    if not words[2].lstrip("-").isdigit():
        return NOT_INTEGER
    if session.value(words[1]) is None:
        return integer(0)
    session.memory[f"expires {session.key(words[1])}"] = str(session.now_ms + int(words[2]) * 1000)
    session.is_changed = True
    return integer(1)


def _persist(session: Session, words: list[str]) -> str:
    session.is_changed = True
    return integer(int(session.memory.pop(f"expires {session.key(words[1])}", None) is not None))


def _rename(session: Session, words: list[str]) -> str:
    value = session.value(words[1])
    if value is None:
        return "-ERR no such key\r\n"
    session.drop(words[1])
    session.put(words[2], value)
    return OK


def _getrange(session: Session, words: list[str]) -> str:
    if not (words[2].lstrip("-").isdigit() and words[3].lstrip("-").isdigit()):
        return NOT_INTEGER
    value = session.value(words[1])
    if value is not None and not isinstance(value, str):
        return WRONGTYPE
    text, start, end = value or "", int(words[2]), int(words[3])
    return bulk(
        text[start if start >= 0 else max(len(text) + start, 0) : (len(text) + end if end < 0 else end) + 1]
    )


def _move(session: Session, words: list[str]) -> str:
    if not words[2].isdigit():
        return NOT_INTEGER
    if int(words[2]) >= int(session.setting("databases") or "16"):
        return "-ERR DB index is out of range\r\n"
    return integer(0)


def _object(session: Session, words: list[str]) -> str:
    value = session.value(words[-1])
    if value is None:
        return NIL
    return (
        bulk("embstr" if isinstance(value, str) else "listpack")
        if words[1].lower() == "encoding"
        else integer(1)
    )


def _geoadd(_session: Session, _words: list[str]) -> str:
    return "-ERR value is not a valid float\r\n"


def _command(_session: Session, words: list[str]) -> str:
    return integer(len(_COMMANDS)) if len(words) > 1 and words[1].lower() == "count" else "*0\r\n"


def _mget(session: Session, words: list[str]) -> str:
    values = [session.value(name) for name in words[1:]]
    return f"*{len(values)}\r\n" + "".join(bulk(value) if isinstance(value, str) else NIL for value in values)


def _mset(session: Session, words: list[str]) -> str:
    if len(words) % 2 == 0:
        return "-ERR wrong number of arguments for 'mset' command\r\n"
    for name, value in zip(words[1::2], words[2::2]):
        session.put(name, value)
    return OK


_MANY: Final = 1 << 20
_COMMANDS: Final[dict[str, tuple[int, int, bool, Command]]] = {
    "ping": (0, 1, False, _ping), "echo": (1, 1, False, _echo), "auth": (1, 2, False, _auth),
    "select": (1, 1, False, _select), "get": (1, 1, False, _get), "set": (2, _MANY, True, _set),
    "setex": (3, 3, True, _setex), "del": (1, _MANY, False, _delete), "unlink": (1, _MANY, False, _delete),
    "exists": (1, _MANY, False, _exists), "incr": (1, 1, True, _incr), "decr": (1, 1, True, _decr),
    "incrby": (2, 2, True, _incrby), "append": (2, 2, True, _append), "strlen": (1, 1, False, _strlen),
    "lpush": (2, _MANY, True, collections.push), "rpush": (2, _MANY, True, collections.push), "lpop": (1, 2, False, collections.pop),
    "rpop": (1, 2, False, collections.pop), "llen": (1, 1, False, collections.llen), "lrange": (3, 3, False, collections.lrange),
    "hset": (3, _MANY, True, collections.hset), "hget": (2, 2, False, collections.hget), "hgetall": (1, 1, False, collections.hgetall),
    "keys": (1, 1, False, _keys), "scan": (1, _MANY, False, _scan), "dbsize": (0, 0, False, _dbsize),
    "flushall": (0, 1, False, _flush), "flushdb": (0, 1, False, _flush), "type": (1, 1, False, _type),
    "ttl": (1, 1, False, _ttl), "pttl": (1, 1, False, _ttl), "expire": (2, 3, False, _expire),
    "persist": (1, 1, False, _persist), "rename": (2, 2, True, _rename), "info": (0, _MANY, False, admin.info),
    "config": (1, _MANY, False, admin.config), "client": (1, _MANY, False, admin.client), "role": (0, 0, False, admin.role),
    "time": (0, 0, False, admin.time), "cluster": (1, _MANY, False, admin.cluster), "save": (0, 0, False, admin.save),
    "bgsave": (0, 1, False, admin.save_aside), "shutdown": (0, 4, False, admin.shutdown), "multi": (0, 0, False, transactions.begin),
    "exec": (0, 0, False, _execute), "discard": (0, 0, False, transactions.discard), "watch": (1, _MANY, False, admin.ok),
    "unwatch": (0, 0, False, admin.ok), "memory": (1, _MANY, False, admin.memory), "command": (0, _MANY, False, _command),
    "quit": (0, _MANY, False, admin.ok), "debug": (1, _MANY, False, admin.debug), "slowlog": (1, 2, False, admin.slowlog),
    "getrange": (3, 3, False, _getrange), "move": (2, 2, True, _move), "object": (1, _MANY, False, _object),
    "geoadd": (4, _MANY, True, _geoadd), "xadd": (4, _MANY, True, admin.is_not_modelled), "eval": (2, _MANY, False, admin.is_not_modelled),
    "evalsha": (2, _MANY, False, admin.evalsha), "replicaof": (2, 2, False, _replicaof), "subscribe": (1, _MANY, False, admin.is_not_modelled),
    "bgrewriteaof": (0, 0, False, admin.rewrite), "module": (1, _MANY, False, admin.module),
    "mget": (1, _MANY, False, _mget), "mset": (2, _MANY, True, _mset), "lastsave": (0, 0, False, admin.lastsave),
}  # fmt: skip
