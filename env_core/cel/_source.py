"""Source text, places in it, and how complaints about it are shown.

Source: github.com/google/cel-go v0.29 common/error and common/errors; tests/golden/promql/cel.jsonl.gz.
"""

from __future__ import annotations

from typing import Final

NOWHERE: Final = -1
"""The offset of a complaint about the whole text."""
_ERRORS_MAX: Final = 100
_SNIPPET_MAX: Final = 16384


class Issues:
    """The complaints about one text, in the order in which they came."""

    __slots__ = ("_found", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: list[tuple[int, int, str]] = []
        self._starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._found)

    def add(self, offset: int, message: str) -> None:
        """Complain about what stands at `offset`."""
        line, column = self._place(offset)
        self._found.append((line, column, message))

    def extend(self, other: Issues) -> None:
        """Take over the complaints of another reader of the same text."""
        self._found += other._found

    def shown(self) -> str:
        """Return all complaints, sorted by place, each with the line it is about."""
        ordered = sorted(self._found[:_ERRORS_MAX], key=lambda each: each[:2])
        lines = [self._shown(*each) for each in ordered]
        if len(self._found) > _ERRORS_MAX:
            lines.append(f"{len(self._found) - _ERRORS_MAX} more errors were truncated")
        return "\n".join(lines)

    def _place(self, offset: int) -> tuple[int, int]:
        if offset < 0:
            return -1, -1
        line = sum(start <= offset for start in self._starts)
        return line, offset - self._starts[line - 1]

    def _shown(self, line: int, column: int, message: str) -> str:
        head = f"ERROR: <input>:{line}:{column + 1}: {message}"
        if line < 1:
            return head
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        snippet = self.text[start:end]
        if len(snippet.encode()) > _SNIPPET_MAX:
            return head
        snippet = snippet.replace("\t", " ")
        dots = "".join("\uff0e" if ord(char) > 0x7F else "." for char in snippet[:column])
        is_wide = column < len(snippet) and ord(snippet[column]) > 0x7F
        return f"{head}\n | {snippet}\n | {dots}{chr(0xFF3E) if is_wide else '^'}"
