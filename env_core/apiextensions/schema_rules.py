"""What a definition's schema may say, node by node.

Source: k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation (ValidateCustomResourceDefinitionOpenAPISchema).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from env_core.apiextensions.fieldpaths import PathError, schema_at
from env_core.apiextensions.structural import (
    EMBEDDED,
    LIST_KEYS,
    LIST_TYPE,
    MAP_TYPE,
    META_FIELDS,
    PRESERVE,
    RULES,
)
from env_core.objects.problems import Problem, forbidden, invalid, not_supported, required
from env_core.world import Object

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node stands: whether it may have a default, and why not; whether it is about metadata."""

    why_no_default: str | None = None
    is_meta: bool = False


def schema_problems(schema: Object, field: str) -> list[Problem]:
    """Return what is wrong with a schema and everything in it."""
    return _problems(schema, field, _Place(), is_root=True)


def _problems(schema: Any, field: str, place: _Place, *, is_root: bool = False) -> list[Problem]:
    if not isinstance(schema, dict):
        return []
    found = _own_problems(schema, field, place)
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        found.append(forbidden(f"{field}.uniqueItems", text))
    more, properties = schema.get("additionalProperties"), schema.get("properties") or {}
    if more is not None:
        if properties and more is not True:
            text = "additionalProperties and properties are mutual exclusive"
            found.append(forbidden(f"{field}.additionalProperties", text))
        below = place
        if place.is_meta:
            below = replace(place, why_no_default="inside additionalProperties applying to object metadata")
        found += _problems(more, f"{field}.additionalProperties", below)
    for name in sorted(properties):
        below = place
        if (is_root or schema.get(EMBEDDED)) and name in META_FIELDS:
            why = f"in top-level {name}" if is_root else place.why_no_default
            below = _Place(why_no_default=why, is_meta=True)
        found += _problems(properties[name], f"{field}.properties[{name}]", below)
    found += _problems(schema.get("not"), f"{field}.not", place)
    for name in ("allOf", "oneOf", "anyOf"):
        for index, each in enumerate(schema.get(name) or ()):
            found += _problems(each, f"{field}.{name}[{index}]", place)
    items = schema.get("items")
    if isinstance(items, list):
        for index, each in enumerate(items):
            found += _problems(each, f"{field}.items[{index}]", place)
    else:
        found += _problems(items, f"{field}.items", place)
    if schema.get(PRESERVE) is False:
        found.append(invalid(f"{field}.{PRESERVE}", False, "must be true or undefined"))
    return [
        *found,
        *_map_problems(schema, field),
        *_list_problems(schema, field),
        *_rule_problems(schema, field),
    ]


def _own_problems(schema: Object, field: str, place: _Place) -> list[Problem]:
    found: list[Problem] = []
    type_ = schema.get("type") or ""
    if type_ and type_ not in _TYPES:
        found.append(not_supported(f"{field}.type", type_, _TYPES, is_sorted=False))
    if schema.get("default") is not None and place.why_no_default is not None:
        found.append(forbidden(f"{field}.default", f"must not be set {place.why_no_default}"))
    found += [
        forbidden(f"{field}.{name}", f"{name} is not supported")
        for name in _UNSUPPORTED
        if schema.get(name) not in (None, "", {})
    ]
    if type_ == "null":
        text = "type cannot be set to null, use nullable as an alternative"
        found.append(forbidden(f"{field}.type", text))
    if isinstance(schema.get("items"), list) and schema["items"]:
        found.append(forbidden(f"{field}.items", "items must be a schema object and not an array"))
    if place.is_meta and schema.get(EMBEDDED):
        found.append(forbidden(f"{field}.{EMBEDDED}", "must not be used inside of resource meta"))
    return found


def _typed(schema: Object, field: str, wanted: str, extension: str) -> list[Problem]:
    type_ = schema.get("type") or ""
    if type_ == wanted:
        return []
    text = f"must be {wanted} if {extension} is specified"
    return [invalid(f"{field}.type", type_, text) if type_ else required(f"{field}.type", text)]


def _map_problems(schema: Object, field: str) -> list[Problem]:
    map_type = schema.get(MAP_TYPE)
    if map_type is None:
        return []
    found = _typed(schema, field, "object", MAP_TYPE)
    if map_type not in ("atomic", "granular"):
        found.append(not_supported(f"{field}.{MAP_TYPE}", map_type, ("atomic", "granular"), is_sorted=False))
    return found


