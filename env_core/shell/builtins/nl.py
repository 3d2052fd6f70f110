"""nl: numbers lines."""

from __future__ import annotations

from env_core.shell._inputs import read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {"body-numbering=": "b", "number-width=": "w", "number-separator=": "s", "starting-line-number=": "v"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "b:w:s:v:n:i:", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    width, start = options.value("w", "6"), options.value("v", "1")
    if not (width.isdecimal() and 0 < int(width[:4]) < 1000):
        return Output("", f"nl: invalid line number field width: '{width}'\n", 1)
    if not start.lstrip("-").isdecimal():
        return Output("", f"nl: invalid starting line number: '{start}'\n", 1)
    texts, problems = read_inputs(
        process, options.operands, "nl: {name}: {reason}" if process.is_busybox else "nl: {quoted}: {reason}"
    )
    columns, number = int(width), int(start[:12])
    separator = options.value("s", "\t")
    out: list[str] = []
    for line in (line for _, text in texts for line in split_lines(text)):
        if line or options.value("b", "t") == "a":
            out.append(f"{number:>{columns}}{separator}{line}\n")
            number += 1
        else:
            out.append(" " * (columns + len(separator)) + "\n")
    return Output("".join(out), problems, int(bool(problems)))


BUILTIN = Builtin(name="nl", run=_run, source="GNU coreutils 9.1 nl")
