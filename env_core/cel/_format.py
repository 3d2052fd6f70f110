"""`string.format`: its clauses, and what is wrong with a constant format before it runs.

Source: github.com/google/cel-go v0.29 ext/formatting.go (version 1 of the library, which Kubernetes uses).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from env_core.cel import _types
from env_core.cel._ast import ListOf, MapOf, Node
from env_core.cel._conversions import to_double, to_string
from env_core.cel._types import Type
from env_core.cel._values import CelError, Duration, Timestamp, UInt, type_name, type_of
from env_core.objects.problems import quoted

_DEFAULT_PRECISION: Final = 6
PRECISION_MAX: Final = 100
"""No more digits than this are printed: cel-go has no limit here, a text of a billion digits serves nobody."""
_SPELLED: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_STRINGABLE: Final = frozenset(
    {
        _types.LIST, _types.MAP, "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration",
        _types.TYPE, _types.NULL, _types.DYN,
    }
)  # fmt: skip
_COMPLAINTS: Final = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
    "and timestamps, was given",
    "d": "decimal clause can only be used on integers, was given",
    "f": "fixed-point clause can only be used on doubles, was given",
    "e": "scientific clause can only be used on doubles, was given",
    "b": "only integers and bools can be formatted as binary, was given",
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given",
    "o": "octal clause can only be used on integers, was given",
}
_KINDS: Final = {
    "d": ("int", "uint"),
    "f": ("double", "string"),
    "e": ("double", "string"),
    "b": ("int", "uint", "bool"),
    "x": ("int", "uint", "string", "bytes"),
    "o": ("int", "uint"),
}


class FormatProblem(Exception):
    """The format cannot be followed; `node` is the argument that is to blame, if one is."""

    def __init__(self, message: str, node: Node | None = None) -> None:
        super().__init__(message)
        self.node = node


def format_string(layout: str, values: list[Any]) -> Any:
    """Return the formatted text, or an error."""

    def clause(letter: str, precision: int | None, index: int) -> str:
        return _formatted(letter, precision, values[index])

    try:
        return _follow(layout, len(values), clause)[0]
    except FormatProblem as problem:
        return CelError(str(problem))


def check_format(layout: str, elements: Sequence[Node]) -> int:
    """Return how many arguments a constant format uses.

    Raises:
        FormatProblem: it is malformed, or the type of an argument does not fit its clause.
    """

    def clause(letter: str, _precision: int | None, index: int) -> str:
        node = elements[index]
        culprit = _unprintable(node) if letter == "s" else node
        if letter != "s" and (_types.is_dyn(node.type) or node.type.kind in _KINDS[letter.lower()]):
            return ""
        if culprit is None:
            return ""
        raise FormatProblem(f"{_COMPLAINTS[letter.lower()]} {culprit.type.name}", culprit)

    return _follow(layout, len(elements), clause)[1]


def _unprintable(node: Node) -> Node | None:
    if node.type.kind not in _STRINGABLE:
        return node
    if isinstance(node, ListOf):
        parts = node.elements
    elif isinstance(node, MapOf):
        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
    else:
        return None
    return next((found for found in map(_unprintable, parts) if found is not None), None)


def _follow(layout: str, count: int, clause: Callable[[str, int | None, int], str]) -> tuple[str, int]:
    out: list[str] = []
    used = 0
    position = 0
    while position < len(layout):
        char = layout[position]
        if char != "%":
            out.append(char)
            position += 1
        elif layout[position + 1 : position + 2] == "%":
            out.append("%")
            position += 2
        else:
            if used >= count and position + 1 < len(layout):
                raise FormatProblem(f"index {used} out of range")
            if position + 1 >= len(layout):
                text = "unexpected end of string" if used < count else f"index {used} out of range"
                raise FormatProblem(text)
            letter, precision, position = _clause(layout, position + 1)
            try:
                out.append(clause(letter, precision, used))
            except FormatProblem as problem:
                raise FormatProblem(f"error during formatting: {problem}", problem.node) from None
            used += 1
    return "".join(out), used


def _clause(layout: str, position: int) -> tuple[str, int | None, int]:
    precision: int | None = None
    head = "could not parse formatting clause: "
    if layout[position] == ".":
        end = position + 1
        while end < len(layout) and layout[end] in "0123456789":
            end += 1
        while_parsing = f"{head}error while parsing precision: "
        if end >= len(layout):
            raise FormatProblem(f"{while_parsing}could not find end of precision specifier")
        digits = layout[position + 1 : end]
        if not digits or int(digits) > 2**63 - 1:
            why = "invalid syntax" if not digits else "value out of range"
            text = f'error while converting precision to integer: strconv.Atoi: parsing "{digits}": {why}'
            raise FormatProblem(while_parsing + text)
        precision, position = int(digits), end
    letter = layout[position]
    if letter not in "sdfebxXo":
        raise FormatProblem(f'{head}unrecognized formatting clause "{letter}"')
    return letter, precision, position + 1


def _formatted(letter: str, precision: int | None, value: Any) -> str:
    if letter == "s":
        return _text(value)
    kind = letter.lower()
    if kind in "fe":
        return _number(kind, precision, value)
    if type_of(value).kind not in _KINDS[kind]:
        raise FormatProblem(f"{_COMPLAINTS[kind]} {type_name(value)}")
    if isinstance(value, (str, bytes)):
        raw = value.encode() if isinstance(value, str) else value
        return raw.hex() if letter == "x" else raw.hex().upper()
    return format(int(value), letter)


def _number(kind: str, precision: int | None, value: Any) -> str:
    if isinstance(value, str) and value in _SPELLED:
        value = to_double(value.replace("Infinity", "inf"))
    if type(value) is not float:
        raise FormatProblem(f"{_COMPLAINTS[kind]} {type_name(value)}")
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    places = min(_DEFAULT_PRECISION if precision is None else precision, PRECISION_MAX)
    if kind == "f":
        return f"{value:,.{places}f}"
    mantissa, _, exponent = f"{value:.{places}e}".partition("e")
    return f"{mantissa}\u202f×\u202f10{_superscript(int(exponent))}"


def _superscript(exponent: int) -> str:
    digits = f"{'-' if exponent < 0 else ''}{abs(exponent):02d}"
    return digits.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_member, value))}]"
    if isinstance(value, dict):
        pairs = sorted((_key(key), _member(each)) for key, each in value.items())
        return "{" + ", ".join(f"{key}:{each}" for key, each in pairs) + "}"
    if value is None:
        return "null"
    text = to_string(value)
    if isinstance(text, CelError):
        raise FormatProblem(f"{_COMPLAINTS['s']} {type_name(value)}")
    return str(text)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return quoted(key)
    if isinstance(key, (bool, int, UInt)):
        return _text(key)
    raise FormatProblem(f"no formatting function for map key of type {type_name(key)}")


def _member(value: Any) -> str:
    """Return a value as it stands inside a list or map."""
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is bytes:
        return "b" + quoted(_text(value))
    if kind is float:
        if math.isnan(value) or math.isinf(value):
            return quoted("NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf")
        return f"{value:.{_DEFAULT_PRECISION}f}"
    if kind is Timestamp:
        return f"timestamp({quoted(_text(value))})"
    if kind is Duration:
        return f"duration({quoted(_text(value))})"
    if kind is not Type and kind not in (bool, int, UInt, list, dict) and value is not None:
        raise FormatProblem(f"no formatting function for {type_name(value)}")
    return _text(value)
