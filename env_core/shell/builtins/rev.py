"""rev: each line backwards."""

from __future__ import annotations

from env_core.shell._inputs import joined_lines, read_inputs, split_lines
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    texts, problems = read_inputs(process, argv[1:], "rev: cannot open {name}: {reason}")
    lines = [line[::-1] for _, text in texts for line in split_lines(text)]
    return Output(joined_lines(lines), problems, int(bool(problems)))


BUILTIN = Builtin(name="rev", run=_run, source="util-linux 2.38 rev")
