"""dmesg: the kernel's messages, which containers may not read."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        parse_options(argv[1:], "cCdDeEfFHkLnPrsStTuwWx", {"follow": "w", "human": "H", "ctime": "T"})
    except UsageProblem as problem:
        return problem.output("dmesg", process)
    what = "klogctl" if process.is_busybox else "read kernel buffer failed"
    return Output("", f"dmesg: {what}: Operation not permitted\n", 1)


BUILTIN = Builtin(name="dmesg", run=_run, source="util-linux 2.38; tests/golden/programs/shell 231")
