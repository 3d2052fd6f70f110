"""What makes a schema structural: every field has a type, and junctors only restrict what is specified outside of them.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema (validation.go, complete.go); tests/golden/l2/defaults.
"""

from __future__ import annotations

from typing import Any, Final

from env_core.apiextensions.structural import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    PRESERVE,
    RULES,
)
from env_core.objects.problems import Problem, forbidden, invalid, required
from env_core.objects.re2 import Re2Error, compiled
from env_core.world import Object

_ROOT: Final = "at the root"
_ITEM: Final = "for specified array items"
_FIELD: Final = "for specified object fields"
_INT_OR_STRING_ANY_OF: Final = [{"type": "integer"}, {"type": "string"}]
_FORBIDDEN_INSIDE: Final = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (PRESERVE, "must be false to be structural"),
    (EMBEDDED, "must be false to be structural"),
    (INT_OR_STRING, "must be false to be structural"),
    (LIST_KEYS, "must be empty to be structural"),
    (LIST_TYPE, "must be undefined to be structural"),
    (MAP_TYPE, "must be undefined to be structural"),
    (RULES, "must be empty to be structural"),
)


def structural_problems(schema: Object, field: str) -> list[Problem]:
    """Return why a schema is not structural, sorted by text."""
    found = [*_invariants(schema, _ROOT, field), *_incomplete(schema, schema, field, field)]
    return sorted(found, key=Problem.text)


def _mapping(value: Any) -> Object | None:
    return value if isinstance(value, dict) else None


def _invariants(schema: Object, level: str, field: str) -> list[Problem]:
    found: list[Problem] = []
    type_, items, more = schema.get("type") or "", schema.get("items"), schema.get("additionalProperties")
    properties: Object = schema.get("properties") or {}
    is_embedded = bool(schema.get(EMBEDDED))
    if type_ == "array" and items is None:
        found.append(required(f"{field}.items", "must be specified"))
    if isinstance(items, dict):
        found += _invariants(items, _ITEM, f"{field}.items")
    for name in sorted(properties):
        found += _invariants(properties[name], _FIELD, f"{field}.properties[{name}]")
    if more is not None:
        if level == _ROOT:
            found.append(forbidden(f"{field}.additionalProperties", "must not be used at the root"))
        if isinstance(more, dict):
            found += _invariants(more, _FIELD, f"{field}.additionalProperties")
    found += _extension_problems(schema, field)
    found += _junctor_problems(schema, field)
    if is_embedded and type_ != "object":
        text = "must be object if x-kubernetes-embedded-resource is true"
        found.append(invalid(f"{field}.type", type_, text) if type_ else required(f"{field}.type", text))
    elif not type_ and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        found.append(required(f"{field}.type", f"must not be empty {level}"))
    if is_embedded and more is not None:
        text = "must not be used if x-kubernetes-embedded-resource is set"
        found.append(forbidden(f"{field}.additionalProperties", text))
    if level == _ROOT and type_ and type_ != "object":
        found.append(invalid(f"{field}.type", type_, "must be object at the root"))
    found += _meta_problems(properties, level, field, is_checked=level == _ROOT or is_embedded)
    if is_embedded and not schema.get(PRESERVE) and not properties:
        text = (
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields"
        )
        found.append(required(f"{field}.properties", text))
    return found


def _extension_problems(schema: Object, field: str) -> list[Problem]:
    if not schema.get(INT_OR_STRING):
        return []
    text = "must be false if x-kubernetes-int-or-string is true"
    return [invalid(f"{field}.{name}", True, text) for name in (PRESERVE, EMBEDDED) if schema.get(name)]


