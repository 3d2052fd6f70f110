"""column: aligns text in columns."""

from __future__ import annotations

from env_core.shell._inputs import joined_lines, read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "table": "t", "separator=": "s", "output-separator=": "o", "table-columns=": "N", "table-right=": "R",
    "output-width=": "c", "fillrows": "x",
}  # fmt: skip
_WIDTH = 80


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "ts:o:N:R:c:xn", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    texts, problems = read_inputs(process, options.operands, "column: cannot open {name}: {reason}")
    lines = [line for _, text in texts for line in split_lines(text) if line.strip()]
    if not options.has("t"):
        return Output(_filled(lines), problems, int(bool(problems)))
    separators = options.value("s")
    rows = [_cells(line, separators) for line in lines]
    if options.has("N"):
        rows.insert(0, options.value("N").split(","))
    joiner = options.value("o", "  ")
    widths = [
        max(len(row[index]) for row in rows if index < len(row))
        for index in range(max((len(row) for row in rows), default=0))
    ]
    out: list[str] = []
    for row in rows:
        cells = [cell.ljust(widths[index]) for index, cell in enumerate(row)]
        cells += [" " * width for width in widths[len(row) :]]
        text = joiner.join(cells)
        out.append(text.rstrip(" ") if len(row) == len(widths) or joiner.isspace() else text)
    return Output(joined_lines(out), problems, int(bool(problems)))


def _cells(line: str, separators: str) -> list[str]:
    if not separators:
        return line.split()
    for separator in separators[1:]:
        line = line.replace(separator, separators[0])
    return line.split(separators[0])


def _filled(lines: list[str]) -> str:
    """Return the entries in columns that are filled downwards, as wide as a terminal."""
    if not lines:
        return ""
    width = (max(len(line) for line in lines) // 8 + 1) * 8
    columns = max(_WIDTH // width, 1)
    rows = -(-len(lines) // columns)
    out: list[str] = []
    for row in range(rows):
        cells = lines[row::rows]
        text = cells[0]
        for index, cell in enumerate(cells[1:], start=1):
            missing = index * width - len(text.expandtabs(8))
            text += "\t" * (-(-missing // 8)) + cell
        out.append(text)
    return joined_lines(out)


BUILTIN = Builtin(name="column", run=_run, source="util-linux 2.38 column")
