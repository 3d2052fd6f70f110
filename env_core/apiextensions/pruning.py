"""Pruning: fields that a structural schema does not know are dropped, and named.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/pruning algorithm.go, defaulting prunenulls.go.
"""

from __future__ import annotations

from typing import Any

from env_core.apiextensions.structural import META_FIELDS, Structural


def prune(value: Any, schema: Structural) -> tuple[Any, list[str]]:
    """Return a resource without unknown fields, and the sorted paths of those; itself when there are none."""
    unknown: list[str] = []
    pruned = _prune(value, schema, "", unknown, is_embedded=True)
    return pruned, sorted(unknown)


def prune_nested(value: Any, schema: Structural) -> Any:
    """Return a value inside of a resource without unknown fields."""
    return _prune(value, schema, "", [], is_embedded=schema.is_embedded)


def _prune(value: Any, schema: Structural | None, path: str, unknown: list[str], *, is_embedded: bool) -> Any:
    if isinstance(value, list):
        items = schema.items if schema is not None else None
        keeps = schema is not None and schema.keeps_unknown
        return _list(value, items, path, unknown, keeps=keeps)
    if not isinstance(value, dict):
        return value
    built: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        if is_embedded and key in META_FIELDS:
            built[key] = item
            continue
        here = f"{path}.{key}" if path else key
        known = _below(schema, key)
        if known is not None:
            below = known[0]
            new = _prune(item, below, here, unknown, is_embedded=below is not None and below.is_embedded)
        elif schema is not None and schema.keeps_unknown:
            new = item
        else:
            if path or key not in META_FIELDS:
                unknown.append(here)
            changed = True
            continue
        built[key] = new
        changed = changed or new is not item
    return built if changed else value


def _below(schema: Structural | None, key: str) -> tuple[Structural | None] | None:
    """Return the schema of a field, wrapped; None when the field is unknown."""
    if schema is None:
        return None
    found = schema.properties.get(key)
    if found is not None:
        return (found,)
    return (schema.additional,) if schema.has_additional else None


def _list(value: list[Any], items: Structural | None, path: str, unknown: list[str], *, keeps: bool) -> Any:
    if items is None and keeps:
        return value
    is_embedded = items is not None and items.is_embedded
    built = [
        _prune(item, items, f"{path}[{index}]", unknown, is_embedded=is_embedded)
        for index, item in enumerate(value)
    ]
    return value if all(old is new for old, new in zip(value, built, strict=True)) else built


def prune_nulls(value: Any, schema: Structural | None) -> Any:
    """Return a value without nulls in fields that may be none and have no default."""
    if isinstance(value, list):
        items = schema.items if schema is not None else None
        built = [prune_nulls(item, items) for item in value]
        return value if all(old is new for old, new in zip(value, built, strict=True)) else built
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        known = _below(schema, key)
        below = known[0] if known is not None else None
        if item is None and below is not None and not below.is_nullable and below.default is None:
            changed = True
            continue
        kept[key] = prune_nulls(item, below)
        changed = changed or kept[key] is not item
    return kept if changed else value
