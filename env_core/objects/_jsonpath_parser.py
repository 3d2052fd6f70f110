"""Reading a JSONPath template, with client-go's error texts.

Source: k8s.io/client-go util/jsonpath (parser); tests/golden/l0/output_formats.
"""

from __future__ import annotations

import re
from typing import Final

from env_core.objects._jsonpath_nodes import (
    Array,
    Bound,
    Field,
    Filter,
    Identifier,
    JSONPathError,
    Literal,
    Node,
    Recursive,
    Sequence,
    Text,
    Union,
    Wildcard,
)
from env_core.objects.goformat import rune_text
from env_core.objects.gounquote import unquoted

_DICT_KEY: Final = re.compile(r"'([^']*)'")
_SLICE: Final = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_COMPARISON: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_TERMINATORS: Final = frozenset(" \t\r\n.,[]$@{}")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")
_INT64_MAX: Final = 2**63 - 1
_NESTING_MAX: Final = 40
_LENGTH_MAX: Final = 64_000


def _is_alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def parse_nodes(text: str, nesting: int = 0) -> tuple[Node, ...]:
    """Return the texts and actions of a template in order.

    Raises:
        JSONPathError: with client-go's text, or when filters nest absurdly deep.
    """
    if nesting > _NESTING_MAX or len(text) > _LENGTH_MAX:
        raise JSONPathError("template is too complex")
    return _Parser(text, nesting).template()


class _Parser:
    __slots__ = ("_at", "_nesting", "_text")

    def __init__(self, text: str, nesting: int) -> None:
        self._text = text
        self._at = 0
        self._nesting = nesting

    def template(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while self._at < len(self._text):
            brace = self._text.find("{", self._at)
            end = brace if brace >= 0 else len(self._text)
            if end > self._at:
                nodes.append(Text(self._text[self._at : end]))
            self._at = end
            if brace >= 0:
                self._at += 1
                nodes.append(Sequence(tuple(self._action())))
        return tuple(nodes)

    def _next(self) -> str:
        """Return the next character and step over it; "" at the end."""
        char = self._text[self._at : self._at + 1]
        self._at += len(char)
        return char

    def _action(self) -> list[Node]:
        """Read up to and over the closing brace."""
        nodes: list[Node] = []
        text = self._text
        while True:
            start = self._at
            if text.startswith("[?(", start):
                nodes.append(self._filter())
                continue
            if text.startswith("..", start):
                self._recursive(nodes)
                continue
            char = self._next()
            if char == "}":
                return nodes
            if not char or char in "\r\n":
                raise JSONPathError("unclosed action")
            if char in " @$":
                continue
            if char == "[":
                self._array(nodes)
            elif char in "\"'":
                nodes.append(self._quoted(char))
            elif char == ".":
                nodes.append(self._field())
            elif char in "+-" or char.isdecimal():
                self._at = start
                nodes.append(self._number())
            elif _is_alphanumeric(char):
                self._at = start
                nodes.append(self._identifier())
            else:
                raise JSONPathError(f"unrecognized character in action: {rune_text(char)}")

    def _nested(self, text: str) -> Sequence:
        """Parse text as the inside of an action of its own."""
        node = parse_nodes("{" + text + "}", self._nesting + 1)[0]
        assert isinstance(node, Sequence), "the text starts with a brace"
        return node

    def _recursive(self, nodes: list[Node]) -> None:
        if nodes and isinstance(nodes[-1], Recursive):
            raise JSONPathError("invalid multiple recursive descent")
        self._at += 2
        nodes.append(Recursive())
        following = self._text[self._at : self._at + 1]
        if following and _is_alphanumeric(following):
            nodes.append(self._field())

    def _field(self) -> Node:
        start = self._at
        text = self._text
        while self._at < len(text) and text[self._at] not in _TERMINATORS:
            self._at += 2 if text[self._at] == "\\" else 1
        self._at = min(self._at, len(text))
        name = text[start : self._at]
        return Wildcard() if name == "*" else Field(name.replace("\\", ""))

    def _identifier(self) -> Node:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _TERMINATORS:
            self._at += 1
        word = self._text[start : self._at]
        return Literal(word == "true") if word in ("true", "false") else Identifier(word)

    def _number(self) -> Node:
        start = self._at
        if self._text[start] in "+-":
            self._at += 1
        while self._at < len(self._text) and (
            self._text[self._at] == "." or self._text[self._at].isdecimal()
        ):
            self._at += 1
        word = self._text[start : self._at]
        if _INTEGER.fullmatch(word) and len(word) < 25 and abs(int(word)) <= _INT64_MAX:
            return Literal(int(word))
        if _FLOAT.fullmatch(word) and len(word) < 300:
            return Literal(float(word))
        raise JSONPathError(f"cannot parse number {word}")

    def _array(self, nodes: list[Node]) -> None:
        start = self._at
        while True:
            char = self._next()
            if not char or char == "\n":
                raise JSONPathError("unterminated array")
            if char == "]":
                break
        text = self._text[start : self._at - 1]
        if text == "*":
            text = ":"
        members = text.split(",")
        if len(members) > 1:
            nodes.append(Union(tuple(self._nested(f"[{member.strip(' ')}]") for member in members)))
            return
        key = _DICT_KEY.fullmatch(text)
        if key is not None:
            nodes.extend(self._nested("." + key[1]).nodes)
            return
        nodes.append(_slice(text))

    def _filter(self) -> Node:
        self._at += len("[?(")
        start = self._at
        quote = ""
        is_closed = False
        while True:
            char = self._next()
            if not char or char == "\n":
                raise JSONPathError("unterminated filter")
            if char in "\"'":
                if not quote:
                    quote = char
                elif char == quote and self._text[self._at - 2] != "\\":
                    is_closed = True
            elif char == ")" and bool(quote) is is_closed:
                break
        text = self._text[start : self._at - 1]
        if self._next() != "]":
            raise JSONPathError("unclosed array expect ]")
        found = _COMPARISON.fullmatch(text) if "\n" not in text else None
        if found is None:
            return Filter(self._nested(text), "exists", Sequence(()))
        return Filter(self._nested(found[1]), found[2], self._nested(found[3]))

    def _quoted(self, quote: str) -> Node:
        start = self._at - 1
        while True:
            char = self._next()
            if not char or char == "\n":
                raise JSONPathError("unterminated quoted string")
            if char == quote and self._text[self._at - 2] != "\\":
                break
        text = self._text[start : self._at]
        resolved = unquoted(text[1:-1], quote)
        if resolved is None:
            raise JSONPathError(f"unquote string {text} error invalid syntax")
        return Text(resolved)


def _slice(text: str) -> Array:
    found = _SLICE.fullmatch(text)
    if found is None:
        raise JSONPathError(f"invalid array index {text}")
    bounds: list[Bound] = []
    for index in range(3):
        part = found[index + 1] or ""
        digits = part[1:] if index and part else part
        if part and (digits or not index):
            if digits == "-" or len(digits) > 20 or abs(int(digits)) > _INT64_MAX:
                raise JSONPathError(f"array index {digits} is not a number")
            bounds.append(Bound(int(digits), is_known=True))
        elif index == 1 and not part:
            bounds.append(Bound(bounds[0].value + 1, is_known=True, is_derived=True))
        else:
            bounds.append(Bound())
    return Array(*bounds)
