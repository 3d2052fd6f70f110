"""mkdir: creates directories."""

from __future__ import annotations

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_DEPTH_MAX = 256
"""A path with more parts is longer than PATH_MAX allows in practice."""


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "pm:v", {"parents": "p", "mode=": "m", "verbose": "v"})
        if not options.operands:
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    out: list[str] = []
    problems: list[str] = []
    for name in options.operands:
        if name.count("/") > _DEPTH_MAX:
            problems.append(f"{argv[0]}: cannot create directory '{name}': File name too long\n")
            continue
        try:
            process.fs.mkdir(process.path(name), parents=options.has("p") and name != "")
            if options.has("v"):
                out.append(f"mkdir: created directory '{name}'\n")
        except ShellFileError as error:
            verb = "can't" if process.is_busybox else "cannot"
            problems.append(f"mkdir: {verb} create directory '{name}': {error.reason}\n")
    return Output("".join(out), "".join(problems), int(bool(problems)))


BUILTIN = Builtin(
    name="mkdir", run=_run, source="GNU coreutils 9.1 mkdir; tests/golden/programs/shell 107, 108"
)
