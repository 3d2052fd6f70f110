"""mount and umount: the table of mounts; containers may not change it."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    words = [word for word in argv[1:] if not word.startswith("-")]
    if argv[0] == "umount":
        place = words[-1] if words else ""
        if process.is_busybox:
            return Output("", f"umount: can't unmount {place}: Operation not permitted\n", 1)
        if not words:
            return Output("", "umount: bad usage\nTry 'umount --help' for more information.\n", 1)
        return Output("", f"umount: {place}: not mounted.\n", 1)
    if not words:
        try:
            rows = [line.split() for line in process.fs.read("/proc/mounts").splitlines()]
        except ShellFileError:
            rows = []
        return Output(
            "".join(f"{row[0]} on {row[1]} type {row[2]} ({row[3]})\n" for row in rows if len(row) > 3)
        )
    if process.is_busybox:
        return Output("", "mount: permission denied (are you root?)\n", 1)
    if len(words) == 1:
        return Output("", f"mount: {words[0]}: can't find in /etc/fstab.\n", 1)
    why = "permission denied" if process.user == "root" else "must be superuser to use mount"
    hint = "       dmesg(1) may have more information after failed mount system call.\n"
    return Output("", f"mount: {words[-1]}: {why}.\n{hint}", 32)


BUILTIN = Builtin(
    name="mount",
    run=_run,
    source="util-linux 2.38; tests/golden/programs/shell 195, 196",
    aliases=("umount",),
)
