"""What signals make a Postgres server do, and what it logs.

Source: postgres 15 src/backend/postmaster/postmaster.c; tests/golden/programs/postgres (postgres.ok.*, postgres.reload.bad,
postgres.shuttingdown, postgres.standby*, postgres.diskfull).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.programs import _postgres_sessions as sessions
from env_core.programs._model import Line, Signalled
from env_core.programs._postgres_config import Read
from env_core.programs._postgres_crashing import CRASHED
from env_core.programs._postgres_login import stamp

STOPPING: Final = "stopping"
"""Under what a server remembers that it waits for its sessions to end."""
_KINDS: Final = {"TERM": "smart", "INT": "fast", "QUIT": "immediate"}
_CHECKPOINT: Final = (
    "wrote 3 buffers (0.0%); 0 WAL file(s) added, 0 removed, 0 recycled; write=0.002 s, sync=0.001 s, total=0.006 s; sync files=2,"
    " longest=0.001 s, average=0.001 s; distance=0 kB, estimate=0 kB"
)
_OVER: Final = "[1] LOG:  database system is shut down"


def signalled(
    name: str, at_ms: int, read: Read, path: str, memory: Mapping[str, str], *, is_standby: bool
) -> Signalled | None:
    """Return what a signal does; `read` is the configuration as its file has it now."""
    if name == "HUP":
        texts = ["received SIGHUP, reloading configuration files"]
        told = [f"[1] LOG:  {texts[0]}", *(f"[1] {each.text}" for each in read.problems)]
        if read.problems:
            outcome = (
                "no changes were applied" if read.problems[0].is_early else "unaffected changes were applied"
            )
            told.append(f'[1] LOG:  configuration file "{path}" contains errors; {outcome}')
        return Signalled(log=_lines(told, at_ms))
    kind = _KINDS.get(name)
    if kind is None:
        return None
    told = [f"[1] LOG:  received {kind} shutdown request"]
    if CRASHED in memory:
        return Signalled(
            log=_lines([*told, "[1] LOG:  abnormal database system shutdown", _OVER], at_ms), code=1
        )
    open_now = sessions.sessions_of(memory)
    if kind == "smart" and open_now:
        return Signalled(log=_lines(told, at_ms), memory={**memory, STOPPING: kind})
    left = dict(memory)
    if kind == "fast":
        told.append("[1] LOG:  aborting any active transactions")
        for session in open_now:
            told.append(f"[{session.pid}] FATAL:  terminating connection due to administrator command")
            if session.state == sessions.ACTIVE:
                told.append(f"[{session.pid}] STATEMENT:  {session.query}")
            left = sessions.with_session(left, session._replace(order=sessions.GONE))
    if kind != "immediate":
        told += ["[27] LOG:  shutting down"] if is_standby else [
            '[1] LOG:  background worker "logical replication launcher" (PID 32) exited with exit code 1',
            "[27] LOG:  shutting down", "[27] LOG:  checkpoint starting: shutdown immediate",
            f"[27] LOG:  checkpoint complete: {_CHECKPOINT}",
        ]  # fmt: skip
    return Signalled(log=_lines([*told, _OVER], at_ms), code=0, memory=left if open_now else None)


def _lines(texts: list[str], at_ms: int) -> tuple[Line, ...]:
    return tuple(Line(at_ms, f"{stamp(at_ms)} {text}", "stderr") for text in texts)
