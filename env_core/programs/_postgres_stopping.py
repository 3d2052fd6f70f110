"""What signals make a Postgres server do, and what it logs.

Source: postgres 15 src/backend/postmaster/postmaster.c; tests/golden/programs/postgres (postgres.ok.*, postgres.reload.bad).
"""

from __future__ import annotations

from typing import Final

from env_core.programs._model import Line, Signalled
from env_core.programs._postgres_config import Read
from env_core.programs._postgres_serving import stamp

_KINDS: Final = {"TERM": "smart", "INT": "fast", "QUIT": "immediate"}
_CHECKPOINT: Final = (
    "wrote 3 buffers (0.0%); 0 WAL file(s) added, 0 removed, 0 recycled; write=0.002 s, sync=0.001 s, total=0.006 s; sync files=2,"
    " longest=0.001 s, average=0.001 s; distance=0 kB, estimate=0 kB"
)


def signalled(name: str, at_ms: int, read: Read, path: str) -> Signalled | None:
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
    if kind == "fast":
        told.append("[1] LOG:  aborting any active transactions")
    if kind != "immediate":
        told += [
            '[1] LOG:  background worker "logical replication launcher" (PID 32) exited with exit code 1',
            "[27] LOG:  shutting down", "[27] LOG:  checkpoint starting: shutdown immediate",
            f"[27] LOG:  checkpoint complete: {_CHECKPOINT}",
        ]  # fmt: skip
    told.append("[1] LOG:  database system is shut down")
    return Signalled(log=_lines(told, at_ms), code=0)


def _lines(texts: list[str], at_ms: int) -> tuple[Line, ...]:
    return tuple(Line(at_ms, f"{stamp(at_ms)} {text}", "stderr") for text in texts)
