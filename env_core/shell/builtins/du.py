"""du: what files take up, in blocks of 1024 bytes."""

from __future__ import annotations

import posixpath

from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import ShellFileError
from env_core.world import Output

_BLOCK = 4096


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(
            argv[1:], "sahkmcxd:", {"summarize": "s", "human-readable": "h", "max-depth=": "d"}
        )
    except UsageProblem as problem:
        return problem.output("du", process)
    depth = 0 if options.has("s") else int(options.value("d")) if options.value("d").isdecimal() else 1 << 20
    out, err = [], ""
    for name in options.operands or ["."]:
        path = process.path(name)
        if not process.fs.exists(path):
            shown = name if process.is_busybox else f"cannot access '{name}'"
            err += f"du: {shown}: No such file or directory\n"
            continue
        rows: list[tuple[int, str]] = []
        _measured(process, path, name, depth, rows, has_files=options.has("a"))
        out += [f"{_shown(size, options.has('h'), options.has('m'))}\t{each}\n" for size, each in rows]
    return Output("".join(out), err, int(bool(err)))


def _measured(
    process: Process,
    path: str,
    name: str,
    depth: int,
    rows: list[tuple[int, str]],
    *,
    has_files: bool,
    is_top: bool = True,
) -> int:
    """Return the bytes that a tree takes up, and add the rows of what is shown of it, inner ones first."""
    try:
        entry = process.fs.entry(path)
        if not entry.is_dir:
            size = -(-len(entry.text.encode("utf-8", "surrogateescape")) // _BLOCK) * _BLOCK
            if is_top or (has_files and depth >= 0):
                rows.append((size, name))
            return size
        names = process.fs.listdir(path)
    except ShellFileError:
        return 0
    size = _BLOCK + sum(
        _measured(
            process,
            posixpath.join(path, each),
            posixpath.join(name, each),
            depth - 1,
            rows,
            has_files=has_files,
            is_top=False,
        )
        for each in names
    )
    if depth >= 0:
        rows.append((size, name))
    return size


def _shown(size: int, is_human: bool, is_mega: bool) -> str:
    if is_human:
        return (
            f"{size / 1024:.1f}K"
            if size < 10 << 10
            else f"{-(-size // 1024)}K"
            if size < 1 << 20
            else f"{size / (1 << 20):.1f}M"
        )
    return str(-(-size // (1 << 20 if is_mega else 1 << 10)))


BUILTIN = Builtin(name="du", run=_run, source="GNU coreutils 9.1 du; tests/golden/programs/shell 136")
