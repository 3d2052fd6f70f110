"""What signals make nginx's master process do and log.

Source: tests/golden/programs/nginx (nginx.ok.*, nginx.worker.killed); nginx src/os/unix/ngx_process_cycle.c.
"""

from __future__ import annotations

from typing import Final

from env_core.programs._http import slash_date
from env_core.programs._model import Line, Signalled

_NUMBERS: Final = {"TERM": 15, "INT": 2, "QUIT": 3, "HUP": 1, "USR1": 10, "WINCH": 28}
LEVELS: Final = ("emerg", "alert", "crit", "error", "warn", "notice", "info", "debug")


def logs(level: str, wanted: str) -> bool:
    """Whether an error log of some level holds messages of another."""
    return LEVELS.index(wanted) <= LEVELS.index(level if level in LEVELS else "error")


def signalled(name: str, at_ms: int, level: str, workers: range) -> Signalled | None:
    """Return what a signal does to a master with some workers; None for signals that it leaves to the system."""
    number = _NUMBERS.get(name)
    if number is None:
        return None
    words = {
        "HUP": "reconfiguring",
        "QUIT": "shutting down",
        "USR1": "reopening logs",
        "WINCH": "shutting down workers",
    }
    texts = [f"1#1: signal {number} (SIG{name}) received, {words.get(name, 'exiting')}"]
    ends = name in ("TERM", "INT", "QUIT")
    if name == "HUP":
        texts += ["1#1: reconfiguring", '1#1: using the "epoll" event method', "1#1: start worker processes"]
        texts += [f"1#1: start worker process {pid + len(workers)}" for pid in workers]
    if name == "USR1":
        texts.append("1#1: reopening logs")
    if name in ("HUP", "QUIT", "WINCH"):
        texts += [f"{pid}#{pid}: gracefully shutting down" for pid in workers]
    if name != "USR1":
        for what in ("exiting", "exit"):
            texts += [f"{pid}#{pid}: {what}" for pid in workers]
        for pid in workers:
            texts += [
                f"1#1: signal 17 (SIGCHLD) received from {pid}", f"1#1: worker process {pid} exited with code 0",
            ]  # fmt: skip
    if ends:
        texts.append("1#1: exit")
    elif name == "HUP":
        texts.append("1#1: signal 29 (SIGIO) received")
    return Signalled(log=_lines(texts, at_ms, level, "notice"), code=0 if ends else None)


def worker_killed(pid: int, at_ms: int, level: str) -> tuple[Line, ...]:
    """Return what the master logs when a worker is killed (as by the kernel for want of memory), and starts another."""
    return (
        *_lines([f"1#1: signal 17 (SIGCHLD) received from {pid}"], at_ms, level, "notice"),
        *_lines([f"1#1: worker process {pid} exited on signal 9"], at_ms, level, "alert"),
        *_lines([f"1#1: start worker process {pid + 1}"], at_ms, level, "notice"),
    )


def _lines(texts: list[str], at_ms: int, level: str, of: str) -> tuple[Line, ...]:
    if not logs(level, of):
        return ()
    return tuple(Line(at_ms, f"{slash_date(at_ms)} [{of}] {text}", "stderr") for text in texts)
