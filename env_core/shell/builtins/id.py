"""id: user and group numbers."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {"user": "u", "group": "g", "groups": "G", "name": "n", "real": "r"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "ugGnr", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    user = options.operands[0] if options.operands else process.user
    if user not in ("root", process.user):
        text = f"unknown user {user}" if process.is_busybox else f"'{user}': no such user"
        return Output("", f"id: {text}\n", 1)
    number = 0 if user == "root" else 1000
    if options.has("ugG"):
        return Output(f"{user if options.has('n') else number}\n")
    return Output(f"uid={number}({user}) gid={number}({user}) groups={number}({user})\n")


BUILTIN = Builtin(name="id", run=_run, source="GNU coreutils 9.1 id; tests/golden/programs/shell 145")