def _meta_problems(properties: Object, level: str, field: str, *, is_checked: bool) -> list[Problem]:
    found: list[Problem] = []
    for name in ("kind", "apiVersion") if is_checked else ():
        type_ = (properties.get(name) or {}).get("type") or ""
        if name in properties and type_ != "string":
            found.append(invalid(f"{field}.properties[{name}].type", type_, "must be string"))
    metadata = properties.get("metadata")
    if metadata is None:
        return found
    place = f"{field}.properties[metadata]"
    type_ = metadata.get("type") or ""
    if is_checked and type_ != "object":
        found.append(invalid(f"{place}.type", type_, "must be object"))
    if level == _ROOT:
        named = metadata.get("properties") or {}
        rest = {key: value for key, value in metadata.items() if key not in ("type", "default", "properties")}
        if any(rest.values()) or not named.keys() <= {"name", "generateName"}:
            text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            found.append(forbidden(place, text))
    return found


def _junctor_problems(
    schema: Object, field: str, *, skips_any_of: bool | None = None, skips_first: bool | None = None
) -> list[Problem]:
    """Check the junctors and the pattern of a schema; one form of int-or-string is excused."""
    any_of, all_of = schema.get("anyOf") or [], schema.get("allOf") or []
    if skips_any_of is None:
        skips_any_of = any_of == _INT_OR_STRING_ANY_OF
        skips_first = bool(all_of) and all_of[0].get("anyOf") == _INT_OR_STRING_ANY_OF
    found: list[Problem] = []
    for index, each in enumerate(() if skips_any_of else any_of):
        found += _nested_problems(each, f"{field}.anyOf[{index}]")
    for index, each in enumerate(all_of):
        found += _nested_problems(
            each, f"{field}.allOf[{index}]", skips_any_of=bool(skips_first) and index == 0
        )
    for index, each in enumerate(schema.get("oneOf") or ()):
        found += _nested_problems(each, f"{field}.oneOf[{index}]")
    negated = _mapping(schema.get("not"))
    if negated is not None:
        found += _nested_problems(negated, f"{field}.not")
    pattern = schema.get("pattern")
    if pattern:
        try:
            compiled(pattern)
        except Re2Error as why:
            text = f"must be a valid regular expression, but isn't: {why}"
            found.append(invalid(f"{field}.pattern", pattern, text))
    return found


def _nested_problems(schema: Object, field: str, *, skips_any_of: bool = False) -> list[Problem]:
    found = _junctor_problems(schema, field, skips_any_of=skips_any_of, skips_first=False)
    items = _mapping(schema.get("items"))
    if items is not None:
        found += _nested_problems(items, f"{field}.items")
    properties: Object = schema.get("properties") or {}
    for name in sorted(properties):
        found += _nested_problems(properties[name], f"{field}.properties[{name}]")
    for name, text in _FORBIDDEN_INSIDE:
        if schema.get(name) not in (None, "", False, []):
            found.append(forbidden(f"{field}.{name}", text))
    if "metadata" in properties:
        found.append(forbidden(f"{field}.properties[metadata]", "must not be specified in a nested context"))
    return found


def _incomplete(nested: Object, schema: Object | None, place: str, field: str) -> list[Problem]:
    """Complain about what junctors specify and the schema outside of them does not."""
    found: list[Problem] = []
    negated = _mapping(nested.get("not"))
    if negated is not None:
        found += _incomplete_nested(negated, schema, place, f"{field}.not")
    for name in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(nested.get(name) or ()):
            found += _incomplete_nested(each, schema, place, f"{field}.{name}[{index}]")
    return found


def _incomplete_nested(nested: Object, schema: Object | None, place: str, field: str) -> list[Problem]:
    if schema is None:
        return [required(place, f"because it is defined in {field}")]
    found = _incomplete(nested, schema, place, field)
    items = _mapping(nested.get("items"))
    if items is not None:
        found += _incomplete_nested(items, _mapping(schema.get("items")), f"{place}.items", f"{field}.items")
    known: Object = schema.get("properties") or {}
    for name in sorted(nested.get("properties") or {}):
        below = f"{place}.properties[{name}]"
        found += _incomplete_nested(
            nested["properties"][name], known.get(name), below, f"{field}.properties[{name}]"
        )
    return found
