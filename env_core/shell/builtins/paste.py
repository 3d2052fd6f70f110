"""paste: joins lines of files side by side."""

from __future__ import annotations

from itertools import zip_longest

from env_core.shell._format import unescaped
from env_core.shell._inputs import joined_lines, read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "d:s", {"delimiters=": "d", "serial": "s"})
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    texts, problems = read_inputs(
        process,
        options.operands,
        "paste: {name}: {reason}" if process.is_busybox else "paste: {quoted}: {reason}",
    )
    if problems:
        return Output("", problems.splitlines(keepends=True)[0], 1)
    delimiters = unescaped(options.value("d", "\t")).replace("\\0", "") or ""
    columns = [split_lines(text) for _, text in texts]
    if options.operands.count("-") > 1 and not options.has("s"):
        # Several "-" take turns with the lines of standard input.
        dashes = [index for index, name in enumerate(options.operands) if name == "-"]
        lines = columns[dashes[0]]
        for place, index in enumerate(dashes):
            columns[index] = lines[place :: len(dashes)]
    rows = columns if options.has("s") else [list(row) for row in zip_longest(*columns, fillvalue="")]
    return Output(joined_lines([_joined(row, delimiters) for row in rows]))


def _joined(cells: list[str], delimiters: str) -> str:
    out = cells[:1]
    for index, cell in enumerate(cells[1:]):
        out.append((delimiters[index % len(delimiters)] if delimiters else "") + cell)
    return "".join(out)


BUILTIN = Builtin(name="paste", run=_run, source="GNU coreutils 9.1 paste")
