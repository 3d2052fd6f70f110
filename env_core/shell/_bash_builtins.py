"""Built-ins that only bash has, and how it refuses `exec`.

Source: bash(1), "SHELL BUILTIN COMMANDS"; tests/golden/programs/shell 043, 067.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from env_core.shell._control import Refused
from env_core.shell._special import NAME, SPECIAL, Command
from env_core.shell._utilities import UTILITIES

if TYPE_CHECKING:
    from env_core.shell._script import Unrunnable
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell


def refuse_exec(shell: Shell, name: str, outcome: Unrunnable, streams: Streams) -> int:
    """Tell why `exec` cannot run a command, and return the status."""
    if "/" not in name or not shell.process.fs.exists(shell.process.path(name)):
        text = f"{name}: No such file or directory" if "/" in name else f"{name}: not found"
        if "/" in name:
            streams.stderr.write(shell.located(text))
            text = f"{name}: cannot execute: No such file or directory"
        streams.stderr.write(shell.located(text, "exec"))
        return outcome.status
    path = shell.process.path(name)
    reason = "Is a directory" if shell.process.fs.is_dir(path) else outcome.reason
    streams.stderr.write(shell.located(f"{path}: {reason}"))
    streams.stderr.write(shell.located(f"{path}: cannot execute: {reason}", "exec"))
    return outcome.status


def _declare(shell: Shell, argv: list[str], streams: Streams) -> int:
    flags = "".join(word[1:] for word in argv[1:] if word.startswith("-"))
    names = [word for word in argv[1:] if not word.startswith(("-", "+"))]
    if "p" in flags:
        for name in names:
            value = shell.parameter(name)
            if value is None:
                streams.stderr.write(shell.located(f"{name}: not found", argv[0]))
                return 1
            kind = "x" if name in shell.exported else "-"
            streams.stdout.write(f'declare -{kind} {name}="{value}"\n')
        return 0
    for each in names:
        name, equals, value = each.partition("=")
        if NAME.match(name) is None:
            raise Refused(shell.dialect.bad_name(name, each), command=argv[0])
        if shell.locals and "g" not in flags:
            shell.locals[-1].setdefault(name, shell.variables.get(name))
        if "a" in flags or "A" in flags:
            shell.arrays.setdefault(name, {})
        elif equals:
            shell.assign(name, value)
        if "x" in flags:
            shell.exported.add(name)
        if "r" in flags:
            shell.readonly.add(name)
    return 0


def _shopt(shell: Shell, argv: list[str], streams: Streams) -> int:
    del shell, argv, streams
    return 0


def _builtin(shell: Shell, argv: list[str], streams: Streams) -> int:
    rest = argv[1:]
    if not rest:
        return 0
    command = SPECIAL.get(rest[0]) or UTILITIES.get(rest[0]) or BASH_COMMANDS.get(rest[0])
    if command is not None:
        return command(shell, rest, streams)
    program = shell.process.find(rest[0])
    if program is None or not shell.is_built_in(rest[0]):
        streams.stderr.write(shell.located(f"{rest[0]}: not a shell builtin", "builtin"))
        return 1
    return shell.call(program, rest, shell.environment(), streams)


def _lines(shell: Shell, argv: list[str], streams: Streams) -> int:
    """Read lines into an array: mapfile, readarray."""
    names = [word for word in argv[1:] if not word.startswith("-")]
    lines = streams.stdin.take_all().split("\n")
    if lines and not lines[-1]:
        lines.pop()
    end = "" if any(word.startswith("-") and "t" in word for word in argv[1:]) else "\n"
    shell.arrays[names[-1] if names else "MAPFILE"] = {str(at): line + end for at, line in enumerate(lines)}
    return 0


BASH_COMMANDS: Final[dict[str, Command]] = {
    "builtin": _builtin,
    "declare": _declare,
    "mapfile": _lines,
    "readarray": _lines,
    "shopt": _shopt,
    "source": SPECIAL["."],
    "typeset": _declare,
}
"""Built-ins by name."""
