"""YAML as kubectl prints it (sigs.k8s.io/yaml over go-yaml v2), byte for byte."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from env_core.objects._yamlscalar import fits_simple_key, inline_scalar, placed_scalar
from env_core.objects._yamltypes import YamlTextError
from env_core.objects.jsonout import number, shortest_float

__all__ = ["YamlTextError", "to_yaml"]

_WIDTH: Final = 80
_LETTERS: Final = re.compile(r"[A-Za-z]*\Z")


def to_yaml(value: Any) -> str:
    """Return `value` as `kubectl -o yaml` prints it, with a final line end and no `---`.

    Raises:
        YamlTextError: for characters that kubectl refuses ("control characters are not allowed").

    Source: sigs.k8s.io/yaml, goyaml.v2 encoder and emitter; tests/golden/l0/yaml_print.
    """
    out: list[str] = []
    kind = type(value)
    if kind is dict and value:
        _write_mapping(value, "", "", out)
    elif kind is list and value:
        _write_sequence(value, "", "", out)
    else:
        out.append(_leaf(value, "  ", 0) + "\n")
    return "".join(out)


def _write_mapping(mapping: dict[str, Any], lead: str, pad: str, out: list[str]) -> None:
    """Append a non-empty mapping; `lead` starts its first line, `pad` (as wide) the others."""
    column = len(pad)
    inner = pad + "  "
    for key in _ordered(tuple(mapping)):
        value = mapping[key]
        start = _key(key)
        if start is None:
            _write_long_key(key, value, lead, pad, out)
            lead = pad
            continue
        kind = type(value)
        if kind is str:
            text = inline_scalar(value)
            if text is None or (column + len(start) + len(text) >= _WIDTH and " " in text):
                text = placed_scalar(value, inner, column + len(start) + 1)
            out.append(f"{lead}{start} {text}\n")
        elif kind is dict and value:
            out.append(f"{lead}{start}\n")
            _write_mapping(value, inner, inner, out)
        elif (kind is list or kind is tuple) and value:
            out.append(f"{lead}{start}\n")
            _write_sequence(value, pad, pad, out)
        else:
            out.append(f"{lead}{start} {_leaf(value, inner, 0)}\n")
        lead = pad


def _write_sequence(items: list[Any], lead: str, pad: str, out: list[str]) -> None:
    column = len(pad) + 2
    inner = pad + "  "
    for item in items:
        kind = type(item)
        if kind is str:
            text = inline_scalar(item)
            if text is None or (column + len(text) >= _WIDTH and " " in text):
                text = placed_scalar(item, inner, column)
            out.append(f"{lead}- {text}\n")
        elif kind is dict and item:
            _write_mapping(item, lead + "- ", inner, out)
        elif (kind is list or kind is tuple) and item:
            _write_sequence(item, lead + "- ", inner, out)
        else:
            out.append(f"{lead}- {_leaf(item, inner, 0)}\n")
        lead = pad


def _write_long_key(key: str, value: Any, lead: str, pad: str, out: list[str]) -> None:
    """Append an entry whose key is too long, or has too many lines, to stand before a colon."""
    inner = pad + "  "
    text = inline_scalar(key)
    if text is None or " " in text:
        text = placed_scalar(key, inner, len(inner))
    out.append(f"{lead}? {text}\n")
    if isinstance(value, dict) and value:
        _write_mapping(value, pad + ": ", inner, out)
    elif isinstance(value, list | tuple) and value:
        _write_sequence(list(value), pad + ": ", inner, out)
    else:
        out.append(f"{pad}: {_leaf(value, inner, len(inner))}\n")


def _leaf(value: Any, pad: str, column: int) -> str:
    """Return a scalar or an empty collection; only strings look at `pad` and `column`."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return placed_scalar(value, pad, column)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"not a JSON value: {value!r}")


def _number(value: float) -> str:
    """Return a number that went through JSON text first: whole ones up to uint64 are integers again."""
    text = number(value)
    if text.lstrip("-").isdecimal():
        whole = int(text)
        return str(whole) if -(2**63) <= whole < 2**64 else shortest_float(float(whole))
    return shortest_float(float(text))


@lru_cache(maxsize=8192)
def _key(key: str) -> str | None:
    """Return a key with its colon, or None when it needs the `? ` form."""
    if not fits_simple_key(key):
        return None
    text = inline_scalar(key)
    return None if text is None else text + ":"


@lru_cache(maxsize=8192)
def _ordered(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return map keys in go-yaml's order: letters by code point, digit runs by their number.

    Source: goyaml.v2 keyList.Less.
    """
    if all(_LETTERS.match(key) for key in keys):
        return tuple(sorted(keys))
    return tuple(_sorted_naturally(list(keys)))


def _sorted_naturally(keys: list[str]) -> list[str]:
    """Return `keys` by insertion, as the order is not transitive for every set of keys."""
    ordered: list[str] = []
    for key in sorted(keys):
        low, high = 0, len(ordered)
        while low < high:
            middle = (low + high) // 2
            if _is_less(key, ordered[middle]):
                high = middle
            else:
                low = middle + 1
        ordered.insert(low, key)
    return ordered


def _is_less(left: str, right: str) -> bool:
    for index in range(min(len(left), len(right))):
        one, other = left[index], right[index]
        if one == other:
            continue
        is_letter, other_is_letter = one.isalpha(), other.isalpha()
        if is_letter and other_is_letter:
            return one < other
        if is_letter or other_is_letter:
            return other_is_letter
        return _digits_less(left, right, index)
    return len(left) < len(right)


def _digits_less(left: str, right: str, index: int) -> bool:
    start = 0
    if left[index] == "0" or right[index] == "0":
        # A zero after a non-zero digit is part of that number, not a leading zero.
        before = index - 1
        while before >= 0 and left[before].isdecimal():
            if left[before] != "0":
                start = 1
                break
            before -= 1
    number_left, end_left = _digit_run(left, index, start)
    number_right, end_right = _digit_run(right, index, start)
    if number_left != number_right:
        return number_left < number_right
    if end_left != end_right:
        return end_left < end_right
    return left[index] < right[index]


def _digit_run(text: str, index: int, value: int) -> tuple[int, int]:
    while index < len(text) and text[index].isdecimal():
        # int64 arithmetic wraps round in Go.
        value = (value * 10 + ord(text[index]) - 48 + 2**63) % 2**64 - 2**63
        index += 1
    return value, index
