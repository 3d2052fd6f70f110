"""The functions that every Go template has, and the values that templates work on.

Values are those of a decoded JSON object, where every number is a float64; int is what literals, `len` and
range indexes give. None is null as well as a key that is not there: printed and compared they are the same.

Source: Go text/template funcs.go; tests/golden/l0/output_formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote_plus

from env_core.objects.goformat import sprint, sprintf, type_name, value_text

OUTPUT_MAX: Final = 2_000_000
_BAD_KIND: Final = "invalid type for comparison"
_JS_ESCAPES: Final = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}
_HTML_ESCAPES: Final = {
    "\0": "\ufffd",
    '"': "&#34;",
    "'": "&#39;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
}


class FunctionError(Exception):
    """A function refuses its arguments; the message is Go's."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A function with the number of its fixed arguments; `text_first` says that these are strings."""

    call: Callable[..., Any]
    fixed: int
    is_variadic: bool
    text_first: bool = False


class TextMap(dict[str, str]):
    """A `map[string]string`: keys that are not there read as ""."""


@dataclass(frozen=True, slots=True)
class Struct:
    """A Go struct, of a type with a name as errors print it."""

    type: str
    fields: Mapping[str, Any]


def go_type(value: Any) -> str:
    """Return the Go type of a template value."""
    if isinstance(value, Struct):
        return value.type
    if isinstance(value, TextMap):
        return "map[string]string"
    return type_name(value, "int")


def is_true(value: Any) -> bool:
    """Say what `{{if}}` makes of a value: false are nil, zero and everything empty."""
    return bool(value)


def shown(value: Any) -> str:
    """Return what `{{value}}` prints."""
    if isinstance(value, Struct):
        return "{" + " ".join(map(value_text, value.fields.values())) + "}"
    return "<no value>" if value is None else value_text(value)


def _kind(value: Any) -> str:
    return "" if value is None or isinstance(value, dict | list) else go_type(value)


def _bad_kinds(first: Any, other: Any) -> FunctionError:
    return FunctionError(f"incompatible types for comparison: {go_type(first)} and {go_type(other)}")


def _nil_dereference(function: str) -> FunctionError:
    return FunctionError(f"reflect: call of reflect.Value.{function} on zero Value")


def equal(first: Any, *others: Any) -> bool:
    """eq: whether the first value equals any of the others."""
    if not others:
        raise FunctionError("missing argument for comparison")
    kind = _kind(first)
    for other in others:
        if kind != _kind(other):
            if first is not None and other is not None:
                raise _bad_kinds(first, other)
        elif kind:
            if first == other:
                return True
        elif first is None and other is None:
            return True
        elif first is not None and other is not None:
            raise FunctionError(
                f"non-comparable type {value_text(first)}: {go_type(first)}"
                if type(first) is type(other)
                else f"non-comparable types {value_text(first)}: {go_type(first)}, {go_type(other)}: {value_text(other)}"
            )
    return False


def _not_equal(first: Any, other: Any) -> bool:
    return not equal(first, other)


def _less(first: Any, other: Any) -> bool:
    kinds = _kind(first), _kind(other)
    if "" in kinds:
        raise FunctionError(_BAD_KIND)
    if kinds[0] != kinds[1]:
        raise _bad_kinds(first, other)
    if kinds[0] == "bool":
        raise FunctionError(_BAD_KIND)
    return bool(first < other)


def _less_or_equal(first: Any, other: Any) -> bool:
    return _less(first, other) or equal(first, other)


def _greater(first: Any, other: Any) -> bool:
    return not _less_or_equal(first, other)


def _greater_or_equal(first: Any, other: Any) -> bool:
    return not _less(first, other)


def _position(index: Any, length: int) -> int:
    if index is None:
        raise FunctionError("cannot index slice/array with nil")
    if isinstance(index, bool) or not isinstance(index, int):
        raise FunctionError(f"cannot index slice/array with type {go_type(index)}")
    if not 0 <= index <= length:
        raise FunctionError(f"index out of range: {index}")
    return index


