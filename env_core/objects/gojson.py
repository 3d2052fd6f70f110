"""JSON as Go's encoding/json reads it: its syntax errors, its duplicate keys, its spelling of numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from env_core.objects.problems import quoted

_BLANK: Final = re.compile(rb"[ \t\r\n]*")
_PLAIN: Final = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS: Final = re.compile(rb"[0-9]*")
_ESCAPES: Final = frozenset(b'bfnrt\\/"')
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")
_WORDS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_END: Final = "unexpected end of JSON input"
_HALVES: Final = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash, a whole surrogate pair, or half of one."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_DIGITS_MAX: Final = 400
"""No float64 has more digits before its point; Python refuses to read integers of more than 4300."""
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1


class JsonSyntaxError(ValueError):
    """The text is no JSON; the message is encoding/json's."""


class Repeated(dict[str, Any]):
    """A JSON object in which a key occurs twice; `pairs` keeps every member in document order."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class Literal(float):
    """A JSON number with a fraction, an exponent or more than 64 bits; `text` is how it was written."""

    __slots__ = ("text",)
    text: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    return built if len(built) == len(pairs) else Repeated(pairs)


def _literal(text: str) -> Literal:
    number = Literal(text)
    number.text = text
    return number


def _integer(text: str) -> int | Literal:
    if len(text) > _DIGITS_MAX:
        return _literal(text)
    number = int(text)
    return number if _INT64_MIN <= number <= _INT64_MAX else _literal(text)


def _refuse(text: str) -> Any:
    raise ValueError(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_literal, parse_int=_integer, parse_constant=_refuse
)


def read(text: str | bytes) -> Any:
    """Parse JSON, keeping duplicate keys (`Repeated`) and the spelling of non-integers (`Literal`).

    Raises:
        JsonSyntaxError: with the words of Go's encoding/json.
    """
    try:
        return _DECODER.decode(whole(text.decode("utf-8", "replace") if isinstance(text, bytes) else text))
    except (ValueError, RecursionError) as why:
        problem = syntax_problem(text)
        raise JsonSyntaxError(problem or str(why)) from None


def loads(text: str) -> Any:
    """Parse JSON into ordinary dicts, lists and numbers, with U+FFFD for lone surrogates.

    Raises:
        json.JSONDecodeError: with Python's words.
    """
    return json.loads(whole(text))


def whole(text: str) -> str:
    """Return a JSON text in which U+FFFD stands for every lone surrogate, as encoding/json reads it."""
    if "\\ud" in text or "\\uD" in text:
        text = _HALVES.sub(lambda found: "\\ufffd" if len(found.group()) == 6 else found.group(), text)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def is_json(text: str | bytes) -> bool:
    """Whether a text is one JSON value."""
    try:
        read(text)
    except JsonSyntaxError:
        return False
    return True


def plain(value: Any) -> Any:
    """Return `value` as ordinary dicts, lists, numbers: of repeated keys the last one counts."""
    kind = type(value)
    if kind is dict or kind is Repeated:
        return {key: plain(item) for key, item in value.items()}
    if kind is list:
        return [plain(item) for item in value]
    if kind is Literal:
        text = value.text
        return int(text) if len(text) <= _DIGITS_MAX and text.lstrip("-").isdecimal() else float(value)
    return value


def copied(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    kind = type(value)
    if kind is dict:
        return {key: copied(item) if type(item) in _CONTAINERS else item for key, item in value.items()}
    if kind is list:
        return [copied(item) if type(item) in _CONTAINERS else item for item in value]
    return plain(value) if kind is Repeated else value


_CONTAINERS: Final = frozenset({dict, list, Repeated})


def kind_word(value: Any) -> str:
    """Return encoding/json's word for a JSON value: object, array, string, number, bool or null."""
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"


def number_text(value: float) -> str:
    """Return a number as it was written."""
    return value.text if isinstance(value, Literal) else repr(value)


def repeated_fields(value: Any) -> list[str]:
    """Return `duplicate field "a.b[0].c"` for every repeated key, each once, in document order."""
    found: dict[str, None] = {}
    _find_repeated(value, "", found)
    return list(found)[:100]


