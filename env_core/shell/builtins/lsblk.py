"""lsblk: block devices, of which containers see none."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    del process
    names = [word for word in argv[1:] if not word.startswith("-")]
    err = "".join(f"lsblk: {name}: not a block device\n" for name in names)
    return Output("", err, 32 if names else 0)


BUILTIN = Builtin(name="lsblk", run=_run, source="util-linux 2.38; tests/golden/programs/shell 236")
