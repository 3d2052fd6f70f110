"""Tokens of a jq filter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

KEYWORDS: Final = frozenset(
    [
        "def",
        "if",
        "then",
        "else",
        "elif",
        "end",
        "as",
        "reduce",
        "foreach",
        "try",
        "catch",
        "label",
        "import",
        "include",
        "and",
        "or",
        "__loc__",
        "module",
    ]
)
_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*)
    |(?P<op>\?//|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|\.\.|[.\[\]{}()|,:;=<>+\-*/%?$])
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<format>@[a-zA-Z0-9_]+)
    |(?P<name>[a-zA-Z_][a-zA-Z_0-9]*(?:::[a-zA-Z_][a-zA-Z_0-9]*)*)""",
    re.VERBOSE | re.ASCII,
)
_FIELD: Final = re.compile(r"\.([a-zA-Z_][a-zA-Z_0-9]*)", re.ASCII)
_DECIMAL: Final = re.compile(r"\.[0-9]")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
_DEPTH_MAX: Final = 20


class CompileProblem(Exception):
    """The filter is malformed: each error's text with the place (an offset) it points at."""

    def __init__(self, text: str, offset: int) -> None:
        """Record one error."""
        super().__init__(text)
        self.errors = [(text, offset)]


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is op, number, format, name, keyword, field, string, invalid or end; strings carry their parts."""

    kind: str
    text: str
    start: int
    parts: tuple[str | tuple[Token, ...], ...] = ()


def tokens(source: str) -> list[Token]:
    """Return a filter's tokens, the last of kind "end"."""
    found, _ = _read(source, 0, "", 0)
    return found


def _read(source: str, position: int, closer: str, depth: int) -> tuple[list[Token], int]:
    """Read tokens up to `closer` (of an interpolation) or the end; return them and where they end."""
    found: list[Token] = []
    stack: list[str] = []
    if depth > _DEPTH_MAX:
        raise CompileProblem("string nested too deep", position)
    while position < len(source):
        char = source[position]
        if char == '"':
            token, position = _string(source, position, depth)
            found.append(token)
            continue
        if char == "." and _FIELD.match(source, position):
            match = _FIELD.match(source, position)
            assert match is not None
            found.append(Token("field", match.group(1), position))
            position = match.end()
            continue
        match = _TOKEN.match(source, position)
        if match is None:
            found.append(Token("invalid", char, position))
            position += 1
            continue
        if char == "." and _DECIMAL.match(source, position):
            match = re.compile(r"(?P<number>\.[0-9]+(?:[eE][+-]?[0-9]+)?)").match(source, position)
            assert match is not None
        kind = match.lastgroup or ""
        text = match.group()
        if kind == "op" and text in _CLOSERS:
            stack.append(_CLOSERS[text])
        elif kind == "op" and text in (")", "]", "}"):
            if not stack and text == closer:
                break
            if not stack or stack[-1] != text:
                kind = "invalid"
            else:
                stack.pop()
        if kind == "name" and text in KEYWORDS:
            kind = "keyword"
        if kind != "space":
            found.append(Token(kind, text, position))
        position = match.end()
    # An unexpected end is blamed on the token before it.
    found.append(Token("end", "$end", _last_place(found)))
    return found, position


def _last_place(found: list[Token]) -> int:
    """Return where the last token starts; a string ends with a token of its own, its quote."""
    if not found:
        return 0
    last = found[-1]
    return last.start + len(last.text) - 1 if last.kind == "string" else last.start


def _string(source: str, start: int, depth: int) -> tuple[Token, int]:
    position = start + 1
    parts: list[str | tuple[Token, ...]] = []
    text: list[str] = []
    while True:
        if position >= len(source):
            raise CompileProblem(
                "syntax error, unexpected $end, expecting QQSTRING_TEXT or QQSTRING_INTERP_START or QQSTRING_END"
                " (Unix shell quoting issues?)",
                start + 1,
            )
        char = source[position]
        position += 1
        if char == '"':
            break
        if char != "\\":
            text.append(char)
            continue
        code = source[position : position + 1]
        position += 1
        if code == "(":
            inner, position = _read(source, position, ")", depth + 1)
            position += 1
            if text:
                parts.append("".join(text))
                text.clear()
            parts.append(tuple(inner))
        elif code == "u" and re.match("[0-9a-fA-F]{4}", source[position:]):
            text.append(chr(int(source[position : position + 4], 16)))
            position += 4
        elif code in _ESCAPES and code:
            text.append(_ESCAPES[code])
        else:
            raise CompileProblem(
                f"Invalid escape at line 1, column {position - start} (while parsing '\"\\{code}\"')", start
            )
    if text or not parts:
        parts.append("".join(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return Token("string", source[start:position], start, tuple(parts)), position
