"""head: the first lines or bytes."""

from __future__ import annotations

import re

from env_core.shell._ends import cut_files
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    return cut_files(process, argv, name="head", sign="-", lines=_lines, octets=_bytes, problem=_problem)


def _problem(process: Process, name: str, reason: str) -> str:
    if reason == "Is a directory":
        return f"head: error reading '{name}': {reason}\n"
    if process.is_busybox:
        return f"head: {name}: {reason}\n"
    return f"head: cannot open '{name}' for reading: {reason}\n"


def _lines(text: str, count: int, from_end: bool) -> str:
    if not from_end:
        position = -1
        for _ in range(count):
            position = text.find("\n", position + 1)
            if position == -1:
                return text
        return text[: position + 1]
    pieces = re.findall(r"[^\n]*\n|[^\n]+", text)
    return "".join(pieces[: max(len(pieces) - count, 0)])


def _bytes(text: str, count: int, from_end: bool) -> str:
    encoded = text.encode("utf-8", "surrogateescape")
    kept = encoded[: max(len(encoded) - count, 0)] if from_end else encoded[:count]
    return kept.decode("utf-8", "replace")


BUILTIN = Builtin(
    name="head", run=_run, source="GNU coreutils 9.1 head; tests/golden/programs/shell 116, 117"
)
