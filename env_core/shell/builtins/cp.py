"""cp: copies files."""

from __future__ import annotations

from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {"recursive": "r", "archive": "a", "force": "f", "verbose": "v", "no-clobber": "n", "preserve=?": "p"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "rRafvnpiLPHduxT", _LONG)
        names = options.operands
        if not names:
            raise UsageProblem("missing file operand")
        if len(names) == 1:
            raise UsageProblem(f"missing destination file operand after '{names[0]}'")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    target = names[-1]
    into = process.fs.is_dir(process.path(target))
    if len(names) > 2 and not into:
        return Output("", f"cp: target '{target}': Not a directory\n", 1)
    out: list[str] = []
    problems: list[str] = []
    for name in names[:-1]:
        destination = f"{target.rstrip('/')}/{name.rstrip('/').rpartition('/')[2]}" if into else target
        _copy(process, name, destination, options, out, problems)
    return Output("".join(out), "".join(problems), int(bool(problems)))


def _copy(
    process: Process, name: str, target: str, options: Options, out: list[str], problems: list[str]
) -> None:
    fs = process.fs
    source, destination = process.path(name), process.path(target)
    busybox = process.is_busybox
    try:
        entry = fs.entry(source)
    except ShellFileError as error:
        problems.append(
            f"cp: {'can' + chr(39) + 't' if busybox else 'cannot'} stat '{name}': {error.reason}\n"
        )
        return
    if entry.is_dir and not options.has("rRa"):
        text = f"omitting directory '{name}'"
        problems.append(f"cp: {text}\n" if busybox else f"cp: -r not specified; {text}\n")
        return
    if destination == source:
        problems.append(f"cp: '{name}' and '{target}' are the same file\n")
        return
    if destination.startswith(source.rstrip("/") + "/"):
        problems.append(f"cp: cannot copy a directory, '{name}', into itself, '{target}'\n")
        return
    try:
        if entry.is_dir:
            fs.mkdir(destination, parents=fs.is_dir(destination))
            for each in fs.listdir(source):
                _copy(process, f"{name}/{each}", f"{target}/{each}", options, out, problems)
            return
        text = fs.read(source)
    except ShellFileError as error:
        problems.append(f"cp: cannot open '{name}' for reading: {error.reason}\n")
        return
    if options.has("n") and fs.exists(destination):
        return
    try:
        fs.write(destination, text, process.now_ms())
        if options.has("v"):
            out.append(f"'{name}' -> '{target}'\n")
    except ShellFileError as error:
        shown = target if not target.endswith("/") else target + name
        verb = "can't create" if busybox else "cannot create regular file"
        problems.append(f"cp: {verb} '{shown}': {error.reason}\n")


BUILTIN = Builtin(name="cp", run=_run, source="GNU coreutils 9.1 cp; tests/golden/programs/shell 094-097")
