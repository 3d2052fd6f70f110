"""Paths to fields in a schema, as validation rules and selectable fields write them: `.spec.color`, `.spec['a b']`.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel validation.go ValidFieldPath.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from env_core.world import Object

_TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]']+|'")
_ESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\",
}  # fmt: skip
_NO_FIELD: Final = "does not refer to a valid field"
_ENDS: Final = "unexpected end of JSON path"


class PathError(ValueError):
    """The path leads nowhere; the message is upstream's."""


class Found(NamedTuple):
    """Where a path leads: the schema there, and the names on the way."""

    schema: Object
    names: tuple[str, ...]


def schema_at(schema: Object, path: str, *, allows_brackets: bool = True) -> Found:
    """Return what a path leads to.

    Raises:
        PathError: it leads nowhere.
    """
    tokens = _TOKEN.findall(path)
    names: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token not in (".", "["):
            raise PathError(f"expected [ or . but got: {token}")
        if token == "[" and not allows_brackets:
            raise PathError("array notation is not allowed")
        if at + 1 >= len(tokens):
            raise PathError(_ENDS)
        name = tokens[at + 1]
        at += 2
        if token == "[":
            name = _unquoted(name)
            if at >= len(tokens):
                raise PathError(_ENDS)
            if tokens[at] != "]":
                raise PathError(f"expected ] but got {tokens[at]}")
            at += 1
        schema = _below(schema, name)
        names.append(name)
    return Found(schema, tuple(names))


def _below(schema: Object, name: str) -> Object:
    properties, more = schema.get("properties"), schema.get("additionalProperties")
    found = properties.get(name) if properties else more
    if not isinstance(found, dict):
        raise PathError(_NO_FIELD)
    return found


def _unquoted(text: str) -> str:
    if len(text) < 2 or text[0] != "'" or text[-1] != "'":
        raise PathError(f"expected single quoted string but got {text}")
    return re.sub(r"\\(.)", _escaped, text[1:-1])


def _escaped(found: re.Match[str]) -> str:
    if found[1] not in _ESCAPES:
        raise PathError(f"invalid string literal: invalid escape char {found[0]}")
    return _ESCAPES[found[1]]
