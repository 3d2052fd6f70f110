"""sleep: lets virtual time pass."""

from __future__ import annotations

import re

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_TIME = re.compile(r"(\d{1,12}(?:\.\d*)?|\.\d+)([smhd]?)\Z", re.ASCII)
_UNITS_MS = {"": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


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
        found = _TIME.match(text)
        if found is None:
            problems.append(text)
        else:
            total_ms += int(float(found.group(1)) * _UNITS_MS[found.group(2)])
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
