"""touch: creates files, or renews their times."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "acmd:r:t:", {"no-create": "c", "date=": "d"})
        if not options.operands:
            raise UsageProblem("missing file operand")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    problems: list[str] = []
    for name in options.operands:
        path = process.path(name)
        if process.fs.is_dir(path) or (options.has("c") and not process.fs.exists(path)):
            continue
        try:
            process.fs.append(path, "", process.now_ms())
        except ShellFileError as error:
            text = name if process.is_busybox else f"cannot touch '{name}'"
            problems.append(f"touch: {text}: {error.reason}\n")
    return Output("", "".join(problems), int(bool(problems)))


BUILTIN = Builtin(
    name="touch", run=_run, source="GNU coreutils 9.1 touch; tests/golden/programs/shell 109, 110"
)
