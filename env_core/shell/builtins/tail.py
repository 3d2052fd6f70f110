"""tail: the last lines or bytes."""

from __future__ import annotations

import re

from env_core.shell._inputs import read_input
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {
    "lines=": "n",
    "bytes=": "c",
    "quiet": "q",
    "silent": "q",
    "verbose": "v",
    "follow=?": "f",
    "retry": "F",
}
_NUMBER = re.compile(r"([-+]?)(\d{1,15})([kKMG]?)B?\Z", re.ASCII)
_UNITS = {"": 1, "k": 1024, "K": 1024, "M": 1024**2, "G": 1024**3}


def _run(process: Process, argv: list[str]) -> Output:
    """Print ends of files; `-f` prints what is there and ends, as nothing else writes meanwhile."""
    arguments = argv[1:]
    if arguments and re.fullmatch(r"-\d+", arguments[0], re.ASCII):
        arguments[0] = f"-n{arguments[0][1:]}"
    if arguments and re.fullmatch(r"\+\d+", arguments[0], re.ASCII):
        arguments[0] = f"-n{arguments[0]}"
    try:
        options = parse_options(arguments, "n:c:qvfFs:", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    counts_bytes = options.has("c")
    wanted = options.value("c" if counts_bytes else "n", "10")
    found = _NUMBER.match(wanted)
    if found is None:
        kind = "bytes" if counts_bytes else "lines"
        text = f"invalid number '{wanted}'" if process.is_busybox else f"invalid number of {kind}: '{wanted}'"
        return Output("", f"tail: {text}\n", 1)
    count = int(found.group(2)) * _UNITS[found.group(3)]
    from_start = found.group(1) == "+"
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
        out.append(_bytes(text, count, from_start) if counts_bytes else _lines(text, count, from_start))
    return Output("".join(out), "".join(problems), int(bool(problems)))


def _problem(process: Process, name: str, reason: str) -> str:
    if reason == "Is a directory":
        return (
            f"tail: read error: {reason}\n"
            if process.is_busybox
            else f"tail: error reading '{name}': {reason}\n"
        )
    if process.is_busybox:
        return f"tail: can't open '{name}': {reason}\ntail: no files\n"
    return f"tail: cannot open '{name}' for reading: {reason}\n"


def _lines(text: str, count: int, from_start: bool) -> str:
    pieces = re.findall(r"[^\n]*\n|[^\n]+", text)
    if from_start:
        return "".join(pieces[max(count - 1, 0) :])
    return "".join(pieces[-count:]) if count else ""


def _bytes(text: str, count: int, from_start: bool) -> str:
    encoded = text.encode("utf-8", "surrogateescape")
    if from_start:
        return encoded[max(count - 1, 0) :].decode("utf-8", "replace")
    return encoded[-count:].decode("utf-8", "replace") if count else ""


BUILTIN = Builtin(name="tail", run=_run, source="GNU coreutils 9.1 tail; tests/golden/programs/shell 118-120")
