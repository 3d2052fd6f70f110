"""One record of comma-separated values, as Go's encoding/csv reads it: what a list flag's value is.

Source: golang/go src/encoding/csv/reader.go (readRecord; columns count bytes from 1); pflag string_slice.go
(readAsCSV reads one record). The error texts are unrecorded.
"""

from __future__ import annotations

from typing import Final

_BARE_QUOTE: Final = 'bare " in non-quoted field'
_QUOTE: Final = 'extraneous or missing " in quoted-field'


class CsvError(ValueError):
    """The text is no record; the message is Go's own."""


def record(text: str) -> list[str]:
    """Return the fields of the first record of `text`; lines after it are ignored.

    Raises:
        CsvError: for a quote where none may be, or one that is not closed; "EOF" for nothing but empty lines.
    """
    lines = _lines(text)
    first = next((number for number, line in enumerate(lines) if line.strip("\n")), None)
    if first is None:
        raise CsvError("EOF")
    fields: list[str] = []
    number, at = first, 0
    while True:
        line = lines[number]
        if not line.startswith('"', at):
            end = line.find(",", at)
            field = line[at:end] if end >= 0 else line[at:].removesuffix("\n")
            quote = field.find('"')
            if quote >= 0:
                raise _error(lines, first, number, at + quote, _BARE_QUOTE)
            fields.append(field)
            if end < 0:
                return fields
            at = end + 1
            continue
        at += 1
        parts: list[str] = []
        while True:
            line = lines[number]
            quote = line.find('"', at)
            if quote >= 0:
                parts.append(line[at:quote])
                at = quote + 1
                rest = line[at:]
                if rest.startswith('"'):
                    parts.append('"')
                    at += 1
                elif rest.startswith(","):
                    at += 1
                    break
                elif rest in ("", "\n"):
                    return [*fields, "".join(parts)]
                else:
                    raise _error(lines, first, number, quote, _QUOTE)
            else:
                parts.append(line[at:])
                if number + 1 == len(lines):
                    raise _error(lines, first, number, len(line), _QUOTE)
                number, at = number + 1, 0
        fields.append("".join(parts))


def _lines(text: str) -> list[str]:
    # Go splits at line feeds only and drops the carriage return before one, and before the end.
    lines = [line.removesuffix("\r") + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _error(lines: list[str], first: int, number: int, at: int, what: str) -> CsvError:
    column = len(lines[number][:at].encode("utf-8", "surrogateescape")) + 1
    where = f"parse error on line {number + 1}, column {column}: {what}"
    return CsvError(where if number == first else f"record on line {first + 1}; {where}")
