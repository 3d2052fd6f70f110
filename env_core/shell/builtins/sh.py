"""sh (and bash, by the same language): runs a script or a command line."""

from __future__ import annotations

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import NO_SUCH_FILE, ShellFileError
from env_core.shell.pipeline import Shell
from env_core.world import Output

_FLAGS = frozenset("aefmnuvxCbEIilsc")


def _run(process: Process, argv: list[str]) -> Output:
    name, rest = argv[0], argv[1:]
    is_bash = name.rpartition("/")[2] == "bash"
    flags = ""
    while rest and rest[0][:1] in ("-", "+") and len(rest[0]) > 1 and rest[0] != "--":
        option = rest.pop(0)
        if option in ("--login", "--norc", "--noprofile", "--posix"):
            continue
        for letter in option[1:]:
            if letter == "o":
                rest = rest[1:]
            elif letter not in _FLAGS:
                return _bad_option(process, name, letter)
            else:
                flags += letter
    if rest and rest[0] == "--":
        rest.pop(0)
    if "c" in flags:
        if not rest:
            text = f"{name}: 0: -c requires an argument\n"
            return Output("", text, 2)
        shell = Shell(
            process, name=rest[1] if len(rest) > 1 else name, positional=tuple(rest[2:]), is_bash=is_bash
        )
        text = rest[0]
    elif rest and "s" not in flags:
        try:
            text = process.fs.read(process.path(rest[0]))
        except ShellFileError as error:
            return _cannot_open(process, name, rest[0], error.reason)
        shell = Shell(process, name=rest[0], positional=tuple(rest[1:]), is_script=True, is_bash=is_bash)
    else:
        shell = Shell(process, name=name, positional=tuple(rest), is_string=False, is_bash=is_bash)
        return _finished(shell, flags, process.stdin, "")
    return _finished(shell, flags, text, None)


def _finished(shell: Shell, flags: str, text: str, stdin: str | None) -> Output:
    for letter in flags:
        shell.options[letter] = True
    return shell.run(text, stdin)


def _bad_option(process: Process, name: str, letter: str) -> Output:
    text = f"illegal option -{letter}" if process.is_busybox else f"0: Illegal option -{letter}"
    return Output("", f"{name}: {text}\n", 2)


def _cannot_open(process: Process, name: str, file: str, reason: str) -> Output:
    if name == "bash":
        return Output("", f"bash: {file}: {reason}\n", 127)
    if process.is_busybox:
        return Output("", f"{name}: can't open '{file}': {reason}\n", 2)
    shown = "No such file" if reason == NO_SUCH_FILE else reason
    return Output("", f"{name}: 0: cannot open {file}: {shown}\n", 2)


BUILTIN = Builtin(
    name="sh", run=_run, source="dash 0.5.12; tests/golden/programs/shell 076-078", aliases=("dash", "bash")
)
