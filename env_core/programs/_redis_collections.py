"""Redis commands on lists and hashes."""

from __future__ import annotations

from env_core.programs._redis_session import NIL, NOT_INTEGER, WRONGTYPE, Session, array, bulk, integer


def push(session: Session, words: list[str]) -> str:
    """LPUSH and RPUSH."""
    value = session.value(words[1])
    if value is not None and not isinstance(value, list):
        return WRONGTYPE
    items = value or []
    items = [*reversed(words[2:]), *items] if words[0].lower() == "lpush" else [*items, *words[2:]]
    session.put(words[1], items)
    return integer(len(items))


def pop(session: Session, words: list[str]) -> str:
    """LPOP and RPOP."""
    value = session.value(words[1])
    if value is None:
        return NIL
    if not isinstance(value, list):
        return WRONGTYPE
    item = value.pop(0 if words[0].lower() == "lpop" else -1)
    if value:
        session.put(words[1], value)
    else:
        session.drop(words[1])
    return bulk(item)


def llen(session: Session, words: list[str]) -> str:
    """LLEN."""
    value = session.value(words[1])
    return integer(len(value or [])) if value is None or isinstance(value, list) else WRONGTYPE


def lrange(session: Session, words: list[str]) -> str:
    """LRANGE."""
    value = session.value(words[1])
    if value is not None and not isinstance(value, list):
        return WRONGTYPE
    if not (words[2].lstrip("-").isdigit() and words[3].lstrip("-").isdigit()):
        return NOT_INTEGER
    start, end = int(words[2]), int(words[3])
    items = value or []
    stop = len(items) + end + 1 if end < 0 else end + 1
    return array(items[start if start >= 0 else max(len(items) + start, 0) : max(stop, 0)])


def hset(session: Session, words: list[str]) -> str:
    """HSET."""
    value = session.value(words[1])
    if value is not None and not isinstance(value, dict):
        return WRONGTYPE
    if len(words) % 2:
        return "-ERR wrong number of arguments for 'hset' command\r\n"
    fields = dict(value or {})
    before = len(fields)
    fields.update(zip(words[2::2], words[3::2]))
    session.put(words[1], fields)
    return integer(len(fields) - before)


def hget(session: Session, words: list[str]) -> str:
    """HGET."""
    value = session.value(words[1])
    if value is not None and not isinstance(value, dict):
        return WRONGTYPE
    found = (value or {}).get(words[2])
    return NIL if found is None else bulk(found)


def hgetall(session: Session, words: list[str]) -> str:
    """HGETALL."""
    value = session.value(words[1])
    if value is not None and not isinstance(value, dict):
        return WRONGTYPE
    return array([part for pair in (value or {}).items() for part in pair])
