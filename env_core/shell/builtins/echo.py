"""echo, as shells have it built in: dash always reads escapes and only knows `-n`, the others want `-e`."""

from __future__ import annotations

import re

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.world import Output

_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[abcefnrtv\\])")
_CHARACTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip


def _run(process: Process, argv: list[str]) -> Output:
    rest = argv[1:]
    ends_line = True
    has_options = process.is_busybox or process.is_bash
    reads_escapes = not has_options
    while rest and re.fullmatch(r"-[neE]+" if has_options else "-n", rest[0]):
        letters = rest.pop(0)
        ends_line = ends_line and "n" not in letters
        reads_escapes = reads_escapes or "e" in letters
    text = " ".join(rest)
    if reads_escapes and "\\" in text:
        stop = re.search(r"(?<!\\)(?:\\\\)*\\c", text)
        if stop is not None:
            text = text[: stop.end() - 2]
            ends_line = False
        text = _ESCAPE.sub(_character, text)
    return Output(text + "\n" if ends_line else text)


def _character(found: re.Match[str]) -> str:
    code = found.group(1)
    if code[0] == "0":
        return chr(int(code, 8) & 0xFF)
    return _CHARACTERS.get(code, "")


BUILTIN = Builtin(name="echo", run=_run, source="dash 0.5.12 echo", in_shell=True)
