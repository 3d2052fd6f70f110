"""rmdir: removes empty directories."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import NOT_DIRECTORY, ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(
            argv[1:], "pv", {"parents": "p", "verbose": "v", "ignore-fail-on-non-empty": "i"}
        )
        if not options.operands:
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    problems: list[str] = []
    for name in options.operands:
        path = process.path(name)
        reason = ""
        try:
            if name.rstrip("/").rpartition("/")[2] == ".":
                reason = "Invalid argument"
            elif process.fs.entry(path).is_dir:
                process.fs.remove(path)
            else:
                reason = NOT_DIRECTORY
        except ShellFileError as error:
            reason = error.reason
        if reason:
            text = f"'{name}'" if process.is_busybox else f"failed to remove '{name}'"
            problems.append(f"rmdir: {text}: {reason}\n")
    return Output("", "".join(problems), int(bool(problems)))


BUILTIN = Builtin(name="rmdir", run=_run, source="GNU coreutils 9.1 rmdir; tests/golden/programs/shell 105")
