"""Lists of type set and map hold no two items that are the same.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/listtype validation.go.
"""

from __future__ import annotations

from typing import Any

from env_core.apiextensions.structural import Structural
from env_core.objects.jsonout import to_compact_json
from env_core.objects.problems import Problem, duplicate, invalid


def list_problems(schema: Structural, value: Any, path: str = "") -> list[Problem]:
    """Return what is wrong with the sets and maps in a value."""
    if not schema.has_list_rules:
        return []
    if isinstance(value, list):
        return _in_list(schema, value, path)
    if not isinstance(value, dict):
        return []
    found: list[Problem] = []
    for key in sorted(value):
        below = schema.properties.get(key)
        if below is not None:
            found += list_problems(below, value[key], f"{path}.{key}" if path else key)
        elif schema.additional is not None:
            found += list_problems(schema.additional, value[key], f"{path}[{key}]")
    return found


def _in_list(schema: Structural, value: list[Any], path: str) -> list[Problem]:
    found: list[Problem] = []
    if schema.list_type == "set":
        found += [duplicate(f"{path}[{index}]", value[index]) for index in _repeated(value)]
    elif schema.list_type == "map":
        found += _map_problems(schema, value, path)
    if schema.items is not None:
        for index, item in enumerate(value):
            found += list_problems(schema.items, item, f"{path}[{index}]")
    return found


def _map_problems(schema: Structural, value: list[Any], path: str) -> list[Problem]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            text = "must be an object for an array of list-type map"
            return [invalid(f"{path}[{index}]", item, text)]
    keys = [{key: item[key] for key in schema.list_keys if key in item} if item else {} for item in value]
    return [duplicate(f"{path}[{index}]", keys[index]) for index in _repeated(keys)]


def _repeated(values: list[Any]) -> list[int]:
    """Return the indexes of values that stood before once; a third one is not told again."""
    seen: dict[str, int] = {}
    found = []
    for index, value in enumerate(values):
        text = to_compact_json(value)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            found.append(index)
    return found
