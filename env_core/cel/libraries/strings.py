"""Functions of strings.

Source: github.com/google/cel-go v0.29 ext/strings.go, version 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._declarations import Function, Library, Overload, member, overload
from env_core.cel._format import format_string
from env_core.cel._frame import LIMIT_TEXT, CostExceeded
from env_core.cel._types import DYN_TYPE, INT, STRING
from env_core.cel._values import CelError

_STRINGS: Final = _types.list_of(STRING)
_TEXT_MAX: Final = 10_000_000
_SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_QUOTED: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\",
    '"': '\\"',
}  # fmt: skip
_UPPER: Final = {ord(char): ord(char.upper()) for char in map(chr, range(ord("a"), ord("z") + 1))}
_LOWER: Final = {upper: lower for lower, upper in _UPPER.items()}


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> Any:
    return text[index : index + 1] if 0 <= index <= len(text) else _out_of_range(index)


def _index_of(text: str, part: str, start: int = 0) -> Any:
    if start < 0:
        return _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part) if part else len(text)


def _last_index_before(text: str, part: str, offset: int) -> Any:
    if offset < 0:
        return _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    times = text.count(old) if old else len(text) + 1
    times = times if count < 0 else min(times, count)
    if len(text) + times * len(new) > _TEXT_MAX:
        raise CostExceeded(LIMIT_TEXT)
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


def _substring(text: str, start: int, end: int | None = None) -> Any:
    if end is not None and start > end:
        return CelError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        return _out_of_range(start)
    if end is not None and not 0 <= end <= len(text):
        return _out_of_range(end)
    return text[start:end]


def _join(values: list[Any], separator: str = "") -> Any:
    for value in values:
        if not isinstance(value, str):
            from env_core.cel._values import shown

            return CelError(f"join: invalid input: {shown(value)}")
    if sum(map(len, values)) + len(separator) * len(values) > _TEXT_MAX:
        raise CostExceeded(LIMIT_TEXT)
    return separator.join(values)


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


def _function(*overloads: Overload) -> Function:
    return Function(overloads)


def _simple(id_: str, run: Callable[[str], Any]) -> Function:
    return _function(member(id_, (STRING,), STRING, run))


LIBRARY = Library(
    order=15,
    functions={
        "charAt": _function(member("string_char_at_int", (STRING, INT), STRING, _char_at)),
        "indexOf": _function(
            member("string_index_of_string", (STRING, STRING), INT, _index_of),
            member("string_index_of_string_int", (STRING, STRING, INT), INT, _index_of),
        ),
        "lastIndexOf": _function(
            member("string_last_index_of_string", (STRING, STRING), INT, _last_index_of),
            member("string_last_index_of_string_int", (STRING, STRING, INT), INT, _last_index_before),
        ),
        "lowerAscii": _simple("string_lower_ascii", lambda text: text.translate(_LOWER)),
        "upperAscii": _simple("string_upper_ascii", lambda text: text.translate(_UPPER)),
        "trim": _simple("string_trim", lambda text: text.strip(_SPACES)),
        "replace": _function(
            member("string_replace_string_string", (STRING, STRING, STRING), STRING, _replace),
            member("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING, _replace),
        ),
        "split": _function(
            member("string_split_string", (STRING, STRING), _STRINGS, _split),
            member("string_split_string_int", (STRING, STRING, INT), _STRINGS, _split),
        ),
        "substring": _function(
            member("string_substring_int", (STRING, INT), STRING, _substring),
            member("string_substring_int_int", (STRING, INT, INT), STRING, _substring),
        ),
        "format": _function(
            member("string_format", (STRING, _types.list_of(DYN_TYPE)), STRING, format_string)
        ),
        "strings.quote": _function(overload("strings_quote", (STRING,), STRING, _quote)),
        "join": _function(
            member("list_join", (_STRINGS,), STRING, _join),
            member("list_join_string", (_STRINGS, STRING), STRING, _join),
        ),
    },
    source="github.com/google/cel-go v0.29 ext/strings.go",
)
