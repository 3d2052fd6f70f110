"""sed: edits a stream by a script."""

from __future__ import annotations

import re
from functools import lru_cache

from env_core.objects.regex import RegexProblem
from env_core.shell._inputs import read_input, split_lines
from env_core.shell._options import BUSYBOX_BANNER, UsageProblem, parse_options
from env_core.shell._sed_editor import Editor
from env_core.shell._sed_parser import Command, SedParser, SedProblem
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_LONG = {
    "quiet": "n", "silent": "n", "expression=": "e", "file=": "f", "regexp-extended": "E", "in-place=?": "i",
    "separate": "s", "null-data": "z", "unbuffered": "u", "posix": "p",
}  # fmt: skip


_USAGE = "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\n"
"""The first line of GNU sed's help; the rest is prose."""


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], "ne:f:Eri::suz", _LONG)
    except UsageProblem as problem:
        if process.is_busybox:
            return problem.output(argv[0], process)
        return Output("", f"{argv[0]}: {problem.text}\n{_USAGE}", 1)
    operands = list(options.operands)
    scripts = [value for letter, value in options.given if letter == "e"]
    for name in options.values("f"):
        try:
            scripts.append(read_input(process, name).removesuffix("\n"))
        except ShellFileError as error:
            return Output("", f"sed: couldn't open file {name}: {error.reason}\n", 1)
    if not scripts:
        if not operands:
            return Output("", BUSYBOX_BANNER if process.is_busybox else _USAGE, 1)
        scripts = [operands.pop(0)]
    try:
        commands = _parsed("\n".join(scripts), options.has("Er"), process.is_busybox)
    except SedProblem as problem:
        return Output("", _complaint(problem, scripts, process), 1)
    editor = Editor(process, commands, is_quiet=options.has("n"))
    try:
        if options.has("i"):
            return _in_place(process, editor, operands, options.value("i"))
        return _stream(process, editor, operands)
    except RegexProblem as problem:
        return Output("", f"sed: {problem.text}\n", 1)


@lru_cache(maxsize=256)
def _parsed(script: str, is_extended: bool, is_busybox: bool) -> tuple[Command, ...]:
    return tuple(SedParser(script, is_extended=is_extended, is_busybox=is_busybox).parse())


def _complaint(problem: SedProblem, scripts: list[str], process: Process) -> str:
    if process.is_busybox:
        return f"sed: {_busybox_text(problem, scripts[0])}\n"
    if problem.position < 0:
        return f"sed: {problem.text}\n"
    number, position = 1, problem.position
    while number < len(scripts) and position > len(scripts[number - 1]) + 1:
        position -= len(scripts[number - 1]) + 1
        number += 1
    return f"sed: -e expression #{number}, char {position}: {problem.text}\n"


def _busybox_text(problem: SedProblem, script: str) -> str:
    if problem.text.startswith("unterminated"):
        found = re.search(r"[sy](.)", script)
        return f"unmatched '{found.group(1) if found else '/'}'"
    if problem.text == "unknown option to `s'":
        return "bad option in substitution expression"
    if problem.text.startswith("unknown command"):
        return f"unsupported command {problem.text[-2]}"
    if problem.text.startswith(("Unmatched", "Invalid", "Trailing")):
        found = re.search(r"s(.)(.*?)\1|/(.*?)/", script)
        source = (found.group(2) or found.group(3)) if found else script
        return f"bad regex '{source}': {problem.text}"
    return problem.text


def _stream(process: Process, editor: Editor, names: list[str]) -> Output:
    problems: list[str] = []
    lines: list[str] = []
    ends_line = True
    for name in names or ["-"]:
        try:
            text = read_input(process, name)
        except ShellFileError as error:
            problems.append(_cannot_read(process, name, error.reason))
            continue
        if text:
            lines += split_lines(text)
            ends_line = text.endswith("\n")
    out = editor.edit(lines, ends_line=ends_line)
    status = editor.exit_code or (1 if process.is_busybox else 2) * bool(problems)
    return Output(out, "".join(problems), status)


def _cannot_read(process: Process, name: str, reason: str) -> str:
    if process.is_busybox:
        return f"sed: {name}: {reason}\n"
    if reason == "Is a directory":
        return f"sed: read error on {name}: {reason}\n"
    return f"sed: can't read {name}: {reason}\n"


def _in_place(process: Process, editor: Editor, names: list[str], suffix: str) -> Output:
    if not names:
        return Output("", "sed: no input files\n", 1)
    problems: list[str] = []
    status = 0
    for name in names:
        path = process.path(name)
        try:
            text = process.fs.read(path)
        except ShellFileError as error:
            if error.reason == "Is a directory":
                problems.append(f"sed: couldn't edit {name}: not a regular file\n")
                status = 4
            else:
                problems.append(_cannot_read(process, name, error.reason))
                status = 2
            continue
        edited = editor.edit(split_lines(text), ends_line=not text or text.endswith("\n"))
        try:
            if not process.fs.may(path.rpartition("/")[0] or "/", 2):
                raise ShellFileError(path, "Permission denied")
            if suffix:
                process.fs.write(path + suffix, text, process.now_ms())
            process.fs.write(path, edited, process.now_ms())
        except ShellFileError as error:
            if process.is_busybox:
                problems.append(f"sed: can't create temp file '{name}XXXXXX': {error.reason}\n")
                return Output("", "".join(problems), 1)
            directory = name.rpartition("/")[0] or "."
            temporary = f"{directory}/sedXXXXXX"
            problems.append(f"sed: couldn't open temporary file {temporary}: {error.reason}\n")
            return Output("", "".join(problems), 4)
        if editor.exit_code:
            return Output("", "".join(problems), editor.exit_code)
    return Output("", "".join(problems), status)


BUILTIN = Builtin(name="sed", run=_run, source="GNU sed 4.9 (Debian 12); tests/golden/programs/shell 163-173")
