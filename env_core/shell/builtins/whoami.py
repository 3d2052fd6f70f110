"""whoami: the user's name."""

from __future__ import annotations

from env_core.shell._options import BUSYBOX_BANNER, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "", {})
        if options.operands:
            raise UsageProblem(f"extra operand '{options.operands[0]}'")
    except UsageProblem as problem:
        if process.is_busybox:
            return Output("", BUSYBOX_BANNER, 1)
        return problem.output(argv[0], process)
    return Output(process.user + "\n")


BUILTIN = Builtin(name="whoami", run=_run, source="GNU coreutils 9.1 whoami; tests/golden/programs/shell 146")
