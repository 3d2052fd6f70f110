"""yes: repeats a line, as often as a reader could want."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_SIZE = 64 * 1024
"""How much is written before the reader is taken to have enough."""


def _run(process: Process, argv: list[str]) -> Output:
    line = " ".join(argv[1:] or ["y"]) + "\n"
    return Output(line * max(_SIZE // len(line), 1), "", 141)


BUILTIN = Builtin(name="yes", run=_run, source="GNU coreutils 9.1 yes; ended by SIGPIPE")
