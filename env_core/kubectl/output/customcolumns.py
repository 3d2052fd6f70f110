"""`-o custom-columns`: one JSONPath expression a column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from env_core.objects.goformat import value_text
from env_core.objects.jsonpath import JSONPathError, compiled, relaxed
from env_core.objects.tabwriter import TabWriter

_CELL_MAX: Final = 1_000_000
_COLUMNS_MAX: Final = 200
_WORK_MAX: Final = 1_000_000
"""Values visited for one table."""


class CustomColumnsError(Exception):
    """The columns are wrong, or do not apply; the message is kubectl's.

    `output` is what had been printed before.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and the JSONPath template of its cells."""

    header: str
    template: str


@lru_cache(maxsize=256)
def parse_columns(spec: str) -> tuple[Column, ...]:
    """Read `NAME:.metadata.name,PHASE:.status.phase`.

    Source: kubectl pkg/cmd/get NewCustomColumnsPrinterFromSpec; tests/golden/l0/output_formats.

    Raises:
        CustomColumnsError: with kubectl's text.
    """
    if not spec:
        raise CustomColumnsError("custom-columns format specified but no custom columns given")
    columns: list[Column] = []
    for part in spec.split(","):
        header, colon, expression = part.partition(":")
        if not colon:
            raise CustomColumnsError(
                f"unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
            )
        columns.append(Column(header, _template(expression)))
    return tuple(columns)


def parse_columns_file(text: str) -> tuple[Column, ...]:
    """Read the file of `-o custom-columns-file`: a line of headers and a line of paths.

    Source: kubectl pkg/cmd/get NewCustomColumnsPrinterFromTemplate.

    Raises:
        CustomColumnsError: with kubectl's text.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for index, missing in enumerate(("header", "spec")):
        if len(lines) <= index:
            raise CustomColumnsError(
                f"invalid template, missing {missing} line. Expected format is one line of space separated "
                "headers, one line of space separated column specs."
            )
    headers, paths = lines[0].split(), lines[1].split()
    if len(headers) != len(paths):
        raise CustomColumnsError(
            f"number of headers ({len(headers)}) and field specifications ({len(paths)}) don't match"
        )
    return tuple(Column(header, _template(path)) for header, path in zip(headers, paths))


def _template(expression: str) -> str:
    try:
        return relaxed(expression)
    except JSONPathError as error:
        raise CustomColumnsError(str(error)) from error


def render(columns: tuple[Column, ...], subject: dict[str, Any], *, no_headers: bool = False) -> str:
    """Return the table for an object, or for each item of a list.

    Source: kubectl pkg/cmd/get CustomColumnsPrinter; tests/golden/l0/output_formats.

    Raises:
        CustomColumnsError: with kubectl's text and the lines before the failure.
    """
    writer = TabWriter(6, 4, 3, remember_widths=True)
    if not no_headers:
        writer.write("\t".join(column.header for column in columns) + "\n")
    try:
        if len(columns) > _COLUMNS_MAX:
            raise JSONPathError("template is too complex")
        paths = [compiled(column.template) for column in columns]
        items = subject.get("items")
        work = 0
        for item in items if isinstance(items, list) else [subject]:
            cells: list[str] = []
            for path in paths:
                walk = path.walk()
                cells.append(_cell(walk.results(item)))
                work += walk.work
                if work > _WORK_MAX:
                    raise JSONPathError("template is too complex")
            writer.write("\t".join(cells) + "\n")
    except JSONPathError as error:
        raise CustomColumnsError(str(error), writer.flush()) from error
    return writer.flush()


def _cell(found: list[list[Any]]) -> str:
    texts = [] if found and found[0] else ["<none>"]
    size = 0
    for values in found:
        for value in values:
            text = value_text(value).replace("\x1b", "^[").replace("\r", "\\r")
            size += len(text)
            if size > _CELL_MAX:
                raise JSONPathError("output is too large")
            texts.append(text)
    return ",".join(texts)
