"""dirname: a path without its last part."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "z", {"zero": "z"})
        if not options.operands:
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    return Output("".join(_directory(name) + "\n" for name in options.operands))


def _directory(name: str) -> str:
    stripped = name.rstrip("/")
    if not stripped:
        return "/" if name else "."
    directory, slash, _ = stripped.rpartition("/")
    return directory.rstrip("/") or ("/" if slash else ".")


BUILTIN = Builtin(name="dirname", run=_run, source="GNU coreutils 9.1 dirname")
