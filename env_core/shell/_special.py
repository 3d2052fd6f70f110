"""Commands that change the shell itself: cd, export, set, eval, read and their like."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from env_core.shell._control import Exit, LoopControl, Refused, Return
from env_core.shell.filesystem import ShellFileError

if TYPE_CHECKING:
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell

Command = Callable[["Shell", list[str], "Streams"], int]

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def number(text: str, command: str) -> int:
    """Return an argument that must be a number.

    Raises:
        Refused: if it is none.
    """
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise Refused(f"Illegal number: {text}", command=command)
    return int(text)


def _colon(shell: Shell, argv: list[str], streams: Streams) -> int:
    return 0


def _exit(shell: Shell, argv: list[str], streams: Streams) -> int:
    raise Exit(number(argv[1], "exit") & 0xFF if len(argv) > 1 else shell.status)


def _return(shell: Shell, argv: list[str], streams: Streams) -> int:
    raise Return(number(argv[1], "return") & 0xFF if len(argv) > 1 else shell.status)


def _break(shell: Shell, argv: list[str], streams: Streams) -> int:
    levels = number(argv[1], argv[0]) if len(argv) > 1 else 1
    if shell.loops:
        raise LoopControl(min(max(levels, 1), shell.loops), is_break=argv[0] == "break")
    return 0


def _export(shell: Shell, argv: list[str], streams: Streams) -> int:
    names = [each for each in argv[1:] if not each.startswith("-")]
    if not names:
        chosen = shell.readonly if argv[0] == "readonly" else shell.exported
        lines = [
            f"{argv[0]} {name}='{shell.variables[name]}'\n"
            for name in sorted(chosen)
            if name in shell.variables
        ]
        streams.stdout.write("".join(lines))
        return 0
    for each in names:
        name, equals, value = each.partition("=")
        if NAME.match(name) is None:
            raise Refused(shell.dialect.bad_name(name, each), command=argv[0])
        if equals:
            shell.assign(name, value)
        if argv[0] == "readonly":
            shell.readonly.add(name)
        else:
            shell.exported.add(name)
    return 0


def _unset(shell: Shell, argv: list[str], streams: Streams) -> int:
    names = [each for each in argv[1:] if not each.startswith("-")]
    for name in names:
        if "-f" in argv:
            shell.functions.pop(name, None)
            continue
        if NAME.match(name) is None:
            raise Refused(shell.dialect.bad_name(name, name), command="unset")
        if name in shell.readonly:
            text = (
                f"{name}: cannot unset: readonly variable"
                if shell.dialect.is_bash
                else f"{name}: is read only"
            )
            raise Refused(text, command="unset")
        shell.arrays.pop(name, None)
        shell.variables.pop(name, None)
        shell.exported.discard(name)
    return 0


_LONG_OPTIONS: Final = {
    "errexit": "e", "nounset": "u", "xtrace": "x", "noglob": "f", "verbose": "v", "noexec": "n", "noclobber": "C",
    "allexport": "a", "monitor": "m",
}  # fmt: skip


def _set(shell: Shell, argv: list[str], streams: Streams) -> int:
    if len(argv) == 1:
        streams.stdout.write(
            "".join(f"{name}='{shell.variables[name]}'\n" for name in sorted(shell.variables))
        )
        return 0
    rest = argv[1:]
    while rest and rest[0][:1] in ("-", "+") and len(rest[0]) > 1:
        option = rest.pop(0)
        if option == "--":
            shell.positional = rest
            return 0
        if option[1:] == "o":
            name = rest.pop(0) if rest else ""
            letter = _LONG_OPTIONS.get(name, "")
            # pipefail is no option of dash, but lines that ask for it are meant to go on.
            if not letter and name not in ("", "pipefail"):
                raise Refused(f"Illegal option -o {name}", command="set")
            if name == "pipefail" and shell.dialect.is_bash:
                shell.options[name] = option[0] == "-"
            if letter:
                shell.options[letter] = option[0] == "-"
            continue
        for letter in option[1:]:
            if letter == "o" and rest and rest[0] == "pipefail":
                rest.pop(0)
                shell.options["pipefail"] = shell.dialect.is_bash
            elif letter not in "aefhmnuvxCbEI":
                raise Refused(f"Illegal option -{letter}", command="set")
            else:
                shell.options[letter] = option[0] == "-"
    if rest:
        shell.positional = rest
    return 0


def _shift(shell: Shell, argv: list[str], streams: Streams) -> int:
    count = number(argv[1], "shift") if len(argv) > 1 else 1
    if count > len(shell.positional):
        if shell.dialect.is_ash or shell.dialect.is_bash:
            return 1
        raise Refused("can't shift that many", command="shift")
    del shell.positional[:count]
    return 0


def _eval(shell: Shell, argv: list[str], streams: Streams) -> int:
    text = " ".join(argv[1:])
    return shell.execute_text(text, streams, "eval") if text.strip() else 0


def _dot(shell: Shell, argv: list[str], streams: Streams) -> int:
    if len(argv) < 2:
        return 0
    name = argv[1]
    if "/" not in name and not shell.dialect.is_ash and not shell.dialect.is_bash:
        raise Refused(f"{name}: not found", command=".")
    try:
        text = shell.process.fs.read(shell.process.path(name))
    except ShellFileError as error:
        if shell.dialect.is_ash:
            raise Refused(f"can't open '{name}': {error.reason}", command=".") from None
        if shell.dialect.is_bash:
            raise Refused(f"{name}: {error.reason}") from None
        raise Refused(shell.dialect.cannot_open(name, error.reason), command=".") from None
    outer, shell.sourced = shell.sourced, name
    try:
        return shell.execute_text(text, streams)
    except Return as returned:
        return returned.status
    finally:
        shell.sourced = outer


def _exec(shell: Shell, argv: list[str], streams: Streams) -> int:
    if len(argv) == 1:
        return 0
    rest = argv[1:]
    program = shell.process.find(rest[0])
    if program is None:
        raise Exit(shell.execute_file(rest, shell.environment(), streams, "exec"))
    raise Exit(shell.call(program, rest, shell.environment(), streams))


def _trap(shell: Shell, argv: list[str], streams: Streams) -> int:
    signals = frozenset(
        [
            "0",
            "EXIT",
            "HUP",
            "INT",
            "QUIT",
            "TERM",
            "USR1",
            "USR2",
            "PIPE",
            "ALRM",
            "CHLD",
            "CONT",
            "ERR",
            "KILL",
            "STOP",
        ]
    )
    for name in argv[2:]:
        bare = name.removeprefix("SIG") if shell.dialect.is_ash or shell.dialect.is_bash else name
        if bare not in signals and not bare.isdecimal():
            if shell.dialect.is_ash or shell.dialect.is_bash:
                raise Refused(f"{name}: invalid signal specification", 1, is_fatal=False, command="trap")
            streams.stderr.write(f"trap: {name}: bad trap\n")
            return 1
        if bare in ("0", "EXIT"):
            shell.exit_trap = "" if argv[1] == "-" else argv[1]
    return 0


def _times(shell: Shell, argv: list[str], streams: Streams) -> int:
    streams.stdout.write("0m0.000000s 0m0.000000s\n0m0.000000s 0m0.000000s\n")
    return 0


SPECIAL: Final[dict[str, Command]] = {
    ":": _colon,
    ".": _dot,
    "break": _break,
    "continue": _break,
    "eval": _eval,
    "exec": _exec,
    "exit": _exit,
    "export": _export,
    "readonly": _export,
    "return": _return,
    "set": _set,
    "shift": _shift,
    "times": _times,
    "trap": _trap,
    "unset": _unset,
}
"""POSIX's special built-ins: their errors end the shell."""
