"""cat: joins files."""

from __future__ import annotations

import re

from env_core.shell._inputs import read_input
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell._quoting import quoted_name
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import IS_DIRECTORY, ShellFileError
from env_core.world import Output

_LONG = {
    "number": "n", "number-nonblank": "b", "squeeze-blank": "s", "show-ends": "E", "show-tabs": "T", "show-all": "A",
    "show-nonprinting": "v",
}  # fmt: skip


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "nbsETAvetu", _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    out: list[str] = []
    problems: list[str] = []
    for name in options.operands or ["-"]:
        try:
            out.append(read_input(process, name))
        except ShellFileError as error:
            problems.append(_problem(process, name, error.reason))
    text = "".join(out)
    if options.has("nbsETAvet"):
        text = _marked(text, "".join(letter for letter, _ in options.given))
    return Output(text, "".join(problems), int(bool(problems)))


def _problem(process: Process, name: str, reason: str) -> str:
    if not process.is_busybox:
        return f"cat: {quoted_name(name)}: {reason}\n"
    return (
        f"cat: read error: {reason}\n" if reason == IS_DIRECTORY else f"cat: can't open '{name}': {reason}\n"
    )


def _marked(text: str, letters: str) -> str:
    out: list[str] = []
    number = 0
    was_blank = False
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        body = line.removesuffix("\n")
        end = line[len(body) :]
        if "s" in letters and not body and was_blank:
            continue
        was_blank = not body
        if any(letter in letters for letter in "Avet"):
            body = re.sub(r"[\x00-\x08\x0b-\x1f]", lambda found: "^" + chr(ord(found.group()) + 64), body)
            body = body.replace("\x7f", "^?")
        if any(letter in letters for letter in "TAt"):
            body = body.replace("\t", "^I")
        if end and any(letter in letters for letter in "EAe"):
            body += "$"
        if "b" in letters:
            number += bool(line.strip("\n"))
            body = f"{number:6d}\t{body}" if line.strip("\n") else body
        elif "n" in letters:
            number += 1
            body = f"{number:6d}\t{body}"
        out.append(body + end)
    return "".join(out)


BUILTIN = Builtin(name="cat", run=_run, source="GNU coreutils 9.1 cat; tests/golden/programs/shell 090-093")
