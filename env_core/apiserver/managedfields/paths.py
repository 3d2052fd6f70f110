"""Path elements: the steps from an object to one of its fields, as FieldsV1 spells and orders them.

An element is its serialised text: `f:replicas` (a field), `k:{"name":"web"}` (a list item by key), `v:"x"` (an item of a
set), `i:0` (an index).

Source: structured-merge-diff fieldpath/element.go, serialize-pe.go.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from env_core.objects.goformat import scalar_text
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import quoted
from env_core.objects.yamlin import DEPTH_MAX, bracket_depth

Path = tuple[str, ...]


def key_element(fields: dict[str, Any]) -> str:
    """Return the element of a list item that is known by these key fields."""
    return "k:" + to_compact_json(fields)


def value_element(value: Any) -> str:
    """Return the element of an item of a set."""
    return "v:" + to_compact_json(value)


@lru_cache(maxsize=16384)
def read_element(text: str) -> str | None:
    """Return the canonical form of an element that a client sent, None for a type that this version does not know.

    Raises:
        ValueError: for text that is no path element.
    """
    if len(text) < 2 or text[1] != ":" or bracket_depth(text) > DEPTH_MAX:
        raise ValueError(f"no path element: {text}")
    if text[0] == "f":
        return text
    if text[0] == "k":
        fields = json.loads(text[2:])
        if not isinstance(fields, dict):
            raise ValueError(f"no path element: {text}")
        return key_element(fields)
    if text[0] == "v":
        return value_element(json.loads(text[2:]))
    if text[0] == "i":
        return f"i:{int(text[2:])}"
    return None


@lru_cache(maxsize=16384)
def element_order(element: str) -> tuple[Any, ...]:
    """Return what elements sort by: fields by name, then keys field by field, then values, then indexes."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return 0, rest
    if kind == "k":
        fields = json.loads(rest)
        return 1, tuple((name, _value_order(fields[name])) for name in sorted(fields))
    if kind == "v":
        return 2, _value_order(json.loads(rest))
    return 3, int(rest)


def _value_order(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 3, to_compact_json(value)


@lru_cache(maxsize=16384)
def element_text(element: str) -> str:
    """Return an element as error messages show it: `.spec`, `[name="web"]`, `[="x"]`, `[0]`."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return "." + rest
    if kind == "k":
        fields = json.loads(rest)
        return "[" + ",".join(f"{name}={_shown(fields[name])}" for name in sorted(fields)) + "]"
    return f"[={_shown(json.loads(rest))}]" if kind == "v" else f"[{rest}]"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_shown, value)) + "]"
    if isinstance(value, dict):
        return "".join(f"{name}={_shown(item)}" for name, item in value.items())
    return "null" if value is None else scalar_text(value)


def path_text(path: Path) -> str:
    """Return a path as error messages show it: `.spec.template.spec.containers[name="web"].image`."""
    return "".join(map(element_text, path))
