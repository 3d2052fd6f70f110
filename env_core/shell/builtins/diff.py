"""diff: compares two files line by line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from env_core.shell._clock import formatted_time
from env_core.shell._inputs import read_input
from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {
    "unified=?": "U", "brief": "q", "ignore-case": "i", "ignore-all-space": "w", "ignore-space-change": "b",
    "recursive": "r", "new-file": "N", "label=": "L", "color=?": "0", "ignore-blank-lines": "B", "text": "a",
    "report-identical-files": "s", "side-by-side": "y", "strip-trailing-cr": "0",
}  # fmt: skip
_LINES_MAX = 5000
_PAIRS_MAX = 200_000
"""Equal lines, one of each file: all of them are looked at again and again."""
_Opcode = tuple[str, int, int, int, int]


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "uU:qiwbrNaBsyc", _LONG)
        if len(options.operands) < 2:
            after = f" after '{options.operands[0]}'" if options.operands else f" after '{argv[0]}'"
            raise UsageProblem(f"missing operand{after}")
        if len(options.operands) > 2:
            raise UsageProblem(f"extra operand '{options.operands[2]}'")
    except UsageProblem as problem:
        return Output("", f"diff: {problem.text}\ndiff: Try 'diff --help' for more information.\n", 2)
    texts: list[str] = []
    problems: list[str] = []
    for name in options.operands:
        try:
            texts.append(read_input(process, name))
        except ShellFileError as error:
            if options.has("N"):
                texts.append("")
            else:
                problems.append(f"diff: {name}: {error.reason}\n")
    if problems:
        return Output("", "".join(problems), 2)
    left, right = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in texts)
    if max(len(left), len(right)) > _LINES_MAX:
        return Output("", f"diff: files longer than {_LINES_MAX} lines are not compared\n", 2)
    keys = [[_key(line, options) for line in lines] for lines in (left, right)]
    names = options.operands
    if keys[0] == keys[1]:
        return Output(f"Files {names[0]} and {names[1]} are identical\n" if options.has("s") else "")
    if options.has("q"):
        return Output(f"Files {names[0]} and {names[1]} differ\n", "", 1)
    counts = Counter(keys[0]), Counter(keys[1])
    pairs = sum(count * counts[1][key] for key, count in counts[0].items())
    process.work.done += pairs
    if pairs > _PAIRS_MAX:
        return Output("", "diff: files with too many equal lines are not compared\n", 2)
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=False)
    if options.has("uU"):
        context = options.value("U") or "3"
        heads = [_head(process, name, label) for name, label in zip(names, [*options.values("L"), "", ""])]
        body = _unified(matcher, left, right, int(context[:4]) if context.isdecimal() else 3)
        return Output(f"--- {heads[0]}\n+++ {heads[1]}\n{body}", "", 1)
    return Output(_normal(matcher.get_opcodes(), left, right), "", 1)


def _key(line: str, options: Options) -> str:
    if options.has("i"):
        line = line.lower()
    if options.has("w"):
        return "".join(line.split())
    return " ".join(line.split()) if options.has("b") else line


def _head(process: Process, name: str, label: str) -> str:
    if label:
        return label
    at_ms = process.now_ms() if name == "-" else process.fs.entry(process.path(name)).changed_ms
    return f"{name}\t{formatted_time(at_ms, '%Y-%m-%d %H:%M:%S.%N %z')}"


def _marked(mark: str, lines: list[str]) -> str:
    return "".join(
        f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
        for line in lines
    )


def _unified(matcher: SequenceMatcher[str], left: list[str], right: list[str], context: int) -> str:
    out: list[str] = []
    for group in matcher.get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        out.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n")
        for kind, start, end, other_start, other_end in group:
            if kind == "equal":
                out.append(_marked(" ", left[start:end]))
                continue
            out.append(_marked("-", left[start:end]))
            out.append(_marked("+", right[other_start:other_end]))
    return "".join(out)


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _normal(opcodes: Sequence[_Opcode], left: list[str], right: list[str]) -> str:
    out: list[str] = []
    for kind, start, end, other_start, other_end in opcodes:
        if kind == "equal":
            continue
        letter = {"replace": "c", "delete": "d", "insert": "a"}[kind]
        out.append(f"{_lines(start, end)}{letter}{_lines(other_start, other_end)}\n")
        out.append(_marked("< ", left[start:end]))
        if kind == "replace":
            out.append("---\n")
        out.append(_marked("> ", right[other_start:other_end]))
    return "".join(out)


def _lines(start: int, end: int) -> str:
    if end - start <= 1:
        return str(end)
    return f"{start + 1},{end}"


BUILTIN = Builtin(name="diff", run=_run, source="GNU diffutils 3.8 diff")
