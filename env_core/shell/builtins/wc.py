"""wc: counts lines, words, characters and bytes."""

from __future__ import annotations

from env_core.shell._inputs import read_inputs
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_LONG = {"lines": "l", "words": "w", "chars": "m", "bytes": "c", "max-line-length": "L"}


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "lwmcL", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    letters = [letter for letter in "lwmcL" if options.has(letter)] or ["l", "w", "c"]
    texts, problems = read_inputs(
        process, options.operands, "wc: {name}: {reason}" if process.is_busybox else "wc: {quoted}: {reason}"
    )
    rows = [([_measure(text, letter) for letter in letters], name) for name, text in texts]
    if len(options.operands) > 1:
        totals = [sum(column) for column in zip(*(counts for counts, _ in rows))] or [0] * len(letters)
        rows.append((totals, "total"))
    width = _width(rows, options.operands, letters)
    lines = []
    for counts, name in rows:
        shown = "" if not options.operands else f" {name}"
        lines.append(" ".join(str(count).rjust(width) for count in counts) + shown + "\n")
    return Output("".join(lines), problems, int(bool(problems)))


def _measure(text: str, letter: str) -> int:
    if letter == "l":
        return text.count("\n")
    if letter == "w":
        return len(text.split())
    if letter == "m":
        return len(text)
    if letter == "L":
        return max((len(line) for line in text.split("\n")), default=0)
    return len(text.encode("utf-8", "surrogateescape"))


def _width(rows: list[tuple[list[int], str]], operands: list[str], letters: list[str]) -> int:
    """Return the column width: standard input of unknown size gives 7, one number alone none."""
    if len(letters) == 1 and len(rows) <= 1:
        return 1
    if not operands or "-" in operands:
        return 7
    return max((len(str(count)) for counts, _ in rows for count in counts), default=1)


BUILTIN = Builtin(name="wc", run=_run, source="GNU coreutils 9.1 wc; tests/golden/programs/shell 121")
