"""env: prints the environment, or runs a program in a changed one."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {"ignore-environment": "i", "unset=": "u", "null": "0"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "iu:0", _LONG, permutes=False)
    except UsageProblem as problem:
        return problem.output(argv[0], process, 125)
    values = {} if options.has("i") else dict(process.env)
    for name in options.values("u"):
        values.pop(name, None)
    command = list(options.operands)
    if command and command[0] == "-":
        values = {}
        command.pop(0)
    while command and "=" in command[0]:
        name, _, value = command.pop(0).partition("=")
        values[name] = value
    if not command:
        end = "\0" if options.has("0") else "\n"
        return Output("".join(f"{name}={value}{end}" for name, value in values.items()))
    output = process.start(command, env=values)
    if output is None:
        text = f"can't execute '{command[0]}'" if process.is_busybox else f"'{command[0]}'"
        return Output("", f"env: {text}: No such file or directory\n", 127)
    return output


BUILTIN = Builtin(name="env", run=_run, source="GNU coreutils 9.1 env; tests/golden/programs/shell 072, 073")
