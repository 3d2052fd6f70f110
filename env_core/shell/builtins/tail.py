"""tail: the last lines or bytes."""

from __future__ import annotations

import re

from env_core.shell._ends import cut_files
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    """Print ends of files; `-f` prints what is there and ends, as nothing else writes meanwhile."""
    if len(argv) > 1 and re.fullmatch(r"\+\d+", argv[1], re.ASCII):
        argv = [argv[0], f"-n{argv[1]}", *argv[2:]]
    return cut_files(
        process,
        argv,
        name="tail",
        sign="+",
        lines=_lines,
        octets=_bytes,
        problem=_problem,
        short="fFs:",
        long={"follow=?": "f", "retry": "F"},
    )


def _problem(process: Process, name: str, reason: str) -> str:
    if reason == "Is a directory":
        return (
            f"tail: read error: {reason}\n"
            if process.is_busybox
            else f"tail: error reading '{name}': {reason}\n"
        )
    if process.is_busybox:
        return f"tail: can't open '{name}': {reason}\ntail: no files\n"
    return f"tail: cannot open '{name}' for reading: {reason}\n"


def _lines(text: str, count: int, from_start: bool) -> str:
    pieces = re.findall(r"[^\n]*\n|[^\n]+", text)
    if from_start:
        return "".join(pieces[max(count - 1, 0) :])
    return "".join(pieces[-count:]) if count else ""


def _bytes(text: str, count: int, from_start: bool) -> str:
    encoded = text.encode("utf-8", "surrogateescape")
    if from_start:
        return encoded[max(count - 1, 0) :].decode("utf-8", "replace")
    return encoded[-count:].decode("utf-8", "replace") if count else ""


BUILTIN = Builtin(name="tail", run=_run, source="GNU coreutils 9.1 tail; tests/golden/programs/shell 118-120")
