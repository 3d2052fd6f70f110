"""cut: fields and characters of lines."""

from __future__ import annotations

from env_core.shell._inputs import joined_lines, read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {
    "fields=": "f", "characters=": "c", "bytes=": "b", "delimiter=": "d", "only-delimited": "s", "complement": "v",
    "output-delimiter=": "o",
}  # fmt: skip


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "f:c:b:d:sn", _LONG)
        kind = next((letter for letter in "fcb" if options.has(letter)), "")
        if not kind:
            if process.is_busybox:
                return Output("", "cut: expected a list of bytes, characters, or fields\n", 1)
            raise UsageProblem("you must specify a list of bytes, characters, or fields")
        ranges = _ranges(options.value(kind), kind, process)
        delimiter = options.value("d", "\t")
        if len(delimiter) != 1:
            raise UsageProblem("the delimiter must be a single character")
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    texts, problems = read_inputs(
        process,
        options.operands,
        "cut: {name}: {reason}" if process.is_busybox else "cut: {quoted}: {reason}",
    )
    lines: list[str] = []
    joiner = options.value("o", delimiter if kind == "f" else "")
    for line in (line for _, text in texts for line in split_lines(text)):
        if kind != "f":
            lines.append(joiner.join(_chosen(list(line), ranges, complement=options.has("v"))))
        elif delimiter not in line:
            if not options.has("s"):
                lines.append(line)
        else:
            lines.append(joiner.join(_chosen(line.split(delimiter), ranges, complement=options.has("v"))))
    return Output(joined_lines(lines), problems, int(bool(problems)))


def _chosen(pieces: list[str], ranges: list[tuple[int, int]], *, complement: bool) -> list[str]:
    return [
        piece
        for number, piece in enumerate(pieces, start=1)
        if any(low <= number <= high for low, high in ranges) != complement
    ]


def _ranges(text: str, kind: str, process: Process) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    what = "field" if kind == "f" else "byte/character"
    for part in text.replace(" ", ",").split(","):
        low, dash, high = part.partition("-")
        if not (low or high) or any(
            each and not (each.isascii() and each.isdecimal()) for each in (low, high)
        ):
            if part == "-":
                raise UsageProblem("invalid range with no endpoint: -")
            value = (
                f"invalid field value '{part}'"
                if kind == "f"
                else f"invalid byte/character position '{part}'"
            )
            raise UsageProblem(value)
        first = int(low[:9]) if low else 1
        last = int(high[:9]) if high else (1_000_000_000 if dash else first)
        if (first == 0 or last == 0) and not process.is_busybox:
            raise UsageProblem(
                "fields are numbered from 1"
                if kind == "f"
                else "byte/character positions are numbered from 1"
            )
        if last < first:
            raise UsageProblem("invalid decreasing range")
        if (first, last) == (0, 0):
            # BusyBox takes field 0 as the whole line.
            first, last = 1, 1_000_000_000
        ranges.append((first, last))
    if not ranges:
        raise UsageProblem(f"missing list of {what}s")
    return ranges


BUILTIN = Builtin(name="cut", run=_run, source="GNU coreutils 9.1 cut; tests/golden/programs/shell 124, 125")
