"""Objects with their fields in the order of the Go types: how the server, and kubectl's typed printers, write JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from env_core.apiserver.schema import GoType, StructType, schema_for, struct_named
from env_core.world import Object

_ZEROS: Mapping[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "float64": 0}


def in_type_order(obj: Object) -> Object:
    """Return the object with its fields in the order of its Go type; maps are sorted by key.

    Fields that the type does not have come last, sorted. Objects of unknown types are sorted throughout.
    """
    group, slash, version = str(obj.get("apiVersion", "")).rpartition("/")
    struct = schema_for(group if slash else "", version, str(obj.get("kind", "")))
    if struct is None:
        return {key: _sorted(obj[key]) for key in sorted(obj)}
    return _struct(obj, struct)


def metadata_in_type_order(metadata: Object) -> Object:
    """Return an object's metadata with its fields in the order of the Go type."""
    return _struct(metadata, struct_named("apimachinery/pkg/apis/meta/v1.ObjectMeta"))


@lru_cache(maxsize=512)
def zero_value(struct: StructType) -> Object:
    """Return what Go writes for a struct that nothing has been set in; not to be changed."""
    found: Object = {}
    for name, field in struct.fields.items():
        go_type = field.type
        if go_type.kind == "struct":
            inner = go_type.struct
            if not inner.special and not field.omitzero:
                found[name] = zero_value(inner)
        elif not field.omitempty:
            found[name] = _ZEROS.get(go_type.kind)
    return found


def list_in_type_order(listed: Object) -> Object:
    """Return a typed list (`PodList`) as the server writes it: items without kind and apiVersion."""
    items = []
    for item in listed.get("items") or ():
        ordered = in_type_order(item)
        items.append({key: value for key, value in ordered.items() if key not in ("kind", "apiVersion")})
    head: Object = {key: listed[key] for key in ("kind", "apiVersion", "metadata") if key in listed}
    return {**head, "items": items}


def _struct(value: Object, struct: StructType) -> Object:
    if struct.special:
        return {key: _sorted(value[key]) for key in sorted(value)}
    ordered: Object = {}
    for name, field in struct.fields.items():
        if name in value:
            ordered[name] = _value(value[name], field.type)
    for name in sorted(value):
        if name not in ordered:
            ordered[name] = _sorted(value[name])
    return ordered


def _value(value: Any, go_type: GoType) -> Any:
    while go_type.kind == "ptr" and go_type.element is not None:
        go_type = go_type.element
    if isinstance(value, dict):
        if go_type.kind == "struct":
            return _struct(value, go_type.struct)
        if go_type.kind == "map" and go_type.element is not None:
            return {key: _value(value[key], go_type.element) for key in sorted(value)}
        return _sorted(value)
    if isinstance(value, list) and go_type.kind == "slice" and go_type.element is not None:
        return [_value(item, go_type.element) for item in value]
    return _sorted(value) if isinstance(value, list) else value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
