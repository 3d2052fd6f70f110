"""The programs that ship with the shell, by name."""

from __future__ import annotations

from functools import cache

from env_core.discovery import discover
from env_core.shell.builtin import Builtin
from env_core.shell.context import Program


@cache
def builtins() -> dict[str, Builtin]:
    """Return every built-in by its names."""
    # Imported late: `sh` is a built-in that needs the shell itself.
    from env_core.shell import builtins as package

    found: dict[str, Builtin] = {}
    for builtin in discover(package, "BUILTIN", Builtin).values():
        for name in (builtin.name, *builtin.aliases):
            found[name] = builtin
    return found


_GNU_ONLY = frozenset(("bash", "column", "dash", "dir", "jq", "lsblk", "mawk", "nice", "nohup", "pkill"))
"""Names that the BusyBox of the recordings does not have."""


@cache
def builtin_programs(flavour: str) -> dict[str, Program]:
    """Return every built-in's program by its names, for the tools of `flavour` ("gnu" or "busybox")."""
    programs = {name: builtin.run for name, builtin in builtins().items()}
    if flavour == "busybox":
        programs = {name: program for name, program in programs.items() if name not in _GNU_ONLY}
        programs["[["] = programs["test"]
    return programs


@cache
def shell_programs() -> frozenset[Program]:
    """Return the programs that the shell has built in (their errors carry its name)."""
    return frozenset(builtin.run for builtin in builtins().values() if builtin.in_shell)
