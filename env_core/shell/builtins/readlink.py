"""readlink and realpath: there are no symbolic links here, so that only whole paths have anything to say."""

from __future__ import annotations

import posixpath

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    name = argv[0]
    try:
        options = parse_options(argv[1:], "fenmqsvz", {"canonicalize": "f"})
        if not options.operands:
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output(name, process)
    out, err, code = "", "", 0
    for operand in options.operands:
        path = process.path(operand)
        above = posixpath.dirname(path)
        is_there = process.fs.exists(path) or (process.fs.is_dir(above) and not options.has("e"))
        if name == "readlink" and not options.has("fem"):
            code = 1
        elif is_there or options.has("m"):
            out += path + ("" if options.has("n") else "\n")
        else:
            code = 1
            if name == "realpath":
                err += f"realpath: {operand}: No such file or directory\n"
    return Output(out, err, code)


BUILTIN = Builtin(
    name="readlink",
    run=_run,
    source="GNU coreutils 9.1 readlink; tests/golden/programs/shell 134",
    aliases=("realpath",),
)
