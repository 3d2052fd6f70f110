"""The tables of `get`: the server's rows, decorated and aligned as the client does it.

Source: k8s.io/cli-runtime pkg/printers tableprinter.go, tabwriter.go; tests/golden/l0/printer_lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from env_core.apiserver.kind import Column, Kind
from env_core.objects.tabwriter import TabWriter
from env_core.sim.timefmt import human_duration, parse_ms
from env_core.world import Object

_WIDTH_MIN = 6
_PADDING = 3
_DEFAULT_COLUMNS = (
    Column("Name", lambda obj, _now: obj["metadata"]["name"], format="name"),
    Column("Created At", lambda obj, _now: obj["metadata"].get("creationTimestamp", ""), type="date"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What `get`'s flags ask of a table."""

    is_wide: bool = False
    has_headers: bool = True
    has_namespace: bool = False
    has_kind: bool = False
    label_columns: tuple[str, ...] = ()
    has_labels: bool = False


def columns_of(kind: Kind) -> tuple[Column, ...]:
    """Return the columns of the kind; those of a kind without any are its name and age."""
    return kind.columns or _DEFAULT_COLUMNS


@lru_cache(maxsize=256)
def without_columns(kind: Kind) -> Kind:
    """Return the kind with the columns of --server-print=false: name and age."""
    return replace(
        kind,
        columns=(
            Column("Name", lambda obj, _now: obj["metadata"]["name"], format="name"),
            Column("Age", _age),
        ),
    )


def _age(obj: Object, now_ms: int) -> str:
    created = obj["metadata"].get("creationTimestamp")
    return human_duration(now_ms - parse_ms(created)) if created else "<unknown>"


def table_rows(kind: Kind, objects: Sequence[Object], now_ms: int, options: TableOptions) -> list[list[str]]:
    """Return the printed cells of each object, without headers."""
    columns = columns_of(kind)
    if not options.is_wide:
        columns = tuple(column for column in columns if column.priority == 0)
    cells = tuple(column.cell for column in columns)
    rows = [[_text(cell(obj, now_ms)) for cell in cells] for obj in objects]
    if options.has_kind:
        _prefix_names(kind, columns, rows)
    if options.label_columns or options.has_labels:
        for row, obj in zip(rows, objects, strict=True):
            labels = obj["metadata"].get("labels") or {}
            row.extend(labels.get(name, "") for name in options.label_columns)
            if options.has_labels:
                row.append(labels_text(labels))
    if options.has_namespace:
        for row, obj in zip(rows, objects, strict=True):
            row.insert(0, obj["metadata"].get("namespace", ""))
    return rows


def _prefix_names(kind: Kind, columns: tuple[Column, ...], rows: list[list[str]]) -> None:
    prefix = kind.kind.lower() + (f".{kind.group}/" if kind.group else "/")
    named = [
        index for index, column in enumerate(columns) if column.format == "name" and column.type == "string"
    ]
    if named:
        for row in rows:
            row[named[0]] = prefix + row[named[0]]


def labels_text(labels: Object) -> str:
    """Return labels as `a=b,c=d`, sorted; `<none>` without any."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or "<none>"


def headers(kind: Kind, options: TableOptions) -> list[str]:
    """Return the header cells."""
    names = [column.name.upper() for column in columns_of(kind) if options.is_wide or column.priority == 0]
    names.extend(name.rpartition("/")[2].upper() for name in options.label_columns)
    if options.has_labels:
        names.append("LABELS")
    if options.has_namespace:
        names.insert(0, "NAMESPACE")
    return names


def format_table(kind: Kind, objects: Sequence[Object], now_ms: int, options: TableOptions) -> str:
    """Return the table of objects of one kind; "" without objects."""
    if not objects:
        return ""
    rows = table_rows(kind, objects, now_ms, options)
    if options.has_headers:
        rows.insert(0, headers(kind, options))
    return align(rows)


def align(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equally many cells in columns at least 6 wide, 3 blanks apart."""
    if not rows:
        return ""
    widths = [max(_WIDTH_MIN, max(map(len, column)) + _PADDING) for column in zip(*rows, strict=True)]
    line = "".join([f"%-{width}s" for width in widths[:-1]]) + "%s\n"
    text = "".join([line % tuple(row) for row in rows])
    if "\t" in text:
        writer = TabWriter()
        for row in rows:
            writer.write("\t".join(row) + "\n")
        return writer.flush()
    return text


def _text(cell: Any) -> str:
    if type(cell) is str:
        return cell if cell.isprintable() else _visible(cell)
    if type(cell) is int:
        return str(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell)


def _visible(cell: str) -> str:
    """Return a cell that has characters which do not print: its first line, escapes made visible."""
    if "\n" in cell or "\r" in cell or "\f" in cell:
        cell = _first_line(cell)
    return cell.replace("\x1b", "^[")


def _first_line(cell: str) -> str:
    return cell[: min(at for at in (cell.find(char) for char in "\n\r\f") if at >= 0)] + "..."
