"""tac: lines in reverse order."""

from __future__ import annotations

import re

from env_core.shell._inputs import read_inputs
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    error = "tac: failed to open '{name}' for reading: {reason}"
    texts, problems = read_inputs(process, argv[1:], error)
    out = ["".join(reversed(re.findall(r"[^\n]*\n|[^\n]+", text))) for _, text in texts]
    return Output("".join(out), problems, int(bool(problems)))


BUILTIN = Builtin(name="tac", run=_run, source="GNU coreutils 9.1 tac")
