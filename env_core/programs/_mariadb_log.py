"""The error log of a MariaDB server: times, levels, threads.

Source: MariaDB/server sql/log.cc (print_buffer_to_file); shared oracle `programs/README.md` (`%k`: the hour is padded with a blank).
"""

from __future__ import annotations

from typing import NamedTuple

from env_core.programs._http import moment
from env_core.programs._model import Line

NOTE, WARNING, ERROR = "Note", "Warning", "ERROR"


class Said(NamedTuple):
    """One message of the log; without a level it is printed as it is."""

    text: str
    level: str = NOTE
    thread: int = 0


def stamp(at_ms: int) -> str:
    """Return a time as the log has it."""
    at = moment(at_ms)
    return f"{at:%Y-%m-%d} {at.hour:2d}:{at:%M:%S}"


def short_stamp(at_ms: int) -> str:
    """Return a time as InnoDB, and the report of a crash, have it."""
    at = moment(at_ms)
    return f"{at:%y%m%d} {at.hour:2d}:{at:%M:%S}"


def line(said: Said, at_ms: int, shown_ms: int) -> Line:
    """Return a line at a time of a log, with the moment that it shows."""
    if not said.level:
        return Line(at_ms, said.text, "stderr")
    return Line(at_ms, f"{stamp(shown_ms)} {said.thread} [{said.level}] {said.text}", "stderr")


def lines(said: tuple[Said, ...], at_ms: int) -> tuple[Line, ...]:
    """Return lines of a running server."""
    return tuple(line(each, at_ms, at_ms) for each in said)
