"""df: the mounted file systems, as /proc/mounts lists them; how full they are is not simulated."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_HEAD = "Filesystem     1K-blocks     Used Available Use% Mounted on\n"
_BUSYBOX_HEAD = "Filesystem           1K-blocks      Used Available Use% Mounted on\n"


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "ahHikPTtm", {"human-readable": "h", "inodes": "i"})
    except UsageProblem as problem:
        return problem.output("df", process)
    head = _BUSYBOX_HEAD if process.is_busybox else _HEAD
    err = ""
    found = 0
    for name in options.operands:
        if process.fs.exists(process.path(name)):
            found += 1
        elif process.is_busybox:
            err += f"df: {name}: can't find mount point\n"
        else:
            err += f"df: {name}: No such file or directory\n"
    if options.operands and not found:
        return Output(head if process.is_busybox else "", err, 1)
    return Output(head + _rows(process), err, int(bool(err)))


def _rows(process: Process) -> str:
    try:
        text = process.fs.read("/proc/mounts")
    except ShellFileError:
        return ""
    rows = [line.split() for line in text.splitlines()]
    return "".join(
        f"{row[0]:<14} {'-':>9} {'-':>8} {'-':>9} {'-':>4} {row[1]}\n" for row in rows if len(row) > 1
    )


BUILTIN = Builtin(name="df", run=_run, source="GNU coreutils 9.1 df; tests/golden/programs/shell 137")
