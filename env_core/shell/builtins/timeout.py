"""timeout: runs a program until a moment of virtual time."""

from __future__ import annotations

from env_core.shell._duration import ENDLESS_MS, duration_ms
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Interrupted, Process
from env_core.world import Output

_LONG = {"signal=": "s", "kill-after=": "k", "preserve-status": "p", "foreground": "f", "verbose": "v"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "s:k:pfv", _LONG, permutes=False)
        if len(options.operands) < 2:
            return Output("", "Try 'timeout --help' for more information.\n", 125)
        limit_ms = duration_ms(options.operands[0])
        if limit_ms is None:
            raise UsageProblem(f"invalid time interval '{options.operands[0]}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process, 1 if process.is_busybox else 125)
    command = options.operands[1:]
    program = process.find(command[0])
    if program is None:
        text = (
            f"can't execute '{command[0]}'" if process.is_busybox else f"failed to run command '{command[0]}'"
        )
        return Output("", f"timeout: {text}: No such file or directory\n", 127)
    deadline_ms = process.now_ms() + limit_ms if 0 < limit_ms < ENDLESS_MS else None
    child = process.child(deadline_ms=deadline_ms)
    if process.budget is not None:
        process.budget.step()
    kills = options.value("s").upper().removeprefix("SIG") in ("KILL", "9")
    late = 143 if process.is_busybox else 137 if kills else 124
    try:
        output = program(child, command)
    except Interrupted as interrupted:
        if process.deadline_ms is not None and child.deadline_ms == process.deadline_ms:
            raise
        printed = interrupted.output or Output()
        return Output(printed.stdout, printed.stderr, late)
    if deadline_ms is not None and process.now_ms() >= deadline_ms:
        return Output(output.stdout, output.stderr, late)
    return output


BUILTIN = Builtin(
    name="timeout", run=_run, source="GNU coreutils 9.1 timeout; tests/golden/programs/shell 070, 071"
)
