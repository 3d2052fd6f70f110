"""printenv: values of environment variables."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    names = [each for each in argv[1:] if not each.startswith("-")]
    if not names:
        return Output("".join(f"{name}={value}\n" for name, value in process.env.items()))
    found = [process.env[name] for name in names if name in process.env]
    return Output("".join(value + "\n" for value in found), "", int(len(found) < len(names)))


BUILTIN = Builtin(name="printenv", run=_run, source="GNU coreutils 9.1 printenv")
