"""Reaching into JSON-shaped objects by path, and changing them by copying only that path."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

Key = str | int
_ABSENT: Final = object()
_PART: Final = re.compile(r"\[(-?[0-9]+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]|((?:[^.\[\\]|\\.)+)")


class FieldPathError(ValueError):
    """The path does not parse, or leads through something that is neither a map nor a list."""


@lru_cache(maxsize=4096)
def parse_path(path: str) -> tuple[Key, ...]:
    """Return the keys of a dotted path: `spec.containers[0].name`, `metadata.labels['a.b/c']`.

    A leading dot is optional; a backslash takes the meaning from a dot.

    Raises:
        FieldPathError: if the path does not parse.
    """
    keys: list[Key] = []
    at = 1 if path.startswith(".") else 0
    while at < len(path):
        found = _PART.match(path, at)
        if found is None:
            raise FieldPathError(f"not a field path: {path!r}")
        if found[1] is not None:
            keys.append(int(found[1]))
        elif found[4] is not None:
            keys.append(re.sub(r"\\(.)", r"\1", found[4]))
        else:
            keys.append(found[2] if found[2] is not None else found[3])
        at = found.end()
        if path.startswith(".", at):
            at += 1
            if at == len(path) or path[at] in ".[":
                raise FieldPathError(f"not a field path: {path!r}")
    return tuple(keys)


@lru_cache(maxsize=2048)
def parse_pointer(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a JSON pointer (RFC 6901): "/spec/containers/0", with ~1 and ~0 resolved.

    Raises:
        FieldPathError: if it is neither empty nor begins with a slash.
    """
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise FieldPathError(f"not a JSON pointer: {pointer!r}")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def _child(value: Any, key: Key) -> Any:
    if isinstance(value, dict):
        return value.get(key, _ABSENT)
    if isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
        return value[key]
    return _ABSENT


def get_keys(value: Any, keys: tuple[Key, ...], default: Any = None) -> Any:
    """Return what lies at the end of `keys`, or `default` if the way ends before."""
    for key in keys:
        value = _child(value, key)
        if value is _ABSENT:
            return default
    return value


def get_path(value: Any, path: str, default: Any = None) -> Any:
    """Return what lies at a dotted path, or `default` if the way ends before (a null is returned as such)."""
    return get_keys(value, parse_path(path), default)


def set_path(value: Any, path: str, new: Any) -> Any:
    """Return a copy of `value` with `new` at a dotted path; missing maps on the way are made.

    Raises:
        FieldPathError: if the way leads through a scalar, or beyond the end of a list.
    """
    return replaced(value, *parse_path(path), value=new)


def replaced(subject: Any, *keys: Key, value: Any) -> Any:
    """Return a copy of `subject` with `value` at the end of `keys`, sharing everything beside the way.

    Raises:
        FieldPathError: if the way leads through a scalar, or beyond the end of a list.
    """
    return updated(subject, keys, lambda _: value)


def updated(subject: Any, keys: tuple[Key, ...], change: Callable[[Any], Any]) -> Any:
    """Return a copy of `subject` in which `change` has been applied at the end of `keys` (None: nothing there).

    Raises:
        FieldPathError: if the way leads through a scalar, or beyond the end of a list.
    """
    if not keys:
        return change(subject)
    key, rest = keys[0], keys[1:]
    if isinstance(subject, list):
        if not isinstance(key, int) or not -len(subject) <= key < len(subject):
            raise FieldPathError(f"no element {key!r} in a list of {len(subject)}")
        items = list(subject)
        items[key] = updated(items[key], rest, change)
        return items
    if subject is None:
        subject = {}
    if not isinstance(subject, dict) or not isinstance(key, str):
        raise FieldPathError(f"no field {key!r} in a {type(subject).__name__}")
    return {**subject, key: updated(subject.get(key), rest, change)}


def removed(subject: Any, *keys: Key) -> Any:
    """Return a copy of `subject` without what lies at the end of `keys`; itself if nothing is there."""
    if not keys or _child(subject, keys[0]) is _ABSENT:
        return subject
    key, rest = keys[0], keys[1:]
    if rest:
        child = _child(subject, key)
        smaller = removed(child, *rest)
        return subject if smaller is child else replaced(subject, key, value=smaller)
    if isinstance(subject, list):
        assert isinstance(key, int), "only numbers lead into lists"
        place = key % len(subject)
        return subject[:place] + subject[place + 1 :]
    return {name: child for name, child in subject.items() if name != key}
