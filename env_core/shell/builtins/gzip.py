"""gzip, gunzip and zcat."""

from __future__ import annotations

import gzip
import zlib

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_SIZE_MAX = 8 << 20


class _Problem(Exception):
    pass


def _run(process: Process, argv: list[str]) -> Output:
    name = argv[0]
    try:
        options = parse_options(
            argv[1:], "cdfkqtvn123456789", {"decompress": "d", "stdout": "c", "force": "f", "keep": "k"}
        )
    except UsageProblem as problem:
        return problem.output(name, process)
    unpacks = name != "gzip" or options.has("d")
    to_stdout = name == "zcat" or options.has("c") or not options.operands
    out, err, code = "", "", 0
    for operand in options.operands or ["-"]:
        try:
            out += _one(process, name, operand, unpacks=unpacks, to_stdout=to_stdout, keeps=options.has("k"))
        except _Problem as problem:
            err += str(problem)
            code = 2 if "ignored" in str(problem) else 1
    return Output(out, err, code)


def _one(process: Process, name: str, operand: str, *, unpacks: bool, to_stdout: bool, keeps: bool) -> str:
    shown = name if process.is_busybox else "gzip"
    path = process.path(operand)
    try:
        text = process.stdin if operand == "-" else process.fs.read(path)
    except ShellFileError as error:
        if process.is_busybox:
            raise _Problem(f"{shown}: {operand}: {error.reason}\n") from None
        missing = f"{operand}.gz" if unpacks and not operand.endswith(".gz") else operand
        raise _Problem(f"gzip: {missing}: {error.reason}\n") from None
    data = text.encode("utf-8", "surrogateescape")
    if unpacks:
        if operand != "-" and not to_stdout and not operand.endswith((".gz", ".tgz")):
            ignored = "" if process.is_busybox else " -- ignored"
            raise _Problem(f"{shown}: {operand}: unknown suffix{ignored}\n")
        data = _unpacked(data, shown, "stdin" if operand == "-" else operand, is_busybox=process.is_busybox)
        target = path.removesuffix(".gz")
    else:
        data = gzip.compress(data, mtime=0)
        target = f"{path}.gz"
    result = data.decode("utf-8", "surrogateescape")
    if to_stdout:
        return result
    try:
        process.fs.write(target, result, process.now_ms())
        if not keeps:
            process.fs.remove(path)
    except ShellFileError as error:
        raise _Problem(f"{shown}: {operand}: {error.reason}\n") from None
    return ""


def _unpacked(data: bytes, shown: str, name: str, *, is_busybox: bool) -> bytes:
    try:
        unpacker = zlib.decompressobj(31)
        return unpacker.decompress(data, _SIZE_MAX)
    except zlib.error:
        if is_busybox:
            raise _Problem(f"{shown}: invalid magic\n") from None
        raise _Problem(f"\ngzip: {name}: not in gzip format\n") from None


BUILTIN = Builtin(
    name="gzip",
    run=_run,
    source="gzip 1.12; tests/golden/programs/shell 185, 186",
    aliases=("gunzip", "zcat"),
)
