"""tee: copies its input to files."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell._quoting import quoted_name
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "aip", {"append": "a", "ignore-interrupts": "i"})
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    text = process.stdin
    problems: list[str] = []
    for name in options.operands:
        if name == "/dev/stderr":
            problems.append(text)
            continue
        write = process.fs.append if options.has("a") else process.fs.write
        try:
            write(process.path(name), text, process.now_ms())
        except ShellFileError as error:
            shown = name if process.is_busybox else quoted_name(name)
            problems.append(f"tee: {shown}: {error.reason}\n")
    failed = any(problem is not text for problem in problems)
    return Output(text, "".join(problems), int(failed))


BUILTIN = Builtin(name="tee", run=_run, source="GNU coreutils 9.1 tee; tests/golden/programs/shell 141")
