"""Objects as the API server's internal types print them: in error messages and in the diff of a refused update.

Source: recorded messages in tests/golden/l0/validation.jsonl.gz (ids of pod and job updates).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from env_core.kinds._internal_fields import FIELDS
from env_core.world import Object

_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
)
_SELECTOR = ("matchLabels", "matchExpressions", "key", "operator", "values")
_ZEROES: dict[str, Any] = {"s": "", "b": False, "i": 0, "q": "0", "v": 0, "x": None}
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@lru_cache(maxsize=1)
def _types() -> dict[str, tuple[str, ...]]:
    """Return the words of every type's line."""
    found: dict[str, tuple[str, ...]] = {}
    for line in FIELDS.replace("\n  ", " ").split("\n"):
        if line:
            name, *fields = line.split()
            found[name] = tuple(fields)
    return found


@lru_cache(maxsize=256)
def _fields(name: str) -> tuple[tuple[str, str, str], ...]:
    """Return (Go name, JSON name, type) of a type's fields, inlined types taken apart."""
    found: list[tuple[str, str, str]] = []
    for word in _types()[name]:
        if word.startswith("+"):
            found += _fields(word[1:])
            continue
        names, _, kind = word.partition(":")
        go_name, _, json_name = names.partition("=")
        found.append((go_name, json_name or go_name[0].lower() + go_name[1:], kind or "s"))
    return tuple(found)


def internal_form(kind: str, value: Any) -> Any:
    """Return `value` of the type `kind` as the internal type's JSON has it."""
    if kind.startswith("*"):
        return None if value is None else internal_form(kind[1:], value)
    if kind.startswith("[]"):
        return None if value is None else [internal_form(kind[2:], item) for item in value]
    if kind.startswith("{}"):
        if value is None:
            return None
        return {key: internal_form(kind[2:], value[key]) for key in sorted(value)}
    if kind == "x":
        return external_form(value)
    if kind in _ZEROES:
        return _ZEROES[kind] if value is None else value
    obj: Object = value or {}
    form: Object = {}
    for go_name, json_name, field_kind in _fields(kind):
        if go_name == "@metadata":
            form.update(_metadata_form(obj.get("metadata") or {}))
        else:
            form[go_name] = internal_form(field_kind, obj.get(json_name))
    return form


def _metadata_form(metadata: Object) -> Object:
    return {key: external_form(metadata[key]) for key in _METADATA if metadata.get(key)}


def external_form(value: Any) -> Any:
    """Return a value in the order in which Go prints it: selectors by struct, maps by key."""
    if isinstance(value, dict):
        if any(key in value for key in _SELECTOR) and all(key in _SELECTOR for key in value):
            return {key: external_form(value[key]) for key in _SELECTOR if key in value}
        return {key: external_form(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [external_form(item) for item in value]
    return value


def compact_text(form: Any) -> str:
    """Return JSON as Go's Marshal writes it."""
    return json.dumps(form, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPES)


def internal_text(kind: str, value: Any) -> str:
    """Return `value` as error messages show it."""
    return compact_text(internal_form(kind, value))


def selector_text(selector: Object | None) -> str:
    """Return a label selector as error messages show it."""
    return compact_text(external_form(selector))


def internal_diff(kind: str, old: Any, new: Any, convert: Callable[[str, Any], Any] = internal_form) -> str:
    """Return the unified diff of two values' internal forms."""
    lines = [
        (
            json.dumps(convert(kind, value), indent=1, ensure_ascii=False).translate(_ESCAPES) + "\n"
        ).splitlines(keepends=True)
        for value in (old, new)
    ]
    return "".join(list(difflib.unified_diff(lines[0], lines[1], n=3))[2:])
