"""md5sum and the SHA sums: digests of files."""

from __future__ import annotations

import hashlib
import re

from env_core.shell._inputs import read_input, read_inputs, split_lines
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LINE = re.compile(r"\\?([0-9a-fA-F]{32,128}) [ *](.+)\Z")


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(
            argv[1:], "bctw", {"check": "c", "binary": "b", "text": "t", "quiet": "q", "status": "s"}
        )
    except UsageProblem as problem:
        return problem.output(argv[0], process)
    name = argv[0]
    error = (
        f"{name}: can't open '{{name}}': {{reason}}"
        if process.is_busybox
        else f"{name}: {{quoted}}: {{reason}}"
    )
    texts, problems = read_inputs(process, options.operands, error)
    if not options.has("c"):
        lines = [f"{_digest(name, text)}  {each}\n" for each, text in texts]
        return Output("".join(lines), problems, int(bool(problems)))
    out: list[str] = []
    failed = total = 0
    for each, text in texts:
        if process.is_busybox:
            # A line that is none counts as a failure, without a word of its own.
            total += len(split_lines(text))
            failed += sum(_LINE.match(line) is None for line in split_lines(text))
        entries = [found for line in split_lines(text) if (found := _LINE.match(line)) is not None]
        if not entries and not process.is_busybox:
            problems += f"{name}: {each}: no properly formatted checksum lines found\n"
        for found in entries:
            try:
                good = _digest(name, read_input(process, found.group(2))) == found.group(1).lower()
            except ShellFileError as refused:
                problems += f"{name}: {found.group(2)}: {refused.reason}\n"
                good = False
            failed += not good
            out.append(f"{found.group(2)}: {'OK' if good else 'FAILED'}\n")
    if failed:
        noun = "checksum" if failed == 1 else "checksums"
        if process.is_busybox:
            said = f"{name}: WARNING: {failed} of {total} computed checksums did NOT match\n"
            return Output("".join(out), problems + said, 1)
        problems += f"{name}: WARNING: {failed} computed {noun} did NOT match\n"
    return Output("".join(out), problems, int(bool(problems)))


def _digest(name: str, text: str) -> str:
    return hashlib.new(name.removesuffix("sum"), text.encode("utf-8", "surrogateescape")).hexdigest()


BUILTIN = Builtin(
    name="md5sum",
    run=_run,
    source="GNU coreutils 9.1 md5sum; tests/golden/programs/shell 143, 144",
    aliases=("sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"),
)
