"""Defaulting by a structural schema.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/defaulting algorithm.go.
"""

from __future__ import annotations

from typing import Any

from env_core.apiextensions.structural import Structural


def default(value: Any, schema: Structural | None) -> Any:
    """Return a value with the schema's defaults in the places that miss them; itself when none does."""
    if schema is None or not schema.has_defaults:
        return value
    if isinstance(value, dict):
        return _map(value, schema)
    if isinstance(value, list) and schema.items is not None:
        built = [_item(item, schema.items) for item in value]
        return value if all(old is new for old, new in zip(value, built, strict=True)) else built
    return value


def _map(value: dict[str, Any], schema: Structural) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, below in schema.properties.items():
        given = value.get(name)
        if given is None and below.default is not None and (name not in value or not below.is_nullable):
            changed[name] = default(below.default, below)
    for name, item in value.items():
        if name in changed:
            continue
        known = schema.properties.get(name)
        new = default(item, known) if known is not None else _extra(item, schema)
        if new is not item:
            changed[name] = new
    return {**value, **changed} if changed else value


def _extra(item: Any, schema: Structural) -> Any:
    return item if schema.additional is None else _item(item, schema.additional)


def _item(item: Any, schema: Structural) -> Any:
    if item is None and not schema.is_nullable:
        item = schema.default
    return default(item, schema)
