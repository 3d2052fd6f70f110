"""hostname: the host's name."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "sfdiIaAy", {"short": "s", "fqdn": "f", "long": "f", "domain": "d"})
    except UsageProblem as problem:
        return Output("", f"hostname: {problem.text}\n", 1 if process.is_busybox else 255)
    if options.operands:
        return Output("", "hostname: you must be root to change the host name\n", 1)
    if options.has("d"):
        return Output("\n" if "." in process.hostname else "")
    if options.has("iI"):
        address = process.env.get("POD_IP", "127.0.1.1")
        return Output(f"{address}{' ' if options.has('I') else ''}\n")
    return Output(f"{process.hostname}\n")


BUILTIN = Builtin(name="hostname", run=_run, source="hostname 3.23 (Debian 12)")
