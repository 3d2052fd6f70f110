"""What head and tail have in common: their options, the titles over several files, their errors."""

from __future__ import annotations

import re
from collections.abc import Callable

from env_core.shell._inputs import read_input
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.context import Process
from env_core.shell.filesystem import ENDLESS, SIZE_MAX, ShellFileError
from env_core.world import Output

Cut = Callable[[str, int, bool], str]
"""Takes a text, a count, and whether the count had the program's special sign."""

_LONG = {"lines=": "n", "bytes=": "c", "quiet": "q", "silent": "q", "verbose": "v"}
_NUMBER = re.compile(r"([-+]?)(\d{1,15})([kKMG]?)B?\Z", re.ASCII)
_UNITS = {"": 1, "k": 1024, "K": 1024, "M": 1024**2, "G": 1024**3}


def cut_files(
    process: Process,
    argv: list[str],
    *,
    name: str,
    sign: str,
    lines: Cut,
    octets: Cut,
    problem: Callable[[Process, str, str], str],
    short: str = "",
    long: dict[str, str] | None = None,
) -> Output:
    """Print a part of each file that `argv` asks for.

    `sign` before a count turns the part around; `short` and `long` are options beyond the shared ones.
    """
    arguments = argv[1:]
    if arguments and re.fullmatch(r"-\d+", arguments[0], re.ASCII):
        arguments = [f"-n{arguments[0][1:]}", *arguments[1:]]
    try:
        options = parse_options(arguments, f"n:c:qv{short}", _LONG | (long or {}))
    except UsageProblem as refused:
        return refused.output(argv[0], process)
    counts_bytes = options.has("c")
    wanted = options.value("c" if counts_bytes else "n", "10")
    found = _NUMBER.match(wanted)
    if found is None:
        kind = "bytes" if counts_bytes else "lines"
        text = f"invalid number '{wanted}'" if process.is_busybox else f"invalid number of {kind}: '{wanted}'"
        return Output("", f"{name}: {text}\n", 1)
    count = int(found.group(2)) * _UNITS[found.group(3)]
    cut = octets if counts_bytes else lines
    files = options.operands or ["-"]
    titled = (len(files) > 1 and not options.has("q")) or options.has("v")
    out: list[str] = []
    problems: list[str] = []
    for file in files:
        try:
            text = _endless(count) if counts_bytes and file in ENDLESS else read_input(process, file)
        except ShellFileError as error:
            problems.append(problem(process, file, error.reason))
            if error.reason != "Is a directory":
                continue
            text = ""
        if titled:
            out.append(f"{chr(10) if out else ''}==> {'standard input' if file == '-' else file} <==\n")
        out.append(cut(text, count, found.group(1) == sign))
    return Output("".join(out), "".join(problems), int(bool(problems)))


def _endless(count: int) -> str:
    return "\0" * min(count, SIZE_MAX)
