"""What happens when a command is a file: a script, an executable that is none, or nothing at all."""

from __future__ import annotations

from dataclasses import dataclass

from env_core.shell.context import Process, Program


@dataclass(frozen=True, slots=True)
class Unrunnable:
    """Why a command cannot run, and the shell's status for that."""

    reason: str
    status: int
    is_directory: bool = False
    has_bad_interpreter: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A script for the shell (`text`), or for another `program`; `argv` as that one gets it."""

    argv: list[str]
    text: str = ""
    program: Program | None = None
    is_bash: bool | None = None
    """Whether bash is what its first line names; None when that names nothing."""


def opened(process: Process, argv: list[str]) -> Script | Unrunnable:
    """Return how to run the file that `argv[0]` names.

    Source: tests/golden/programs/shell 001-010.
    """
    name = argv[0]
    if not name or ("/" not in name):
        return Unrunnable("not found", 127)
    path = process.path(name)
    if not process.fs.exists(path):
        return Unrunnable("not found", 127)
    if process.fs.is_dir(path) or not process.fs.may(path, 1) or not process.fs.may(path, 4):
        return Unrunnable("Permission denied", 126, is_directory=process.fs.is_dir(path))
    text = process.fs.read(path)
    if text.startswith("\x7fELF") and not process.is_busybox:
        return Unrunnable("Exec format error", 126)
    if not text.startswith("#!"):
        return Script(argv, text)
    first = text[2:].partition("\n")[0].strip(" \t").split(None, 1)
    interpreter = text[2:].partition("\n")[0].strip(" ").split(" ", 1)[0]
    base = interpreter.rpartition("/")[2]
    if base == "env" and len(first) == 2:
        base = first[1].split()[0]
        interpreter = f"/usr/bin/{base}"
    program = process.find(interpreter)
    if program is None:
        return Unrunnable("not found", 127, has_bad_interpreter=True)
    if base in ("sh", "dash", "bash", "ash"):
        return Script(argv, text, is_bash=base == "bash")
    return Script([base, *argv], program=program)
