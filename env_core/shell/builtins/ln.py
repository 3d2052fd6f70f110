"""ln: a second name for a file. Links are copies here: there is no other use of them in these file systems."""

from __future__ import annotations

import posixpath

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "sfnvTr", {"symbolic": "s", "force": "f", "verbose": "v"})
        if not options.operands:
            raise UsageProblem("missing file operand")
    except UsageProblem as problem:
        return problem.output("ln", process)
    *targets, name = options.operands if len(options.operands) > 1 else [*options.operands, "."]
    problems: list[str] = []
    for target in targets:
        place = process.path(name)
        shown = name
        if process.fs.is_dir(place):
            shown = (
                posixpath.join(name, posixpath.basename(target))
                if name != "."
                else posixpath.basename(target)
            )
            place = posixpath.join(place, posixpath.basename(target))
        problems.append(
            _link(process, target, place, shown, symbolic=options.has("s"), force=options.has("f"))
        )
    text = "".join(problems)
    return Output("", text, int(bool(text)))


def _link(process: Process, target: str, place: str, shown: str, *, symbolic: bool, force: bool) -> str:
    source = process.path(posixpath.join(posixpath.dirname(place), target) if symbolic else target)
    fs = process.fs
    if not symbolic and not fs.exists(source):
        text = f"{shown}" if process.is_busybox else f"failed to access '{target}'"
        return f"ln: {text}: No such file or directory\n"
    kind = "symbolic" if symbolic else "hard"
    what = shown if process.is_busybox else f"failed to create {kind} link '{shown}'"
    if fs.exists(place) and not force:
        return f"ln: {what}: File exists\n"
    try:
        fs.write(
            place, fs.read(source) if fs.exists(source) and not fs.is_dir(source) else "", process.now_ms()
        )
    except ShellFileError as error:
        return f"ln: {what}: {error.reason}\n"
    return ""


BUILTIN = Builtin(name="ln", run=_run, source="GNU coreutils 9.1 ln; tests/golden/programs/shell 115")
