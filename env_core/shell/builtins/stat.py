"""stat: what a file system says of a file, by a format."""

from __future__ import annotations

import re

from env_core.programs._http import moment
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import Entry, ShellFileError
from env_core.world import Output

_DIRECTIVE = re.compile(r"%([a-zA-Z%])")
_DEFAULT = "  File: %n\n  Size: %s\tBlocks: %b\tIO Block: 4096\t%F\nAccess: (0%a/%A)\tUid: (%u/%U)\tGid: (%g/%G)\nModify: %y"


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "c:fLt", {"format=": "c", "printf=": "p"})
        if not options.operands:
            raise UsageProblem("missing operand")
    except UsageProblem as problem:
        return problem.output("stat", process)
    wanted = options.value("p") or options.value("c", _DEFAULT)
    end = "" if options.has("p") else "\n"
    out, err = "", ""
    for name in options.operands:
        try:
            found = process.fs.entry(process.path(name))
        except ShellFileError as error:
            text = f"can't stat '{name}'" if process.is_busybox else f"cannot statx '{name}'"
            err += f"stat: {text}: {error.reason}\n"
            continue
        shown = wanted.replace("\\n", "\n") if options.has("p") else wanted
        out += _filled(shown, found, name) + end
    return Output(out, err, int(bool(err)))


def _filled(template: str, found: Entry, name: str) -> str:
    return _DIRECTIVE.sub(lambda each: _value(each.group(1), found, name), template)


def _value(letter: str, found: Entry, name: str) -> str:
    size = 4096 if found.is_dir else len(found.text.encode("utf-8", "surrogateescape"))
    bits = "".join(
        mark if found.mode >> shift & 1 else "-"
        for shift, mark in zip(range(8, -1, -1), "rwxrwxrwx", strict=True)
    )
    kind = "directory" if found.is_dir else "regular file" if size else "regular empty file"
    user = "0" if found.owner == "root" else found.owner if found.owner.isdecimal() else "1000"
    at = moment(found.changed_ms)
    values = {
        "n": name, "s": str(size), "a": f"{found.mode & 0o7777:o}", "A": ("d" if found.is_dir else "-") + bits, "F": kind,
        "U": found.owner, "G": found.owner, "u": user, "g": user, "b": str((size + 511) // 512),
        "Y": str(found.changed_ms // 1000), "y": f"{at:%Y-%m-%d %H:%M:%S}.000000000 +0000", "%": "%", "h": "1",
    }  # fmt: skip
    return values.get(letter, "?")


BUILTIN = Builtin(name="stat", run=_run, source="GNU coreutils 9.1 stat; tests/golden/programs/shell 135")
