"""Elastic tab stops as Go's text/tabwriter sets them, in the two shapes that kubectl uses."""

from __future__ import annotations


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
        for block in text.replace("\v", "\t").split("\f"):
            lines = [line.split("\t") for line in block.split("\n")]
            self._format(lines, 0, len(lines), [], out)
        return "\n".join(out)

    def _format(
        self, lines: list[list[str]], first: int, last: int, widths: list[int], out: list[str]
    ) -> None:
        """Append `lines[first:last]`, which all have the column `len(widths)`, and a width for each one left of it."""
        column = len(widths)
        at = first
        while at < last:
            cells = lines[at]
            if len(cells) == column + 1:
                if column == 1:
                    out.append(cells[0].ljust(widths[0]) + cells[1])
                else:
                    out.append("".join([*map(str.ljust, cells, widths), cells[column]]))
                at += 1
                continue
            start = at
            width = self._minwidth - self._padding
            while at < last and len(cells := lines[at]) > column + 1:
                width = max(width, len(cells[column]))
                at += 1
            settled = self._settled(width + self._padding, widths)
            self._format(lines, start, at, [*widths, settled], out)

    def _settled(self, width: int, widths: list[int]) -> int:
        if not self._remember:
            return width
        seen = self._widths_seen
        seen.extend(widths[len(seen) :])
        if len(seen) == len(widths):
            seen.append(width)
        seen[len(widths)] = max(seen[len(widths)], width)
        return seen[len(widths)]
