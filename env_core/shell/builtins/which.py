"""which: where programs are."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_SHELL_ONLY = frozenset(("cd", "export", "[[", "read", "set", "unset", "local", "type", "command"))


def _run(process: Process, argv: list[str]) -> Output:
    out: list[str] = []
    missing = False
    for name in argv[1:]:
        if name.startswith("-"):
            continue
        if name in _SHELL_ONLY or process.find(name) is None:
            missing = True
        else:
            out.append(f"{name if '/' in name else '/usr/bin/' + name}\n")
    return Output("".join(out), "", int(missing or not argv[1:]))


BUILTIN = Builtin(name="which", run=_run, source="debianutils 5.7 which; tests/golden/programs/shell 060")
