"""rm: removes files, with -r directories too."""

from __future__ import annotations

from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import IS_DIRECTORY, NO_SUCH_FILE, ShellFileError
from env_core.world import Output

_LONG = {
    "recursive": "r",
    "force": "f",
    "verbose": "v",
    "dir": "d",
    "interactive=?": "i",
    "one-file-system": "x",
}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "rRfvdiI", _LONG)
        if not options.operands and not options.has("f"):
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    out: list[str] = []
    problems: list[str] = []
    for name in options.operands:
        if name.rstrip("/").rpartition("/")[2] in (".", ".."):
            problems.append(f"rm: refusing to remove '.' or '..' directory: skipping '{name}'\n")
            continue
        try:
            _remove(process, name, options, out)
        except ShellFileError as error:
            if error.reason == NO_SUCH_FILE and options.has("f"):
                continue
            problems.append(_problem(process, name, error.reason))
    return Output("".join(out), "".join(problems), int(bool(problems)))


def _problem(process: Process, name: str, reason: str) -> str:
    if not process.is_busybox:
        return f"rm: cannot remove '{name}': {reason}\n"
    return (
        f"rm: '{name}' is a directory\n"
        if reason == IS_DIRECTORY
        else f"rm: can't remove '{name}': {reason}\n"
    )


def _remove(process: Process, name: str, options: Options, out: list[str]) -> None:
    path = process.path(name)
    if process.fs.entry(path).is_dir:
        if not options.has("rRd"):
            raise ShellFileError(path, IS_DIRECTORY)
        if options.has("rR"):
            for each in process.fs.listdir(path):
                _remove(process, f"{name.rstrip('/')}/{each}", options, out)
        process.fs.remove(path)
        if options.has("v"):
            out.append(f"removed directory '{name}'\n")
        return
    process.fs.remove(path)
    if options.has("v"):
        out.append(f"removed '{name}'\n")


BUILTIN = Builtin(name="rm", run=_run, source="GNU coreutils 9.1 rm; tests/golden/programs/shell 100-104")
