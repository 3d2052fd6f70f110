"""Splits a script into statements, as the mysql client does: by lines, delimiters and quotes.

Source: MariaDB/server client/mysql.cc (read_and_execute, add_line); tests/golden/programs/mariadb (mariadb.timeouts).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

NAMED: Final = (
    "use", "quit", "exit", "delimiter", "source", "status", "help", "clear", "system", "warnings", "nowarning", "prompt", "print",
    "pager", "nopager", "tee", "notee", "rehash", "connect", "go", "ego", "edit", "charset",
)  # fmt: skip
"""Commands of the client's own."""
_SHORT: Final = {
    "u": "use",
    "q": "quit",
    "d": "delimiter",
    ".": "source",
    "s": "status",
    "h": "help",
    "!": "system",
    "W": "warnings",
}
_PART: Final = re.compile(
    r"(?P<comment>\#[^\n]*|--(?=[\s]|\Z)[^\n]*|/\*(?!!).*?\*/)"
    r"|(?P<quoted>'(?>[^'\\]*(?:(?:''|\\.)[^'\\]*)*)'|\"(?>[^\"\\]*(?:(?:\"\"|\\.)[^\"\\]*)*)\"|`(?>[^`]*)`)"
    r"|(?P<open>['\"`]|/\*(?!!))|(?P<short>\\[A-Za-z.!])|(?P<line>\n)|(?P<plain>[^'\"`#/\\\n\-;$|]+)|.",
    re.DOTALL,
)


class Piece(NamedTuple):
    """A statement, or a command of the client's own."""

    text: str
    line: int
    """The line on which it begins, from 1."""
    is_vertical: bool = False
    """Whether it ends with \\G."""
    command: str = ""
    """The name of a command; `text` is its argument then."""


class Splitter:
    """Takes a script as it comes."""

    def __init__(self) -> None:
        self.delimiter = ";"
        self._rest = ""
        self._line = 1
        """The number of the line with which the rest begins."""

    def take(self, text: str, *, is_open: bool) -> list[Piece]:
        """Return the pieces that are complete; at the end, also what is left."""
        self._rest += text
        found: list[Piece] = []
        while (piece := self._next(is_open=is_open)) is not None:
            if piece.command == "delimiter":
                self.delimiter = piece.text.split()[0][:16] if piece.text.split() else self.delimiter
            elif piece.text or piece.command:
                found.append(piece)
        return found

    def _next(self, *, is_open: bool) -> Piece | None:
        text = self._rest
        start = len(text) - len(text.lstrip())
        self._line += text.count("\n", 0, start)
        text = self._rest = text[start:]
        if not text:
            return None
        whole = self._whole_line(text, is_open=is_open)
        if whole is not None:
            return whole
        kept: list[str] = []
        place = 0
        while place < len(text):
            if text.startswith(self.delimiter, place):
                return self._ended(kept, place, place + len(self.delimiter))
            part = _PART.match(text, place)
            assert part is not None
            if part["open"] is not None:
                if is_open:
                    return None
                kept.append(text[place:])
                place = len(text)
                break
            if part["short"] is not None and part[0][1] in "gG":
                return self._ended(kept, place, part.end(), is_vertical=part[0][1] == "G")
            if part["short"] is not None and part[0][1] in _SHORT and not "".join(kept).strip():
                end = text.find("\n", place)
                end = len(text) if end < 0 else end
                argument = text[part.end() : end].strip().rstrip(";")
                self._advance(end)
                return Piece(argument, self._line, command=_SHORT[part[0][1]])
            if part["comment"] is None:
                kept.append(part[0])
            elif not "".join(kept).strip():
                # A statement begins after the comments before it.
                self._advance(part.end())
                return Piece("", self._line)
            place = part.end()
        if is_open:
            return None
        return self._ended(kept, place, place)

    def _whole_line(self, text: str, *, is_open: bool) -> Piece | None:
        """Return a command that takes a line of its own."""
        end = text.find("\n")
        if end < 0:
            if is_open:
                return None
            end = len(text)
        line = text[:end]
        word = line.split(None, 1)[0].lower().rstrip(";")
        if word not in NAMED or (self.delimiter in line and word != "delimiter"):
            return None
        number = self._line
        self._advance(end)
        return Piece(line[len(word) :].strip(), number, command=word)

    def _ended(self, kept: list[str], end: int, after: int, *, is_vertical: bool = False) -> Piece:
        number = self._line
        self._advance(after)
        text = "".join(kept).strip()
        word = text.split(None, 1)[0].lower() if text else ""
        if word in NAMED:
            return Piece(text[len(word) :].strip(), number, command=word)
        del end
        return Piece(text, number, is_vertical=is_vertical)

    def _advance(self, place: int) -> None:
        self._line += self._rest.count("\n", 0, place)
        self._rest = self._rest[place:]
