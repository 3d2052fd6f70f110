"""sysctl: kernel settings, read from /proc/sys and never written by a container."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    words = [word for word in argv[1:] if not word.startswith("-")]
    is_bare = "-n" in argv[1:]
    out, err = "", ""
    for word in words:
        name, equals, _ = word.partition("=")
        path = "/proc/sys/" + name.replace(".", "/")
        if equals or "-w" in argv[1:]:
            if process.is_busybox:
                err += f"sysctl: error setting key '{name}': Permission denied\n"
            else:
                err += f'sysctl: permission denied on key "{name}"\n'
            continue
        try:
            value = process.fs.read(path).rstrip("\n")
            out += f"{value}\n" if is_bare else f"{name} = {value}\n"
        except ShellFileError as error:
            if process.is_busybox:
                err += f"sysctl: error: '{name}' is an unknown key\n"
            else:
                err += f"sysctl: cannot stat {path}: {error.reason}\n"
    return Output(out, err, int(bool(err)))


BUILTIN = Builtin(name="sysctl", run=_run, source="procps 4.0.2; tests/golden/programs/shell 232, 233")
