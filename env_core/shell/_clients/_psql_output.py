"""How psql prints: rows as tables, errors with the place in the query.

Source: postgres 15 src/fe_utils/print.c, src/interfaces/libpq/fe-protocol3.c; tests/golden/programs/postgres.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Style(NamedTuple):
    """How rows are printed."""

    is_bare: bool = False
    """Without head and count."""
    is_unaligned: bool = False


def table(columns: str, style: Style, title: str = "") -> str:
    """Return rows as a table; `columns` holds names, rows and kinds as the server sent them."""
    names, rows, kinds = json.loads(columns)
    if style.is_unaligned:
        lines = ["|".join(row) for row in rows]
        if not style.is_bare:
            lines = [*([title] if title else []), "|".join(names), *lines, _count(rows)]
        return "".join(f"{line}\n" for line in lines)
    cells = [[cell.split("\n") for cell in row] for row in rows]
    widths = [
        max([len(name), *(len(part) for row in cells for part in row[at])]) for at, name in enumerate(names)
    ]
    lines = []
    if not style.is_bare:
        if title:
            width = sum(width + 3 for width in widths) - 1
            lines.append(" " * (max(width - len(title), 0) // 2) + title)
        lines.append("|".join(f" {_centred(name, width)} " for name, width in zip(names, widths)))
        lines.append("+".join("-" * (width + 2) for width in widths))
    for row in cells:
        for number in range(max((len(parts) for parts in row), default=0)):
            lines.append(_row(row, number, widths, kinds))
    if not style.is_bare:
        lines.append(_count(rows))
    return "".join(f"{line}\n" for line in lines) + "\n"


def _centred(name: str, width: int) -> str:
    left = (width - len(name)) // 2
    return f"{' ' * left}{name}{' ' * (width - len(name) - left)}"


def _row(row: list[list[str]], number: int, widths: list[int], kinds: list[str]) -> str:
    """Return one line of a row, whose cells may have several."""
    last = len(row) - 1
    shown = []
    for at, (parts, width, kind) in enumerate(zip(row, widths, kinds)):
        cell = parts[number] if number < len(parts) else ""
        goes_on = number < len(parts) - 1
        if kind == "number":
            cell = f"{cell:>{width}}"
        elif at < last or goes_on:
            cell = f"{cell:<{width}}"
        shown.append(f" {cell}{'+' if goes_on else ' ' if at < last else ''}")
    return "|".join(shown)


def _count(rows: list[list[str]]) -> str:
    return f"({len(rows)} row{'' if len(rows) == 1 else 's'})"


def error(body: str, fields: str, query: str) -> str:
    """Return an error: what the server says, and where in the query."""
    position, detail, hint, context = json.loads(fields)
    lines = [body]
    if position:
        before = query[: position - 1]
        number = before.count("\n") + 1
        start = before.rfind("\n") + 1
        text = query[start:].partition("\n")[0]
        head = f"LINE {number}: "
        lines += [f"{head}{text}", " " * (len(head) + position - 1 - start) + "^"]
    for name, text in (("DETAIL", detail), ("HINT", hint), ("CONTEXT", context)):
        if text:
            lines.append(f"{name}:  {text}")
    return "".join(f"{line}\n" for line in lines)