def _find_repeated(value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _find_repeated(item, f"{path}[{index}]", found)
        return
    if not isinstance(value, dict):
        return
    pairs: Iterable[tuple[str, Any]] = value.pairs if isinstance(value, Repeated) else value.items()
    seen = set()
    for key, item in pairs:
        inner = f"{path}.{key}" if path else key
        if key in seen:
            found[f'duplicate field "{inner}"'] = None
        seen.add(key)
        _find_repeated(item, inner, found)


def _char(byte: int) -> str:
    char = chr(byte)
    if char == "'":
        return "'\\''"
    if char == '"':
        return "'\"'"
    return "'" + quoted(char)[1:-1] + "'"


class _Scanner:
    """A validating reader of bytes that stops at the first byte Go would refuse."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fail(self, where: str) -> JsonSyntaxError:
        if self.at >= len(self.data):
            return JsonSyntaxError(_END)
        return JsonSyntaxError(f"invalid character {_char(self.data[self.at])} {where}")

    def peek(self) -> int:
        return self.data[self.at] if self.at < len(self.data) else -1

    def blank(self) -> int:
        found = _BLANK.match(self.data, self.at)
        self.at = found.end() if found else self.at
        return self.peek()

    def document(self) -> None:
        self.value()
        if self.blank() != -1:
            raise self.fail("after top-level value")

    def value(self) -> None:
        first = self.blank()
        if first == ord("{"):
            self.members()
        elif first == ord("["):
            self.items()
        elif first == ord('"'):
            self.string()
        elif first == ord("-") or ord("0") <= first <= ord("9"):
            self.number()
        elif first in _WORDS:
            self.word(_WORDS[first])
        else:
            raise self.fail("looking for beginning of value")

    def members(self) -> None:
        self.at += 1
        if self.blank() == ord("}"):
            self.at += 1
            return
        while True:
            if self.blank() != ord('"'):
                raise self.fail("looking for beginning of object key string")
            self.string()
            if self.blank() != ord(":"):
                raise self.fail("after object key")
            self.at += 1
            self.value()
            following = self.blank()
            if following == ord("}"):
                self.at += 1
                return
            if following != ord(","):
                raise self.fail("after object key:value pair")
            self.at += 1

    def items(self) -> None:
        self.at += 1
        if self.blank() == ord("]"):
            self.at += 1
            return
        while True:
            self.value()
            following = self.blank()
            if following == ord("]"):
                self.at += 1
                return
            if following != ord(","):
                raise self.fail("after array element")
            self.at += 1

    def string(self) -> None:
        self.at += 1
        while True:
            found = _PLAIN.match(self.data, self.at)
            self.at = found.end() if found else self.at
            byte = self.peek()
            if byte == ord('"'):
                self.at += 1
                return
            if byte != ord("\\"):
                raise self.fail("in string literal")
            self.at += 1
            escape = self.peek()
            if escape == ord("u"):
                for _ in range(4):
                    self.at += 1
                    if self.peek() not in _HEX:
                        raise self.fail("in \\u hexadecimal character escape")
            elif escape not in _ESCAPES:
                raise self.fail("in string escape code")
            self.at += 1

    def number(self) -> None:
        if self.peek() == ord("-"):
            self.at += 1
        first = self.peek()
        if not ord("0") <= first <= ord("9"):
            raise self.fail("in numeric literal")
        if first == ord("0"):
            self.at += 1
        else:
            self.digits()
        if self.peek() == ord("."):
            self.at += 1
            if not self.digits():
                raise self.fail("after decimal point in numeric literal")
        if self.peek() in (ord("e"), ord("E")):
            self.at += 1
            if self.peek() in (ord("+"), ord("-")):
                self.at += 1
            if not self.digits():
                raise self.fail("in exponent of numeric literal")

    def digits(self) -> bool:
        start = self.at
        found = _DIGITS.match(self.data, start)
        self.at = found.end() if found else start
        return self.at > start

    def word(self, word: bytes) -> None:
        for index in range(1, len(word)):
            self.at += 1
            if self.peek() != word[index]:
                raise self.fail(f"in literal {word.decode()} (expecting {_char(word[index])})")
        self.at += 1


def syntax_problem(text: str | bytes) -> str:
    """Return what encoding/json says of `text`, "" when it is JSON.

    Source: Go 1.26 encoding/json scanner; tests/golden/l0/strict_decoding, patch_json.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        _Scanner(data).document()
    except JsonSyntaxError as why:
        return str(why)
    except RecursionError:
        return "exceeded max depth"
    return ""
