"""pgrep, pkill and pidof: no other process than the shell's own is seen from here."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    words = [word for word in argv[1:] if not word.startswith("-")]
    if not words and argv[0] != "pidof" and not process.is_busybox:
        hint = f"Try `{argv[0]} --help' for more information.\n"
        return Output("", f"{argv[0]}: no matching criteria specified\n{hint}", 2)
    return Output("", "", 1)


BUILTIN = Builtin(
    name="pgrep",
    run=_run,
    source="procps 4.0.2; tests/golden/programs/shell 192-194",
    aliases=("pkill", "pidof"),
)
