"""Ordinary commands that need the shell: cd, read, type, command, jobs and their like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from env_core.shell._arithmetic import ArithmeticProblem, evaluate
from env_core.shell._control import Refused
from env_core.shell._grammar import RESERVED
from env_core.shell._signals import kill
from env_core.shell._special import NAME, SPECIAL, Command, number
from env_core.shell.filesystem import NO_SUCH_FILE, NOT_DIRECTORY
from env_core.world import Output

if TYPE_CHECKING:
    from env_core.shell._streams import Streams
    from env_core.shell.pipeline import Shell


def _cd(shell: Shell, argv: list[str], streams: Streams) -> int:
    process = shell.process
    names = [each for each in argv[1:] if each not in ("-L", "-P", "--")]
    if len(names) > 1 and shell.dialect.is_bash:
        raise Refused("too many arguments", 1, is_fatal=False, command="cd")
    name = names[0] if names else shell.parameter("HOME") or "/"
    prints = name == "-"
    if prints:
        name = shell.variables.get("OLDPWD") or process.cwd
    path = process.path(name or ".")
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
    if not names and shell.dialect.is_bash:
        names = ["REPLY"]
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
        if NAME.match(name) is None:
            raise Refused(shell.dialect.bad_name(name, each), command="local")
        shell.locals[-1].setdefault(name, shell.variables.get(name))
        if equals:
            shell.assign(name, value)
    return 0


def _where(shell: Shell, name: str) -> tuple[str, str]:
    """Return what kind of command `name` is, and the path of a program."""
    if name in RESERVED:
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
        if not kind and shell.dialect.is_bash:
            streams.stderr.write(shell.located(f"{name}: not found", argv[0]))
            status = 1
        elif not kind:
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
            return 1 if shell.dialect.is_bash else 127
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
            value = evaluate(text, shell.variables, is_extended=True)
        except ArithmeticProblem as problem:
            raise Refused(shell.dialect.arithmetic(problem), command="let") from None
    return int(value == 0)


def _wait(shell: Shell, argv: list[str], streams: Streams) -> int:
    for each in argv[1:]:
        if shell.dialect.is_bash and each != "4243":
            is_number = each.isdecimal()
            text = (
                f"pid {each} is not a child of this shell"
                if is_number
                else f"`{each}': not a pid or valid job spec"
            )
            streams.stderr.write(shell.located(text, "wait"))
            return 127 if is_number else 1
        if not each.startswith("%"):
            number(each, "wait")
    jobs, owner = shell.process.jobs, shell.owner
    if jobs is not None:
        jobs.finish(shell.process, lambda job: job.owner is owner)
    return 127 if len(argv) > 1 and argv[1] != "4243" else 0


def _jobs(shell: Shell, argv: list[str], streams: Streams) -> int:
    if shell.dialect.is_bash:
        shell.finished_jobs.clear()  # a script's shell tells of no job that has ended
        return 0
    mark = "+ " if shell.dialect.is_ash else " +"
    for job in shell.finished_jobs:
        streams.stdout.write(f"[{job}]{mark} Done                       \n")
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
        if shell.dialect.is_bash:
            rest = argv[1].lstrip("ugoa")
            wrong = "operator" if rest[:1] not in ("+", "-", "=") else "character"
            shown = rest[:1] if wrong == "operator" else rest.lstrip("+-=rwxXst")[:1]
            if argv[1].isdecimal():
                raise Refused(f"{argv[1]}: octal number out of range", command="umask")
            raise Refused(f"`{shown}': invalid symbolic mode {wrong}", command="umask")
        raise Refused(f"Illegal mode: {argv[1]}", command="umask")
    return 0


def _alias(shell: Shell, argv: list[str], streams: Streams) -> int:
    missing = [each for each in argv[1:] if "=" not in each]
    if shell.dialect.is_bash:
        lines = [shell.located(f"{name}: not found", argv[0]) for name in missing]
    else:
        lines = [f"{argv[0]}: {name} not found\n" for name in missing]
    streams.stderr.write("".join(lines))
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
