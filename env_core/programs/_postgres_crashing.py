"""What becomes of a Postgres server whose disk fills under a statement: it crashes, recovers, and finds no space again.

Source: postgres 15 src/backend/postmaster/postmaster.c; tests/golden/programs/postgres (postgres.diskfull). How long each
step takes is our choice, but for the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.programs._model import Line, Reply, Served, Upstream
from env_core.programs._postgres_filling import NO_SPACE
from env_core.programs._postgres_login import Refusal, stamp
from env_core.programs._postgres_wire import ERROR, SESSION

CRASHED: Final = "crashed at"
_INTERRUPTED_MS: Final = 4
_RECOVERING_MS: Final = 14
_REDONE_MS: Final = 16
_FAILED_MS: Final = 60
_GONE_MS: Final = 5_060
"""The postmaster gives its children five seconds (SIGKILL_CHILDREN_AFTER_SECS)."""


def is_too_much(wal_bytes: int, free_bytes: int | None) -> bool:
    """Whether a statement's rows, and the log of them, find no space."""
    return free_bytes is not None and 2 * wal_bytes > free_bytes


def panicked(upstream: Upstream, pid: int, statement: str, before: tuple[Line, ...]) -> Served:
    """Crash: the log's writer finds no space, and with it all sessions end."""
    at_ms = upstream.now_ms
    memory = {
        key: text for key, text in upstream.state().items() if not key.startswith(("session ", "pool "))
    }
    upstream.remember({**memory, CRASHED: str(at_ms)})
    problem = f'could not write to file "pg_wal/xlogtemp.{pid}": {NO_SPACE}'
    startup = pid + 6
    told = (
        (0, pid, f"PANIC:  {problem}"),
        (0, pid, f"STATEMENT:  {statement}"),
        (2, 1, f"LOG:  server process (PID {pid}) was terminated by signal 6: Aborted"),
        (2, 1, f"DETAIL:  Failed process was running: {statement}"),
        (2, 1, "LOG:  terminating any other active server processes"),
        (3, 1, "LOG:  all server processes terminated; reinitializing"),
        (_INTERRUPTED_MS, startup, f"LOG:  database system was interrupted; last known up at {stamp(at_ms)[:-8]} UTC"),
        (_RECOVERING_MS, startup, "LOG:  database system was not properly shut down; automatic recovery in progress"),
        (_RECOVERING_MS, startup, "LOG:  redo starts at 0/1A5B8E0"),
        (
            _REDONE_MS, startup,
            "LOG:  redo done at 0/3FFFFA8 system usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.00 s",
        ),
        (_FAILED_MS, startup, f'FATAL:  could not write to file "pg_wal/xlogtemp.{startup}": {NO_SPACE}'),
        (_FAILED_MS, 1, f"LOG:  startup process (PID {startup}) exited with exit code 1"),
        (_FAILED_MS, 1, "LOG:  terminating any other active server processes"),
        (_GONE_MS, 1, "LOG:  shutting down due to startup process failure"),
        (_GONE_MS, 1, "LOG:  database system is shut down"),
    )  # fmt: skip
    log = tuple(
        Line(at_ms + late_ms, f"{stamp(at_ms + late_ms)} [{process}] {text}", "stderr") for late_ms, process, text in told
    )  # fmt: skip
    reply = Reply(
        body=f"PANIC:  {problem}", headers=((SESSION, ""), (ERROR, '[0, "", "", ""]')), latency_ms=3
    )
    return Served(reply=reply, log=(*before, *log), cpu_ms=1, ends=1, ends_after_ms=_GONE_MS)


def refusal(memory: Mapping[str, str], now_ms: int) -> Refusal | None:
    """Return what a crashed server says to who wants in."""
    crashed = memory.get(CRASHED)
    if crashed is None:
        return None
    if now_ms - int(crashed) < _RECOVERING_MS:
        return Refusal("the database system is in recovery mode")
    detail = "Consistent recovery state has not been yet reached."
    return Refusal("the database system is not yet accepting connections", (detail,), is_shown=True)
