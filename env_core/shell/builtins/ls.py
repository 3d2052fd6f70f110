"""ls and dir: lists files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from env_core.shell._clock import formatted_time
from env_core.shell._options import Options, UsageProblem, parse_options
from env_core.shell.builtin import Builtin
from env_core.shell.context import Process
from env_core.shell.filesystem import Entry, ShellFileError
from env_core.world import Output

_SHORT = "aAl1hRrtSdFnCxUiosgkLp"
_LONG = {
    "all": "a", "almost-all": "A", "human-readable": "h", "recursive": "R", "reverse": "r", "directory": "d",
    "color=?": "0", "classify": "F", "inode": "i",
}  # fmt: skip
_WIDTH = 80
_HALF_YEAR_MS = 15_778_476_000


@dataclass(frozen=True, slots=True)
class _Listed:
    name: str
    path: str
    entry: Entry


def _run(process: Process, argv: list[str]) -> Output:
    try:
        options = parse_options(argv[1:], _SHORT, _LONG)
    except UsageProblem as problem:
        return problem.output(argv[0], process, 1 if process.is_busybox else 2)
    files: list[_Listed] = []
    directories: list[_Listed] = []
    problems: list[str] = []
    status = 0
    for name in options.operands or ["."]:
        path = process.path(name)
        try:
            listed = _Listed(name, path, process.fs.entry(path))
        except ShellFileError as error:
            access = (
                f"ls: {name}: {error.reason}"
                if process.is_busybox
                else f"ls: cannot access '{name}': {error.reason}"
            )
            problems.append(access + "\n")
            status = 1 if process.is_busybox else 2
            continue
        (directories if listed.entry.is_dir and not options.has("d") else files).append(listed)
    blocks: list[str] = []
    columns = argv[0] == "dir"
    if files:
        blocks.append(
            _listing(process, _ordered(files, options), options, in_columns=columns, is_directory=False)
        )
    titled = len(options.operands) > 1 or options.has("R")
    pending = _ordered(directories, options)
    while pending:
        directory = pending.pop(0)
        try:
            entries = _entries(process, directory, options)
        except ShellFileError as error:
            shown = directory.name
            text = (
                f"ls: can't open '{shown}'" if process.is_busybox else f"ls: cannot open directory '{shown}'"
            )
            problems.append(f"{text}: {error.reason}\n")
            status = 1 if process.is_busybox else 2
            continue
        title = f"{directory.name}:\n" if titled else ""
        blocks.append(title + _listing(process, entries, options, in_columns=columns, is_directory=True))
        if options.has("R"):
            inner = [each for each in entries if each.entry.is_dir and each.name not in (".", "..")]
            pending = [
                _Listed(f"{directory.name.rstrip('/')}/{each.name}", each.path, each.entry) for each in inner
            ] + pending
    return Output("\n".join(blocks), "".join(problems), status)


def _entries(process: Process, directory: _Listed, options: Options) -> list[_Listed]:
    names = list(process.fs.listdir(directory.path))
    if not options.has("aA"):
        names = [name for name in names if not name.startswith(".")]
    base = directory.path.rstrip("/")
    listed = [_Listed(name, f"{base}/{name}", process.fs.entry(f"{base}/{name}")) for name in names]
    if options.has("a"):
        parent = process.fs.entry(base.rpartition("/")[0] or "/")
        listed += [_Listed(".", directory.path, directory.entry), _Listed("..", "", parent)]
    return _ordered(listed, options)


def _ordered(listed: list[_Listed], options: Options) -> list[_Listed]:
    key: Callable[[_Listed], tuple[int, str]] = lambda each: (0, each.name)  # noqa: E731
    if options.has("t"):
        key = lambda each: (-each.entry.changed_ms, each.name)  # noqa: E731
    elif options.has("S"):
        key = lambda each: (-_size(each.entry), each.name)  # noqa: E731
    return sorted(listed, key=key, reverse=options.has("r"))


def _size(entry: Entry) -> int:
    return 4096 if entry.is_dir else len(entry.text.encode("utf-8", "surrogateescape"))


def _listing(
    process: Process, listed: list[_Listed], options: Options, *, in_columns: bool, is_directory: bool
) -> str:
    names = [each.name + _mark(each.entry, options) for each in listed]
    if not options.has("lno"):
        if in_columns or options.has("C"):
            return _columns(names)
        return "".join(name + "\n" for name in names)
    sizes = [_human(_size(each.entry)) if options.has("h") else str(_size(each.entry)) for each in listed]
    width = max((len(size) for size in sizes), default=1)
    owners = [_owner(each.entry.owner) if options.has("n") else each.entry.owner for each in listed]
    owner_width = max((len(owner) for owner in owners), default=1)
    blocks = sum(4 if each.entry.is_dir else -(-_size(each.entry) // 4096) * 4 for each in listed)
    total = _human(blocks * 1024) if options.has("h") and blocks else str(blocks)
    lines = [f"total {total}\n"] if is_directory else []
    for each, name, size, owner in zip(listed, names, sizes, owners):
        links = 2 if each.entry.is_dir else 1
        shown = owner.ljust(owner_width)
        lines.append(
            f"{_mode(each.entry)} {links} {shown} {shown} {size.rjust(width)} {_time(process, each.entry)} {name}\n"
        )
    return "".join(lines)


def _owner(name: str) -> str:
    return "0" if name == "root" else "1000"


def _mark(entry: Entry, options: Options) -> str:
    if entry.is_dir and options.has("Fp"):
        return "/"
    return "*" if options.has("F") and not entry.is_dir and entry.mode & 0o111 else ""


def _mode(entry: Entry) -> str:
    bits = "".join(
        letter if entry.mode >> (8 - index) & 1 else "-" for index, letter in enumerate("rwxrwxrwx")
    )
    return ("d" if entry.is_dir else "-") + bits


def _human(size: int) -> str:
    if size < 1024:
        return str(size)
    value = float(size)
    for unit in "KMGT":
        value /= 1024
        if value < 1024:
            tenths = -(-int(value * 1000) // 100)
            return f"{tenths / 10:.1f}{unit}" if tenths < 100 else f"{-(-tenths // 10)}{unit}"
    return f"{value:.0f}P"


def _time(process: Process, entry: Entry) -> str:
    age_ms = process.now_ms() - entry.changed_ms
    recent = 0 <= age_ms < _HALF_YEAR_MS
    return formatted_time(entry.changed_ms, "%b %e %H:%M" if recent else "%b %e  %Y")


def _columns(names: list[str]) -> str:
    """Return names in as many columns as fit, filled downwards, separated by tabs where those reach."""
    if not names:
        return ""
    for rows in range(1, len(names) + 1):
        columns = [names[start : start + rows] for start in range(0, len(names), rows)]
        widths = [max(len(name) for name in column) + 2 for column in columns]
        if sum(widths) - 2 <= _WIDTH - 1:
            break
    lines: list[str] = []
    for row in range(rows):
        text = ""
        position = 0
        start = 0
        for index, column in enumerate(columns):
            if row >= len(column):
                break
            text += _indent(position, start)
            text += column[row]
            position = start + len(column[row])
            start += widths[index]
        lines.append(text + "\n")
    return "".join(lines)


def _indent(position: int, start: int) -> str:
    out = ""
    while position < start:
        if start // 8 > (position + 1) // 8:
            out += "\t"
            position += 8 - position % 8
        else:
            out += " "
            position += 1
    return out


BUILTIN = Builtin(
    name="ls",
    run=_run,
    source="GNU coreutils 9.1 ls; tests/golden/programs/shell 011, 087-089",
    aliases=("dir",),
)
