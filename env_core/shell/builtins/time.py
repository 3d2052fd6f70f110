"""time: how much virtual time a program takes."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    command = [each for index, each in enumerate(argv[1:]) if index or each != "-p"]
    before_ms = process.now_ms()
    output = Output() if not command else process.start(command)
    if output is None:
        output = Output("", f"time: cannot run {command[0]}: No such file or directory\n", 127)
    elapsed_ms = process.now_ms() - before_ms
    minutes, rest_ms = divmod(elapsed_ms, 60_000)
    if "-p" in argv[1:2]:
        times = f"real {elapsed_ms / 1000:.2f}\nuser 0.00\nsys 0.00\n"
    else:
        times = f"\nreal\t{minutes}m{rest_ms / 1000:.3f}s\nuser\t0m0.000s\nsys\t0m0.000s\n"
    return Output(output.stdout, output.stderr + times, output.exit_code)


BUILTIN = Builtin(name="time", run=_run, source="bash 5.2 time, as a program")
