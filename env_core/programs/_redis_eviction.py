"""Memory of a redis-server against its limit: what a command needs, and which keys go to make room for it.

Source: redis 7.0 src/evict.c (performEvictions), src/networking.c (processMultibulkBuffer: a large argument is read into a buffer
of its own, and a new one made beside it); size classes of jemalloc 5; tests/golden/programs/redis (redis.oom, redis.evict).
The order is that of the keys' first writes, where the real server takes the oldest of a sample.
"""

from __future__ import annotations

from typing import Final

from env_core.programs import _redis_config
from env_core.programs._redis_session import DATA_BASE, Session

_OOM: Final = "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
_BASE: Final = 896_900
"""What a server with one client uses before it holds any key."""
_TABLE: Final = 200
"""What the table of keys takes, once there was one."""
_BIG_BYTES: Final = 32 * 1024


def refusal(session: Session, words: list[str]) -> str:
    """Return the reply to a command for which there is no memory; "" when there is, or after making room."""
    given = session.setting("maxmemory")
    limit = 0 if given == "0" else _redis_config.memory_bytes(given) or 0
    if not limit:
        return ""
    read = sum(2 * _size_class(len(word) + 12) for word in words if len(word) >= _BIG_BYTES)
    policy = session.setting("maxmemory-policy")
    while True:
        held = session.used_bytes() - DATA_BASE
        has_table = held or "evicted" in session.memory
        if _BASE + held + (_TABLE if has_table else 0) + read <= limit:
            return ""
        name = None if policy == "noeviction" else _victim(session, policy)
        if name is None:
            return _OOM
        session.drop(name)
        session.memory["evicted"] = str(int(session.memory.get("evicted", "0")) + 1)


def _victim(session: Session, policy: str) -> str | None:
    """Return the key that goes first; None when none may go."""
    names = session.names()
    if policy.startswith("volatile-"):
        names = [name for name in names if f"expires {session.key(name)}" in session.memory]
    if policy == "volatile-ttl":
        names.sort(key=lambda name: int(session.memory[f"expires {session.key(name)}"]))
    return names[0] if names else None


def _size_class(size: int) -> int:
    """Return what the allocator gives for a size: four classes to each doubling."""
    step = (1 << (size - 1).bit_length()) // 8
    return -(-size // step) * step
