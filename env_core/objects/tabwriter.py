"""Elastic tab stops as Go's text/tabwriter sets them, in the two shapes that kubectl uses."""

from __future__ import annotations

import re
from typing import Final

_LINE_END: Final = re.compile("([\n\f])")
_CELL_END: Final = re.compile("[\t\v]")


class TabWriter:
    """Collects text and aligns its tab-terminated cells.

    A column is a run of consecutive lines that have a tab-terminated cell at that place; the last cell of a
    line (no tab behind it) never takes part. A form feed ends a line and all columns with it.

    Source: Go text/tabwriter with padchar ' ' and no AlignRight, and the RememberWidths flag of the fork in
    k8s.io/cli-runtime (`get`: 6, 4, 3, remembered; `describe`: 0, 8, 2). The tab width counts only
    when tabs are the padding, so it has no effect here.
    """

    __slots__ = ("_minwidth", "_padding", "_pieces", "_remember", "_widths_seen")

    def __init__(
        self,
        minwidth: int = 6,
        tabwidth: int = 4,
        padding: int = 3,
        padchar: str = " ",
        *,
        remember_widths: bool = False,
    ) -> None:
        if padchar != " " or tabwidth < 0:
            raise ValueError(f"only blanks are supported as padding, got {padchar!r}")
        self._minwidth = minwidth
        self._padding = padding
        self._pieces: list[str] = []
        self._remember = remember_widths
        self._widths_seen: list[int] = []

    def write(self, text: str) -> None:
        """Take more text; nothing is aligned before `flush`."""
        self._pieces.append(text)

    def flush(self) -> str:
        """Return everything written since the last flush, aligned; remembered widths stay."""
        text = "".join(self._pieces)
        self._pieces.clear()
        out: list[str] = []
        block: list[list[str]] = []
        ends: list[str] = []
        parts = _LINE_END.split(text)
        for index in range(0, len(parts) - 1, 2):
            block.append(_CELL_END.split(parts[index]))
            ends.append("\n")
            if parts[index + 1] == "\f":
                self._format(block, ends, 0, len(block), [], out)
                block, ends = [], []
        block.append(_CELL_END.split(parts[-1]))
        ends.append("")
        self._format(block, ends, 0, len(block), [], out)
        return "".join(out)

    def _format(
        self,
        lines: list[list[str]],
        ends: list[str],
        first: int,
        last: int,
        widths: list[int],
        out: list[str],
    ) -> None:
        """Append `lines[first:last]`, whose cells left of column `len(widths)` have their widths."""
        column = len(widths)
        at = first
        while at < last:
            if column >= len(lines[at]) - 1:
                _write_line(lines[at], widths, ends[at], out)
                at += 1
                continue
            start = at
            width = self._minwidth
            while at < last and column < len(lines[at]) - 1:
                width = max(width, len(lines[at][column]) + self._padding)
                at += 1
            self._format(lines, ends, start, at, [*widths, self._settled(width, widths)], out)

    def _settled(self, width: int, widths: list[int]) -> int:
        if not self._remember:
            return width
        seen = self._widths_seen
        seen.extend(widths[len(seen) :])
        if len(seen) == len(widths):
            seen.append(width)
        seen[len(widths)] = max(seen[len(widths)], width)
        return seen[len(widths)]


def _write_line(cells: list[str], widths: list[int], end: str, out: list[str]) -> None:
    for cell, width in zip(cells, widths):
        out.append(cell.ljust(width))
    out.extend(cells[len(widths) :])
    out.append(end)
