"""Transactions of Redis: commands that are queued, and run together or not at all.

Source: redis 7.0 src/multi.c; tests/golden/programs/redis (redis.err.commands).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from env_core.programs._redis_session import OK, Session

AT_ONCE: Final = ("exec", "discard", "multi", "watch", "quit", "reset")
"""Commands that a transaction does not queue."""


def begin(session: Session, _words: list[str]) -> str:
    """MULTI."""
    if session.queue is not None:
        return "-ERR MULTI calls can not be nested\r\n"
    session.queue, session.is_queue_broken = [], False
    return OK


def discard(session: Session, _words: list[str]) -> str:
    """DISCARD."""
    if session.queue is None:
        return "-ERR DISCARD without MULTI\r\n"
    session.queue = None
    return OK


def execute(session: Session, _words: list[str], run: Callable[[list[str]], str]) -> str:
    """EXEC; `run` runs a queued command."""
    if session.queue is None:
        return "-ERR EXEC without MULTI\r\n"
    queued, session.queue = session.queue, None
    if session.is_queue_broken:
        return "-EXECABORT Transaction discarded because of previous errors.\r\n"
    return f"*{len(queued)}\r\n" + "".join(run(words) for words in queued)