def index(item: Any, *indexes: Any) -> Any:
    """index: the element at a place of a list, or the entry of a map; nested ones one after another."""
    if item is None:
        raise FunctionError("index of untyped nil")
    for key in indexes:
        if item is None:
            raise FunctionError("index of nil pointer")
        if isinstance(item, dict):
            if key is None:
                raise FunctionError("value is nil; should be of type string")
            if not isinstance(key, str):
                raise FunctionError(f"value has type {go_type(key)}; should be string")
            item = item.get(key, "" if isinstance(item, TextMap) else None)
        elif isinstance(item, list | str):
            elements = item if isinstance(item, list) else item.encode()
            place = _position(key, len(elements))
            if place == len(elements):
                kind = "slice" if isinstance(item, list) else "string"
                raise FunctionError(f"reflect: {kind} index out of range")
            item = elements[place]
        else:
            raise FunctionError(f"can't index item of type {go_type(item)}")
    return item


def _slice(item: Any, *indexes: Any) -> Any:
    if item is None:
        raise FunctionError("slice of untyped nil")
    if len(indexes) > 3:
        raise FunctionError(f"too many slice indexes: {len(indexes)}")
    if not isinstance(item, list | str):
        raise FunctionError(f"can't slice item of type {go_type(item)}")
    if isinstance(item, str) and len(indexes) == 3:
        raise FunctionError("cannot 3-index slice a string")
    places = [_position(place, len(item)) for place in indexes]
    bounds = [0, len(item), len(item)]
    bounds[: len(places)] = places
    if bounds[0] > bounds[1]:
        raise FunctionError(f"invalid slice index: {bounds[0]} > {bounds[1]}")
    if len(indexes) == 3 and bounds[1] > bounds[2]:
        raise FunctionError(f"invalid slice index: {bounds[1]} > {bounds[2]}")
    return item[bounds[0] : bounds[1]]


def _length(item: Any) -> int:
    if item is None:
        raise _nil_dereference("Type")
    if isinstance(item, str):
        return len(item.encode())
    if isinstance(item, dict | list):
        return len(item)
    raise FunctionError(f"len of type {go_type(item)}")


def _not(value: Any) -> bool:
    return not is_true(value)


def _texts(values: tuple[Any, ...]) -> str:
    return sprint(["<no value>" if value is None else value for value in values])


def _html(*values: Any) -> str:
    return "".join(_HTML_ESCAPES.get(char, char) for char in _texts(values))


def _js(*values: Any) -> str:
    out: list[str] = []
    for char in _texts(values):
        if char in _JS_ESCAPES:
            out.append(_JS_ESCAPES[char])
        elif char >= " " and char.isprintable():
            out.append(char)
        else:
            out.append(f"\\u{ord(char):04X}")
    return "".join(out)


def _url_query(*values: Any) -> str:
    return quote_plus(_texts(values), safe="")


def _print(*values: Any) -> str:
    return sprint(list(values))


def _print_line(*values: Any) -> str:
    return " ".join(map(value_text, values)) + "\n"


def _print_formatted(layout: str, *values: Any) -> str:
    text = sprintf(layout, list(values), "int")
    if len(text) > OUTPUT_MAX:
        raise FunctionError("output is too large")
    return text


def _call(function: Any, *_: Any) -> Any:
    if function is None:
        raise FunctionError("call of nil")
    raise FunctionError(f"non-function of type {go_type(function)}")


def _and_or(*_: Any) -> Any:
    raise AssertionError("evaluated by the executor, argument by argument")


BUILTINS: Final[dict[str, Signature]] = {
    "and": Signature(_and_or, 1, is_variadic=True),
    "or": Signature(_and_or, 1, is_variadic=True),
    "not": Signature(_not, 1, is_variadic=False),
    "eq": Signature(equal, 1, is_variadic=True),
    "ne": Signature(_not_equal, 2, is_variadic=False),
    "lt": Signature(_less, 2, is_variadic=False),
    "le": Signature(_less_or_equal, 2, is_variadic=False),
    "gt": Signature(_greater, 2, is_variadic=False),
    "ge": Signature(_greater_or_equal, 2, is_variadic=False),
    "index": Signature(index, 1, is_variadic=True),
    "slice": Signature(_slice, 1, is_variadic=True),
    "len": Signature(_length, 1, is_variadic=False),
    "html": Signature(_html, 0, is_variadic=True),
    "js": Signature(_js, 0, is_variadic=True),
    "urlquery": Signature(_url_query, 0, is_variadic=True),
    "print": Signature(_print, 0, is_variadic=True),
    "println": Signature(_print_line, 0, is_variadic=True),
    "printf": Signature(_print_formatted, 1, is_variadic=True, text_first=True),
    "call": Signature(_call, 1, is_variadic=True),
}
