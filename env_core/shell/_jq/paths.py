"""Indexing, and changes along paths."""

from __future__ import annotations

import math
from typing import Final

from env_core.shell._jq.values import JqError, Json, equal, is_number, kind, order_key

_LENGTH_MAX: Final = 100_000


def index(value: Json, key: Json) -> Json:
    """Return `value[key]`.

    Raises:
        JqError: with jq's text when the kinds do not go together.
    """
    if isinstance(key, str):
        if isinstance(value, dict):
            return value.get(key)
        if value is None:
            return None
        raise JqError(f'Cannot index {kind(value)} with string "{key}"')
    if is_number(key):
        if isinstance(value, list):
            if math.isnan(key) or math.isinf(key):
                return None
            position = math.floor(key)
            if position < 0:
                position += len(value)
            return value[position] if 0 <= position < len(value) else None
        if value is None:
            return None
    elif isinstance(key, dict):
        if isinstance(value, list) or value is None:
            if "start" in key or "end" in key:
                return sliced(value, key.get("start"), key.get("end"))
            raise JqError("Start and end indices of an array slice must be numbers")
    elif isinstance(key, list) and isinstance(value, list):
        return list(positions(value, key))
    elif value is None and key is None:
        return None
    raise JqError(f"Cannot index {kind(value)} with {kind(key)}")


def positions(items: list[Json], wanted: list[Json]) -> list[int]:
    """Return where the sub-array `wanted` begins in `items`."""
    if not wanted:
        return []
    size = len(wanted)
    return [
        start
        for start in range(len(items) - size + 1)
        if all(equal(items[start + offset], each) for offset, each in enumerate(wanted))
    ]


def _bounds(length: int, start: Json, end: Json, what: str) -> tuple[int, int]:
    for bound in (start, end):
        if bound is not None and not is_number(bound):
            raise JqError(f"Start and end indices of an {what} slice must be numbers")
    first = 0.0 if start is None or math.isnan(start) else start
    last = float(length) if end is None or math.isnan(end) else end
    first = first + length if first < 0 else first
    last = last + length if last < 0 else last
    low = int(min(max(math.floor(first) if math.isfinite(first) else first, 0), length))
    high = int(min(max(math.ceil(last) if math.isfinite(last) else last, low), length))
    return low, high


def sliced(value: Json, start: Json, end: Json) -> Json:
    """Return `value[start:end]` of an array, string or null."""
    if value is None:
        return None
    if isinstance(value, list):
        low, high = _bounds(len(value), start, end, "array")
        return value[low:high]
    if isinstance(value, str):
        low, high = _bounds(len(value), start, end, "string")
        return value[low:high]
    raise JqError(f"Cannot index {kind(value)} with object")


def get_path(value: Json, path: Json) -> Json:
    """Return what is at a path, null where the way ends early."""
    if not isinstance(path, list):
        raise JqError("Path must be specified as an array")
    for key in path:
        if value is None:
            return None
        value = index(value, key)
    return value


def set_path(value: Json, path: list[Json], new: Json) -> Json:
    """Return a copy of `value` with `new` at a path."""
    if not isinstance(path, list):
        raise JqError("Path must be specified as an array")
    if not path:
        return new
    key = path[0]
    inner = set_path(index(value, key), path[1:], new)
    return _with(value, key, inner)


def _with(value: Json, key: Json, new: Json) -> Json:
    if isinstance(key, str) and (value is None or isinstance(value, dict)):
        return {**(value or {}), key: new}
    if is_number(key) and (value is None or isinstance(value, list)):
        items = list(value or [])
        place = math.floor(key)
        if place < 0:
            place += len(items)
            if place < 0:
                raise JqError("Out of bounds negative array index")
        if place > _LENGTH_MAX:
            raise JqError("Array index too large")
        items += [None] * (place + 1 - len(items))
        items[place] = new
        return items
    if isinstance(key, dict) and (value is None or isinstance(value, list)):
        if not isinstance(new, list):
            raise JqError("A slice of an array can only be assigned another array")
        items = value or []
        low, high = _bounds(len(items), key.get("start"), key.get("end"), "array")
        return [*items[:low], *new, *items[high:]]
    if isinstance(key, str):
        raise JqError(f'Cannot index {kind(value)} with "{key}"')
    raise JqError(f"Cannot update field at {kind(key)} index of {kind(value)}")


def delete_paths(value: Json, paths: list[Json]) -> Json:
    """Return a copy of `value` without what is at the paths, later ones first."""
    if not isinstance(paths, list):
        raise JqError("Paths must be specified as an array")
    for path in sorted(paths, key=order_key, reverse=True):
        if not isinstance(path, list):
            raise JqError(f"Path must be specified as array, not {kind(path)}")
        value = _without(value, path)
    return value


def _without(value: Json, path: list[Json]) -> Json:
    if not path:
        return None
    if value is None:
        return None
    key = path[0]
    if len(path) > 1:
        inner = index(value, key)
        return value if inner is None else _with(value, key, _without(inner, path[1:]))
    if isinstance(value, dict):
        if not isinstance(key, str):
            raise JqError(f"Cannot delete field at object index of {kind(key)}")
        return {name: item for name, item in value.items() if name != key}
    if isinstance(value, list):
        if isinstance(key, dict):
            low, high = _bounds(len(value), key.get("start"), key.get("end"), "array")
            return value[:low] + value[high:]
        if not is_number(key):
            raise JqError(f"Cannot delete field at array index of {kind(key)}")
        place = math.floor(key)
        place += len(value) if place < 0 else 0
        return value[:place] + value[place + 1 :] if 0 <= place < len(value) else value
    raise JqError(f"Cannot delete fields from {kind(value)}")
