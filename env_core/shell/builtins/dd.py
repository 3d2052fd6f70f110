"""dd: copies blocks."""

from __future__ import annotations

import re

from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ENDLESS, ShellFileError
from env_core.world import Output

_UNITS = {
    "": 1,
    "c": 1,
    "w": 2,
    "b": 512,
    "K": 1024,
    "k": 1024,
    "M": 1 << 20,
    "G": 1 << 30,
    "kB": 1000,
    "MB": 10**6,
}
_NUMBERS = ("bs", "ibs", "obs", "count", "skip", "seek")
_WORDS = (*_NUMBERS, "if", "of", "conv", "status", "iflag", "oflag")
_SIZE_MAX = 8 << 20
"""The most that is copied: more would only fill memory."""


def _run(process: Process, argv: list[str]) -> Output:
    values: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for word in argv[1:]:
        name, equals, value = word.partition("=")
        if not equals or name not in _WORDS:
            hint = "" if process.is_busybox else "Try 'dd --help' for more information.\n"
            return Output("", f"dd: unrecognized operand '{word}'\n{hint}", 1)
        values[name] = value
        if name in _NUMBERS:
            found = re.fullmatch(r"(\d{1,12})([a-zA-Z]{0,2})", value)
            if found is None or found.group(2) not in _UNITS:
                mark = "" if process.is_busybox else ":"
                return Output("", f"dd: invalid number{mark} '{value}'\n", 1)
            numbers[name] = int(found.group(1)) * _UNITS[found.group(2)]
    return _copied(process, values, numbers)


def _copied(process: Process, values: dict[str, str], numbers: dict[str, int]) -> Output:
    source, target = values.get("if", ""), values.get("of", "")
    size = numbers.get("bs") or numbers.get("ibs") or 512
    wanted = numbers["count"] * size if "count" in numbers else _SIZE_MAX
    wanted = min(wanted, _SIZE_MAX)
    try:
        if source in ENDLESS:
            data = b"\0" * wanted
        elif source:
            data = process.fs.read(process.path(source)).encode("utf-8", "surrogateescape")
        else:
            data = process.stdin.encode("utf-8", "surrogateescape")
    except ShellFileError as error:
        shown = f"can't open '{source}'" if process.is_busybox else f"failed to open '{source}'"
        return Output("", f"dd: {shown}: {error.reason}\n", 1)
    start = numbers.get("skip", 0) * size
    data = data[start : start + wanted]
    text = data.decode("utf-8", "surrogateescape")
    whole, part = divmod(len(data), size)
    blocks = f"{whole}+{int(part > 0)} records in\n"
    if target and target != "/dev/stdout":
        try:
            process.fs.write(process.path(target), text, process.now_ms())
        except ShellFileError as error:
            if error.reason == "No space left on device":
                lost = "" if process.is_busybox else "0 bytes copied, 0.001 s, 0.0 kB/s\n"
                told = f"dd: error writing '{target}': {error.reason}\n{blocks}0+0 records out\n{lost}"
                return Output("", told, 1)
            shown = f"can't open '{target}'" if process.is_busybox else f"failed to open '{target}'"
            return Output("", f"dd: {shown}: {error.reason}\n", 1)
        text = ""
    if values.get("status") == "none":
        return Output(text)
    sizes = f"{len(data)} bytes copied, 0.001 s, {len(data) / 1000:.1f} MB/s\n"
    return Output(text, f"{blocks}{whole}+{int(part > 0)} records out\n{sizes}")


BUILTIN = Builtin(name="dd", run=_run, source="GNU coreutils 9.1 dd; tests/golden/programs/shell 138-140")
