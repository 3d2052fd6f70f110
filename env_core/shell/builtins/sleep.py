"""sleep: lets virtual time pass."""

from __future__ import annotations

from env_core.shell._duration import duration_ms
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "", {})
        if not options.operands:
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    total_ms = 0
    problems: list[str] = []
    for text in options.operands:
        found_ms = duration_ms(text)
        if found_ms is None:
            problems.append(text)
        else:
            total_ms += found_ms
    if problems and process.is_busybox:
        return Output("", f"sleep: invalid number '{problems[0]}'\n", 1)
    if problems:
        lines = "".join(f"sleep: invalid time interval '{each}'\n" for each in problems)
        return Output("", f"{lines}Try 'sleep --help' for more information.\n", 1)
    process.advance(total_ms)
    return Output()


BUILTIN = Builtin(
    name="sleep", run=_run, source="GNU coreutils 9.1 sleep; tests/golden/programs/shell 130, 131"
)
