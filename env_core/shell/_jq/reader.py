"""Reads JSON values one after the other, with jq 1.6's error texts and places."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from env_core.shell._jq.values import Json

_DEPTH_MAX: Final = 256
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z", re.ASCII)
_INTEGER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z", re.ASCII)
_MISSING: Final = object()
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


class ReadProblem(Exception):
    """The text is no JSON; `text` is jq's, with line and column."""

    def __init__(self, text: str) -> None:
        """Record the text."""
        super().__init__(text)
        self.text = text


def read_values(text: str) -> Iterator[tuple[Json, int]]:
    """Yield each value with the number of line ends that had been read by then.

    Raises:
        ReadProblem: at the first place where the text is no JSON.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        yield from _Reader(text).values()
        return
    yield value, _lines_at(text, len(text.rstrip()))


def read_one(text: str) -> Json:
    """Return the only value of a text, as `fromjson` and `tonumber` read it.

    Raises:
        ReadProblem: if there is none or more than one; the text says what was parsed.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        found = [value for value, _ in _Reader(text).values()]
    except ReadProblem as problem:
        raise ReadProblem(f"{problem.text} (while parsing '{text}')") from None
    if len(found) > 1:
        raise ReadProblem(f"Unexpected extra JSON values (while parsing '{text}')")
    if not found:
        raise ReadProblem(f"Expected JSON value (while parsing '{text}')")
    return found[0]


def _lines_at(text: str, position: int) -> int:
    """Return how many line ends come up to the end of the line at `position`: input is read by lines."""
    end = text.find("\n", max(position - 1, 0))
    return text.count("\n", 0, len(text) if end == -1 else end + 1)


class _Reader:
    """jq's push-down reader: a stack of open containers and pending keys, and the next value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[Any] = []
        self._next: Any = _MISSING
        self._token: list[str] = []
        self._line = 1
        self._column = 0
        self._counted = 0
        self._ends = 0
        """How many line ends come before `_counted`."""

    def _lines_at(self, position: int) -> int:
        """Return what the function of that name returns; positions rise."""
        end = self._text.find("\n", max(position - 1, 0))
        upto = len(self._text) if end == -1 else end + 1
        self._ends += self._text.count("\n", self._counted, upto)
        self._counted = upto
        return self._ends

    def values(self) -> Iterator[tuple[Json, int]]:
        """Yield values with the lines read; raises `ReadProblem`."""
        text = self._text
        in_string = escaped = False
        for position, char in enumerate(text):
            self._column += 1
            if char == "\n":
                self._line += 1
                self._column = 0
            if in_string:
                if char == '"' and not escaped:
                    in_string = False
                    self._check(self._string())
                else:
                    escaped = char == "\\" and not escaped
                    self._token.append(char)
                    continue
            elif char in ' \t\r\n[{:,]}"':
                self._check(self._literal())
                if char in "[{:,]}":
                    if char not in "]}" and self._is_done():
                        yield self._taken(), self._lines_at(position + 1)
                    self._check(self._structure(char))
                elif char == '"':
                    if self._is_done():
                        yield self._taken(), self._lines_at(position + 1)
                    in_string = True
                    continue
            else:
                self._token.append(char)
                continue
            if self._is_done():
                yield self._taken(), self._lines_at(position + 1)
        if in_string:
            raise ReadProblem(f"Unfinished string at EOF at line {self._line}, column {self._column}")
        self._check(self._literal(), " at EOF")
        if self._stack:
            raise ReadProblem(f"Unfinished JSON term at EOF at line {self._line}, column {self._column}")
        if self._next is not _MISSING:
            yield self._taken(), text.count("\n")

    def _check(self, problem: str, where: str = "") -> None:
        if problem:
            raise ReadProblem(f"{problem}{where} at line {self._line}, column {self._column}")

    def _is_done(self) -> bool:
        return not self._stack and self._next is not _MISSING

    def _taken(self) -> Json:
        value, self._next = self._next, _MISSING
        return value

    def _value(self, value: Json) -> str:
        if self._next is not _MISSING:
            return "Expected separator between values"
        self._next = value
        return ""

    def _literal(self) -> str:
        if not self._token:
            return ""
        token = "".join(self._token)
        self._token.clear()
        words = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
        if token == "nan":
            return self._value(math.nan)
        if token[0] in words:
            word, value = words[token[0]]
            return self._value(value) if token == word else "Invalid literal"
        if not _NUMBER.match(token):
            return "Invalid numeric literal"
        return self._value(int(token) if _INTEGER.match(token) else float(token))

    def _string(self) -> str:
        token = "".join(self._token)
        self._token.clear()
        if "\\" not in token:
            return self._value(token)
        out: list[str] = []
        index = 0
        while index < len(token):
            char = token[index]
            index += 1
            if char != "\\":
                out.append(char)
                continue
            if index >= len(token):
                return "Expected escape character at end of string"
            code = token[index]
            index += 1
            if code == "u":
                digits = token[index : index + 4]
                if len(digits) < 4:
                    return "Invalid \\uXXXX escape"
                if not re.fullmatch("[0-9a-fA-F]{4}", digits):
                    return "Invalid characters in \\uXXXX escape"
                out.append(chr(int(digits, 16)))
                index += 4
            elif code in _ESCAPES:
                out.append(_ESCAPES[code])
            else:
                return "Invalid escape"
        joined = "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return self._value(joined)

    def _structure(self, char: str) -> str:
        if char in "[{":
            if len(self._stack) >= _DEPTH_MAX:
                return "Exceeds depth limit for parsing"
            if self._next is not _MISSING:
                return "Expected separator between values"
            self._stack.append([] if char == "[" else {})
            return ""
        top = self._stack[-1] if self._stack else None
        if char == ":":
            return self._colon(top)
        if char == ",":
            return self._comma(top)
        return self._close_array(top) if char == "]" else self._close_object(top)

    def _colon(self, top: Any) -> str:
        if self._next is _MISSING:
            return "Expected string key before ':'"
        if not isinstance(top, dict):
            return "':' not as part of an object"
        if not isinstance(self._next, str):
            return "Object keys must be strings"
        self._stack.append(self._taken())
        return ""

    def _comma(self, top: Any) -> str:
        if self._next is _MISSING:
            return "Expected value before ','"
        if top is None:
            return "',' not as part of an object or array"
        if isinstance(top, list):
            top.append(self._taken())
            return ""
        return self._pair(top)

    def _pair(self, top: Any) -> str:
        if not isinstance(top, str):
            return "Objects must consist of key:value pairs"
        key = self._stack.pop()
        self._stack[-1][key] = self._taken()
        return ""

    def _close_array(self, top: Any) -> str:
        if not isinstance(top, list):
            return "Unmatched ']'"
        if self._next is not _MISSING:
            top.append(self._taken())
        elif top:
            return "Expected another array element"
        self._next = self._stack.pop()
        return ""

    def _close_object(self, top: Any) -> str:
        if top is None:
            return "Unmatched '}'"
        if self._next is not _MISSING:
            problem = self._pair(top)
            if problem:
                return problem
        elif not isinstance(top, dict):
            return "Unmatched '}'"
        elif top:
            return "Expected another key-value pair"
        self._next = self._stack.pop()
        return ""
