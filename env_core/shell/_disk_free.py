"""df in a container: its own layer, and the volumes that it has mounted, as full as they are.

Source: GNU coreutils 9.1 df, BusyBox 1.36 df; tests/golden/programs/shell 137 for names that are not there. The layer's
numbers are the node's, and not simulated.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from env_core.dataplane.network import Network
from env_core.programs import Run
from env_core.programs._disks import place_of
from env_core.shell._options import UsageProblem, parse_options
from env_core.shell.context import Process
from env_core.world import Output

_LAYER: Final = (100 << 30, 31 << 30)
_KIB: Final = 1 << 10


class _Row(NamedTuple):
    source: str
    size: int
    used: int
    path: str


def df(run: Run, network: Network, process: Process, argv: list[str]) -> Output:
    """Run df."""
    try:
        options = parse_options(argv[1:], "ahHikPTtm", {"human-readable": "h", "inodes": "i"})
    except UsageProblem as problem:
        return problem.output("df", process)
    rows = _rows(run, network)
    err = ""
    if options.operands:
        shown = []
        for name in options.operands:
            path = process.path(name)
            if not process.fs.exists(path) and path not in run.container.mounts:
                err += (
                    f"df: {name}: can't find mount point\n"
                    if process.is_busybox
                    else f"df: {name}: No such file or directory\n"
                )
                continue
            shown.append(
                max((row for row in rows if _is_below(path, row.path)), key=lambda row: len(row.path))
            )
        rows = shown
    is_human = options.has("hH")
    text = (_busybox if process.is_busybox else _gnu)(rows, is_human=is_human)
    if options.operands and not rows and not process.is_busybox:
        text = ""
    return Output(text, err, int(bool(err)))


def _is_below(path: str, place: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{place.rstrip('/')}/")


def _rows(run: Run, network: Network) -> list[_Row]:
    found = [_Row("overlay", *_LAYER, "/"), _Row("tmpfs", 64 << 20, 0, "/dev")]
    for number, path in enumerate(run.container.mounts):
        place = place_of(run.container, path)
        space = network.space(place)
        if space is not None:
            found.append(
                _Row(f"/dev/sd{chr(ord('b') + number)}", space.size, min(space.used, space.size), path)
            )
        else:
            found.append(_Row("/dev/sda1", *_LAYER, path))
    return found


def _share(row: _Row) -> str:
    return f"{-(-row.used * 100 // row.size)}%"


def _gnu(rows: list[_Row], *, is_human: bool) -> str:
    head = (
        ("Filesystem", "Size", "Used", "Avail")
        if is_human
        else ("Filesystem", "1K-blocks", "Used", "Available")
    )
    shown = [
        (
            row.source,
            *(
                _human(each) if is_human else str(each // _KIB)
                for each in (row.size, row.used, row.size - row.used)
            ),
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (head, *shown)) for column in range(4)]
    widths[0] = max(widths[0], 14)
    lines = [
        " ".join((line[0].ljust(widths[0]), *(line[column].rjust(widths[column]) for column in (1, 2, 3))))
        + f" {share:>4} {path}"
        for line, share, path in (
            (head, "Use%", "Mounted on"),
            *((line, _share(row), row.path) for line, row in zip(shown, rows)),
        )
    ]
    return "\n".join(lines) + "\n"


def _busybox(rows: list[_Row], *, is_human: bool) -> str:
    lines = [
        "Filesystem                Size      Used Available Use% Mounted on"
        if is_human
        else "Filesystem           1K-blocks      Used Available Use% Mounted on"
    ]
    for row in rows:
        cells = [
            f"{each / (1 << 30):.1f}G" if is_human and each >= 1 << 30
            else f"{each / (1 << 20):.1f}M" if is_human and each
            else str(each // _KIB)
            for each in (row.size, row.used, row.size - row.used)
        ]  # fmt: skip
        lines.append(
            f"{row.source:<20} {cells[0]:>9} {cells[1]:>9} {cells[2]:>9} {_share(row):>4} {row.path}"
        )
    return "\n".join(lines) + "\n"


def _human(size: int) -> str:
    """Return a size as coreutils shows it: rounded up, with one digit behind the point below ten."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            tenths = -(-size * 10 // unit)
            return f"{tenths / 10:.1f}{letter}" if tenths < 100 else f"{-(-size // unit)}{letter}"
    return str(size)
