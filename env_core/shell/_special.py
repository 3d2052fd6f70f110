"""Commands that change the shell itself: cd, export, set, eval, read and their like."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from env_core.shell._arithmetic import ArithmeticProblem, evaluate
from env_core.shell._control import Exit, LoopControl, Refused, Return
from env_core.shell._signals import kill
from env_core.shell.filesystem import NO_SUCH_FILE, NOT_DIRECTORY, ShellFileError
from env_core.world import Output

if TYPE_CHECKING:
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell

Command = Callable[["Shell", list[str], "Streams"], int]

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED: Final = frozenset(
    [
        "!",
        "{",
        "}",
        "case",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "if",
        "in",
        "then",
        "until",
        "while",
    ]
)


def _number(text: str, command: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise Refused(f"Illegal number: {text}", command=command)
    return int(text)


def _colon(shell: Shell, argv: list[str], streams: Streams) -> int:
    return 0


def _exit(shell: Shell, argv: list[str], streams: Streams) -> int:
    raise Exit(_number(argv[1], "exit") & 0xFF if len(argv) > 1 else shell.status)


def _return(shell: Shell, argv: list[str], streams: Streams) -> int:
    raise Return(_number(argv[1], "return") & 0xFF if len(argv) > 1 else shell.status)


def _break(shell: Shell, argv: list[str], streams: Streams) -> int:
    levels = _number(argv[1], argv[0]) if len(argv) > 1 else 1
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
        if _NAME.match(name) is None:
            raise Refused(f"{name}: bad variable name", command=argv[0])
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
        if _NAME.match(name) is None:
            raise Refused(f"{name}: bad variable name", command="unset")
        if name in shell.readonly:
            raise Refused(f"{name}: is read only", command="unset")
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
            if letter:
                shell.options[letter] = option[0] == "-"
            continue
        for letter in option[1:]:
            if letter == "o" and rest and rest[0] == "pipefail":
                rest.pop(0)
            elif letter not in "aefhmnuvxCbEI":
                raise Refused(f"Illegal option -{letter}", command="set")
            else:
                shell.options[letter] = option[0] == "-"
    if rest:
        shell.positional = rest
    return 0


def _shift(shell: Shell, argv: list[str], streams: Streams) -> int:
    count = _number(argv[1], "shift") if len(argv) > 1 else 1
    if count > len(shell.positional):
        if shell.dialect.is_ash:
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
    if "/" not in name and not shell.dialect.is_ash:
        raise Refused(f"{name}: not found", command=".")
    try:
        text = shell.process.fs.read(shell.process.path(name))
    except ShellFileError as error:
        if shell.dialect.is_ash:
            raise Refused(f"can't open '{name}': {error.reason}", command=".") from None
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
        bare = name.removeprefix("SIG") if shell.dialect.is_ash else name
        if bare not in signals and not bare.isdecimal():
            if shell.dialect.is_ash:
                raise Refused(f"{name}: invalid signal specification", 1, is_fatal=False, command="trap")
            streams.stderr.write(f"trap: {name}: bad trap\n")
            return 1
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


def _cd(shell: Shell, argv: list[str], streams: Streams) -> int:
    process = shell.process
    names = [each for each in argv[1:] if each not in ("-L", "-P", "--")]
    name = names[0] if names else shell.parameter("HOME") or "/"
    prints = name == "-"
    if prints:
        name = shell.variables.get("OLDPWD") or process.cwd
    path = process.path(name)
    reason = ""
    if not process.fs.exists(path):
        reason = NO_SUCH_FILE
    elif not process.fs.is_dir(path):
        reason = NOT_DIRECTORY
    elif not process.fs.may(path, 1):
        reason = "Permission denied"
    if reason:
        text = shell.dialect.cannot_change_directory(name, reason)
        raise Refused(text, 2, is_fatal=False, command="cd")
    shell.variables["OLDPWD"] = process.cwd
    process.cwd = path
    shell.variables["PWD"] = path
    if prints:
        streams.stdout.write(path + "\n")
    return 0


def _pwd(shell: Shell, argv: list[str], streams: Streams) -> int:
    return shell.deliver(Output(shell.process.cwd + "\n"), "pwd", streams, in_shell=True)


def _read(shell: Shell, argv: list[str], streams: Streams) -> int:
    is_raw = False
    names: list[str] = []
    rest = argv[1:]
    while rest:
        each = rest.pop(0)
        if each.startswith("-") and not names and len(each) > 1:
            is_raw = is_raw or "r" in each
            if each[-1] in "ptnd" and rest:
                rest.pop(0)
        else:
            names.append(each)
    if not names:
        raise Refused("arg count", is_fatal=True, command="read")
    line = streams.stdin.take_line()
    if line is None:
        for name in names:
            shell.assign(name, "")
        return 1
    status = 0 if line.endswith("\n") else 1
    while not is_raw and line.endswith("\\\n"):
        line = line[:-2] + (streams.stdin.take_line() or "")
    text = line.removesuffix("\n")
    if not is_raw:
        text = re.sub(r"\\(.)", r"\1", text)
    for name, value in zip(names, _fields(text, shell.variables.get("IFS", " \t\n"), len(names))):
        shell.assign(name, value)
    return status


def _fields(text: str, separators: str, count: int) -> list[str]:
    """Split a line for `read`: the last name takes the rest."""
    white = "".join(char for char in separators if char in " \t\n")
    rest = text.strip(white)
    values: list[str] = []
    while len(values) < count - 1 and rest:
        end = next((index for index, char in enumerate(rest) if char in separators), len(rest))
        values.append(rest[:end])
        rest = rest[end:].lstrip(white)
        if rest and rest[0] in separators:
            rest = rest[1:].lstrip(white)
    values.append(rest)
    return values + [""] * (count - len(values))


def _local(shell: Shell, argv: list[str], streams: Streams) -> int:
    if not shell.locals:
        raise Refused("not in a function", command="local")
    for each in argv[1:]:
        name, equals, value = each.partition("=")
        if _NAME.match(name) is None:
            raise Refused(f"{name}: bad variable name", command="local")
        shell.locals[-1].setdefault(name, shell.variables.get(name))
        if equals:
            shell.assign(name, value)
    return 0


def _where(shell: Shell, name: str) -> tuple[str, str]:
    """Return what kind of command `name` is, and the path of a program."""
    if name in _RESERVED:
        return "keyword", ""
    if name in shell.functions:
        return "function", ""
    if name in SPECIAL:
        return "special", ""
    if name in UTILITIES or shell.is_built_in(name):
        return "builtin", ""
    if shell.process.find(name) is not None:
        return "program", name if "/" in name else f"/usr/bin/{name}"
    return "", ""


def _type(shell: Shell, argv: list[str], streams: Streams) -> int:
    status = 0
    texts = {
        "keyword": "is a shell keyword", "function": "is a shell function", "builtin": "is a shell builtin",
        "special": "is a special shell builtin",
    }  # fmt: skip
    for name in argv[1:]:
        kind, path = _where(shell, name)
        if not kind:
            streams.stdout.write(f"{name}: not found\n")
            status = 127
        else:
            streams.stdout.write(f"{name} {texts.get(kind, f'is {path}')}\n")
    return status


def _command(shell: Shell, argv: list[str], streams: Streams) -> int:
    rest = argv[1:]
    if rest and rest[0] in ("-v", "-V"):
        if rest[0] == "-V":
            return _type(shell, rest, streams)
        kind, path = _where(shell, rest[1]) if len(rest) > 1 else ("", "")
        if not kind:
            return 127
        streams.stdout.write(f"{path or rest[1]}\n")
        return 0
    if rest and rest[0] in ("-p", "--"):
        rest = rest[1:]
    if not rest:
        return 0
    builtin = SPECIAL.get(rest[0]) or UTILITIES.get(rest[0])
    if builtin is not None:
        return builtin(shell, rest, streams)
    program = shell.process.find(rest[0])
    if program is None:
        return shell.execute_file(rest, shell.environment(), streams)
    return shell.call(program, rest, shell.environment(), streams)


def _let(shell: Shell, argv: list[str], streams: Streams) -> int:
    value = 0
    for text in argv[1:]:
        try:
            value = evaluate(text, shell.variables)
        except ArithmeticProblem as problem:
            raise Refused(shell.dialect.arithmetic(str(problem)), command="let") from None
    return int(value == 0)


def _wait(shell: Shell, argv: list[str], streams: Streams) -> int:
    for each in argv[1:]:
        if not each.startswith("%"):
            _number(each, "wait")
    return 127 if len(argv) > 1 and argv[1] != "4243" else 0


def _jobs(shell: Shell, argv: list[str], streams: Streams) -> int:
    mark = "+ " if shell.dialect.is_ash else " +"
    for number in shell.finished_jobs:
        streams.stdout.write(f"[{number}]{mark} Done                       \n")
    shell.finished_jobs.clear()
    return 0


def _foreground(shell: Shell, argv: list[str], streams: Streams) -> int:
    raise Refused("No current job", is_fatal=False, command=argv[0])


def _ulimit(shell: Shell, argv: list[str], streams: Streams) -> int:
    if argv[-1].isdecimal():
        if shell.dialect.is_ash:
            streams.stderr.write(shell.located("error setting limit: Operation not permitted"))
            return 1
        raise Refused("error setting limit (Operation not permitted)", command="ulimit")
    streams.stdout.write("1048576\n" if "-n" in argv else "unlimited\n")
    return 0


def _umask(shell: Shell, argv: list[str], streams: Streams) -> int:
    if len(argv) == 1:
        streams.stdout.write("0022\n")
        return 0
    if re.fullmatch(r"[0-7]{1,4}|[ugoa]*[-+=][rwx]*(?:,[ugoa]*[-+=][rwx]*)*", argv[1]) is None:
        raise Refused(f"Illegal mode: {argv[1]}", command="umask")
    return 0


def _alias(shell: Shell, argv: list[str], streams: Streams) -> int:
    missing = [each for each in argv[1:] if "=" not in each]
    streams.stderr.write("".join(f"{argv[0]}: {name} not found\n" for name in missing))
    return 1 if missing else 0


def _hash(shell: Shell, argv: list[str], streams: Streams) -> int:
    return 0


UTILITIES: Final[dict[str, Command]] = {
    "alias": _alias,
    "bg": _foreground,
    "cd": _cd,
    "command": _command,
    "fg": _foreground,
    "hash": _hash,
    "jobs": _jobs,
    "kill": kill,
    "let": _let,
    "local": _local,
    "pwd": _pwd,
    "read": _read,
    "type": _type,
    "ulimit": _ulimit,
    "umask": _umask,
    "unalias": _alias,
    "wait": _wait,
}
"""Ordinary built-ins that need the shell."""
