"""chown and chgrp: owners of files; only root changes them."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "Rvfch", {"recursive": "R", "verbose": "v"})
        words = options.operands
        if not words:
            raise UsageProblem("missing operand")
        if len(words) == 1:
            raise UsageProblem(f"missing operand after '{words[0]}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    owner, _, _ = words[0].replace(".", ":").partition(":")
    if argv[0] == "chown" and owner and not owner.isdecimal() and owner not in _users(process):
        text = f"unknown user {owner}" if process.is_busybox else f"invalid user: '{words[0]}'"
        return Output("", f"{argv[0]}: {text}\n", 1)
    problems: list[str] = []
    for name in words[1:]:
        path = process.path(name)
        try:
            process.fs.entry(path)
        except ShellFileError as error:
            shown = name if process.is_busybox else f"cannot access '{name}'"
            problems.append(f"{argv[0]}: {shown}: {error.reason}\n")
            continue
        try:
            if argv[0] == "chown" and owner:
                process.fs.chown(path, owner)
        except ShellFileError as error:
            shown = name if process.is_busybox else f"changing ownership of '{name}'"
            problems.append(f"{argv[0]}: {shown}: {error.reason}\n")
    return Output("", "".join(problems), int(bool(problems)))


def _users(process: Process) -> set[str]:
    try:
        text = process.fs.read("/etc/passwd")
    except ShellFileError:
        text = ""
    return {"root", process.user, *(line.partition(":")[0] for line in text.splitlines())}


BUILTIN = Builtin(
    name="chown",
    run=_run,
    source="GNU coreutils 9.1 chown; tests/golden/programs/shell 113, 114",
    aliases=("chgrp",),
)