def _list_problems(schema: Object, field: str) -> list[Problem]:
    list_type, keys = schema.get(LIST_TYPE), schema.get(LIST_KEYS) or []
    items = schema.get("items")
    item = items if isinstance(items, dict) else None
    found: list[Problem] = []
    if list_type is not None:
        found += _typed(schema, field, "array", LIST_TYPE)
        if not found and list_type == "set" and item is not None:
            found += _set_item_problems(item, field)
        if list_type not in ("atomic", "set", "map"):
            allowed = ("atomic", "set", "map")
            found.append(not_supported(f"{field}.{LIST_TYPE}", list_type, allowed, is_sorted=False))
    if keys and list_type != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        place = f"{field}.{LIST_TYPE}"
        found.append(required(place, text) if list_type is None else invalid(place, list_type, text))
    if list_type == "map":
        found += _keyed_problems(items, keys, field)
    if list_type in ("set", "map") and item is not None:
        found += _item_problems(item, keys if list_type == "map" else [], list_type, field)
    return found


def _set_item_problems(item: Object, field: str) -> list[Problem]:
    text = "must be atomic as item of a list with x-kubernetes-list-type=set"
    inner = item.get(LIST_TYPE)
    if item.get("type") == "array" and inner not in (None, "atomic"):
        return [invalid(f"{field}.items.{LIST_TYPE}", inner, text)]
    if item.get("type") == "object" and item.get(MAP_TYPE) != "atomic":
        return [invalid(f"{field}.items.{MAP_TYPE}", inner, text)]
    return []


def _keyed_problems(items: Any, keys: list[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    if not keys:
        text = "must not be empty if x-kubernetes-list-type is map"
        found.append(required(f"{field}.{LIST_KEYS}", text))
    if items is None:
        text = "must have a schema if x-kubernetes-list-type is map"
        return [*found, required(f"{field}.items", text)]
    if not isinstance(items, dict):
        text = "must only have a single schema if x-kubernetes-list-type is map"
        return [*found, invalid(f"{field}.items", items, text)]
    type_ = items.get("type") or ""
    if type_ != "object":
        text = "must be object if parent array's x-kubernetes-list-type is map"
        return [*found, invalid(f"{field}.items.type", type_, text)]
    seen: set[str] = set()
    for key in keys:
        known = (items.get("properties") or {}).get(key)
        if known is None:
            text = "entries must all be names of item properties"
            found.append(invalid(f"{field}.{LIST_KEYS}", keys, text))
        elif known.get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            found.append(invalid(f"{field}.items.properties[{key}].type", type_, text))
        if key in seen:
            found.append(invalid(f"{field}.{LIST_KEYS}", keys, "must not contain duplicate entries"))
        seen.add(key)
    return found


def _item_problems(item: Object, keys: list[str], list_type: str, field: str) -> list[Problem]:
    found: list[Problem] = []
    if item.get("nullable"):
        text = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        found.append(forbidden(f"{field}.items.nullable", text))
    for key in keys:
        known = (item.get("properties") or {}).get(key)
        if known is None:
            continue
        place = f"{field}.items.properties[{key}]"
        if key not in (item.get("required") or ()) and known.get("default") is None:
            text = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            found.append(required(f"{place}.default", text))
        if known.get("nullable"):
            text = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            found.append(forbidden(f"{place}.nullable", text))
    return found


def _rule_problems(schema: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, rule in enumerate(schema.get(RULES) or ()):
        place = f"{field}.{RULES}[{index}]"
        text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
        if not text:
            found.append(required(f"{place}.rule", "rule is not specified"))
        elif message and not message.strip():
            found.append(invalid(f"{place}.message", message, "must be non-empty if specified"))
        elif _has_lines(message.strip()):
            found.append(invalid(f"{place}.message", message, "must not contain line breaks"))
        elif _has_lines(text) and not message.strip():
            why = "message must be specified if rule contains line breaks"
            found.append(required(f"{place}.message", why))
        expression, path = rule.get("messageExpression") or "", rule.get("fieldPath") or ""
        if expression and not expression.strip():
            why = "messageExpression must be non-empty if specified"
            found.append(required(f"{place}.messageExpression", why))
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            found.append(not_supported(f"{place}.reason", reason, _REASONS, is_sorted=False))
        if path and not path.strip():
            found.append(invalid(f"{place}.fieldPath", path, "must be non-empty if specified"))
        if _has_lines(path):
            found.append(invalid(f"{place}.fieldPath", path, "must not contain line breaks"))
        if path and not _leads_somewhere(schema, path):
            found.append(invalid(f"{place}.fieldPath", path, "must be a valid path"))
    return found


def _has_lines(text: str) -> bool:
    return "\n" in text or "\r" in text


def _leads_somewhere(schema: Object, path: str) -> bool:
    """Whether a rule's field path, `.a.b` or `.a['b c']`, names a field."""
    try:
        schema_at(schema, path)
    except PathError:
        return False
    return True
