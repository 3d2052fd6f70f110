"""head: the first lines or bytes."""

from __future__ import annotations

import re

from env_core.shell._inputs import read_input
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {"lines=": "n", "bytes=": "c", "quiet": "q", "silent": "q", "verbose": "v"}
_NUMBER = re.compile(r"([-+]?)(\d{1,15})([kKMG]?)B?\Z", re.ASCII)
_UNITS = {"": 1, "k": 1024, "K": 1024, "M": 1024**2, "G": 1024**3}


def _run(process: Process, argv: list[str]) -> Output:
    arguments = argv[1:]
    if arguments and re.fullmatch(r"-\d+", arguments[0], re.ASCII):
        arguments[0] = f"-n{arguments[0][1:]}"
    try:
        options = parse_options(arguments, "n:c:qv", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    counts_bytes = options.has("c")
    wanted = options.value("c" if counts_bytes else "n", "10")
    found = _NUMBER.match(wanted)
    if found is None:
        kind = "bytes" if counts_bytes else "lines"
        text = f"invalid number '{wanted}'" if process.is_busybox else f"invalid number of {kind}: '{wanted}'"
        return Output("", f"head: {text}\n", 1)
    count = int(found.group(2)) * _UNITS[found.group(3)]
    from_end = found.group(1) == "-"
    names = options.operands or ["-"]
    titled = (len(names) > 1 and not options.has("q")) or options.has("v")
    out: list[str] = []
    problems: list[str] = []
    for name in names:
        try:
            text = read_input(process, name)
        except ShellFileError as error:
            problems.append(_problem(process, name, error.reason))
            if error.reason != "Is a directory":
                continue
            text = ""
        if titled:
            out.append(f"{chr(10) if out else ''}==> {'standard input' if name == '-' else name} <==\n")
        out.append(_bytes(text, count, from_end) if counts_bytes else _lines(text, count, from_end))
    return Output("".join(out), "".join(problems), int(bool(problems)))


def _problem(process: Process, name: str, reason: str) -> str:
    if reason == "Is a directory":
        return f"head: error reading '{name}': {reason}\n"
    if process.is_busybox:
        return f"head: {name}: {reason}\n"
    return f"head: cannot open '{name}' for reading: {reason}\n"


def _lines(text: str, count: int, from_end: bool) -> str:
    if not from_end:
        position = -1
        for _ in range(count):
            position = text.find("\n", position + 1)
            if position == -1:
                return text
        return text[: position + 1]
    pieces = re.findall(r"[^\n]*\n|[^\n]+", text)
    return "".join(pieces[: max(len(pieces) - count, 0)])


def _bytes(text: str, count: int, from_end: bool) -> str:
    encoded = text.encode("utf-8", "surrogateescape")
    kept = encoded[: max(len(encoded) - count, 0)] if from_end else encoded[:count]
    return kept.decode("utf-8", "replace")


BUILTIN = Builtin(
    name="head", run=_run, source="GNU coreutils 9.1 head; tests/golden/programs/shell 116, 117"
)
