"""false: fails."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    return Output(exit_code=1)


BUILTIN = Builtin(name="false", run=_run, source="dash 0.5.12 false", in_shell=True)
