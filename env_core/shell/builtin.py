"""How a program that ships with the shell declares itself."""

from __future__ import annotations

from dataclasses import dataclass

from env_core.shell.context import Program


@dataclass(frozen=True, slots=True)
class Builtin:
    """A program of the toolbox.

    `in_shell` says that dash has it built in: the shell then puts its own name and line in front of each
    error line. `source` names what it was written after.
    """

    name: str
    run: Program
    source: str
    aliases: tuple[str, ...] = ()
    in_shell: bool = False
