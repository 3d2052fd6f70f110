"""A shell for commands that start programs themselves: editors, of which the real kubectl runs this machine's."""

from __future__ import annotations

from collections.abc import Mapping

from env_core.kubectl.context import Context
from env_core.shell.context import Process
from env_core.shell.filesystem import FileSystem
from env_core.shell.pipeline import Shell
from env_core.tools.terminal import ShellFiles, ShellLauncher

DIRECTORY = "/tmp/w"


def in_shell(ctx: Context, files: Mapping[str, str], env: Mapping[str, str]) -> None:
    """Give a command a shell with files in its working directory, and variables."""
    held = FileSystem({f"{DIRECTORY}/{name}": text for name, text in files.items()})
    process = Process(fs=held, env={"HOME": "/root", "PATH": "/usr/bin:/bin", **env}, cwd=DIRECTORY)
    shell = Shell(process, {})
    ctx.files = ShellFiles(shell.process)
    ctx.launcher = ShellLauncher(shell.process)
