"""The `kill` of the shell: its own process, and processes that are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from env_core.shell._control import Exit, Refused

if TYPE_CHECKING:
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell

_SIGNALS: Final = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10,
    "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15, "STKFLT": 16, "CHLD": 17, "CONT": 18, "STOP": 19,
    "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24, "XFSZ": 25, "VTALRM": 26, "PROF": 27, "WINCH": 28,
    "IO": 29, "PWR": 30, "SYS": 31,
}  # fmt: skip


def kill(shell: Shell, argv: list[str], streams: Streams) -> int:
    """Send a signal: only the shell itself and process 1 are there to get it.

    A program called `kill` that the caller brings takes every other process.

    Source: tests/golden/programs/shell 046-049, 082-084.
    """
    rest = argv[1:]
    number = 15
    if rest and rest[0] == "-l":
        streams.stdout.write("\n".join(_SIGNALS) + "\n")
        return 0
    if rest and rest[0] == "-s" and len(rest) > 1:
        rest[:2] = ["-" + rest[1]]
    if rest and rest[0].startswith("-") and rest[0] != "--":
        number = _signal(shell, rest.pop(0)[1:])
    if not rest and not shell.dialect.is_ash:
        usage = "Usage: kill [-s sigspec | -signum | -sigspec] [pid | job]... or\nkill -l [exitstatus]"
        raise Refused(usage, is_fatal=False, command="kill")
    own = shell.parameter("$")
    if all(target != own for target in rest):
        program = shell.process.find("kill")
        if program is not None:
            return shell.call(program, argv, shell.environment(), streams)
    status = 0
    for target in rest:
        if not target.lstrip("-").isdecimal():
            if shell.dialect.is_ash:
                streams.stderr.write(shell.located(f"invalid number '{target}'"))
                status = 1
                continue
            if shell.dialect.is_bash:
                text = (
                    f"{target}: no such job"
                    if target.startswith("%")
                    else f"{target}: arguments must be process or job IDs"
                )
                streams.stderr.write(shell.located(text, "kill"))
                status = 1
                continue
            text = f"No such job: {target}" if target.startswith("%") else f"Illegal number: {target}"
            raise Refused(text, command="kill")
        if target == own:
            raise Exit(128 + number if number else 0)
        status |= _refuse(shell, target, streams)
    return status


def _signal(shell: Shell, name: str) -> int:
    upper = name.upper().removeprefix("SIG")
    if upper in _SIGNALS:
        return _SIGNALS[upper]
    if name.isdecimal() and int(name[:4]) < 65:
        return int(name)
    if shell.dialect.is_ash:
        raise Refused(f"bad signal name '{name}'", 1, is_fatal=False)
    if shell.dialect.is_bash:
        raise Refused(f"{name}: invalid signal specification", 1, is_fatal=False, command="kill")
    raise Refused(f"Illegal option -{name[:1]}", command="kill")


def _refuse(shell: Shell, target: str, streams: Streams) -> int:
    if target == "1" and shell.process.user == "root":
        return 0
    reason = "Operation not permitted" if target == "1" else "No such process"
    if shell.dialect.is_ash:
        streams.stderr.write(shell.located(f"can't kill pid {target}: {reason}"))
    elif shell.dialect.is_bash:
        streams.stderr.write(shell.located(f"({target}) - {reason}", "kill"))
    else:
        streams.stderr.write(shell.located(f"kill: {reason}") + "\n")
    return 1
