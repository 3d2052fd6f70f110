"""more and less, which print everything where there is no terminal."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    names = [word for word in argv[1:] if not word.startswith("-")]
    if not names:
        return Output(process.stdin)
    out, err, code = "", "", 0
    for name in names:
        try:
            out += process.fs.read(process.path(name))
        except ShellFileError as error:
            if process.is_busybox:
                err += f"{argv[0]}: can't open '{name}': {error.reason}\n"
                code = 1
            elif argv[0] == "more":
                err += f"more: cannot open {name}: {error.reason}\n"
            else:
                err += f"{name}: {error.reason}\n"
                code = 1
    return Output(out, err, code)


BUILTIN = Builtin(
    name="more", run=_run, source="util-linux 2.38; tests/golden/programs/shell 209, 210", aliases=("less",)
)
