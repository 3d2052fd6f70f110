"""nohup and nice: run another program as it is."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    name, command = argv[0], argv[1:]
    if name == "nice":
        while command and command[0].startswith("-"):
            command = command[2:] if command[0] == "-n" else command[1:]
        if not command:
            return Output("0\n")
    if not command:
        return Output("", "nohup: missing operand\nTry 'nohup --help' for more information.\n", 125)
    output = process.start(command)
    if output is None:
        text = f"failed to run command '{command[0]}'" if name == "nohup" else f"'{command[0]}'"
        return Output("", f"{name}: {text}: No such file or directory\n", 127)
    return output


BUILTIN = Builtin(
    name="nohup",
    run=_run,
    source="GNU coreutils 9.1 nohup and nice; tests/golden/programs/shell 075, 085",
    aliases=("nice",),
)
