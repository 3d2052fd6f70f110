"""A definition's schema in the form that built-in types have: for `explain`, server-side apply and patches.

Source: k8s.io/apiextensions-apiserver pkg/controller/openapi/builder (what is added to a schema that is published).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from env_core.apiextensions.structural import INT_OR_STRING, MAP_TYPE, PRESERVE, Structural
from env_core.apiserver.schema import Field, GoType, StructType, struct_named

_META: Final = "apimachinery/pkg/apis/meta/v1.ObjectMeta"
_STRING: Final = GoType("string", "string")
_ANY: Final = GoType("interface", "interface {}")
_SCALARS: Final = {
    "string": _STRING,
    "integer": GoType("int64", "int64"),
    "number": GoType("float64", "float64"),
    "boolean": GoType("bool", "bool"),
}
_KEPT: Final = (PRESERVE, MAP_TYPE, INT_OR_STRING)


def struct_of(schema: Structural, path: str) -> StructType:
    """Return the fields of a resource; `path` names the type."""
    return _struct(schema, path, is_resource=True)


def _struct(schema: Structural, path: str, *, is_resource: bool = False) -> StructType:
    fields = {
        name: _field(name, below, f"{path}.{name}")
        for name, below in schema.properties.items()
        if not (is_resource and name == "metadata")
    }
    required = list(schema.props.get("required") or ())
    if is_resource or schema.is_embedded:
        meta = struct_named(_META)
        named = GoType("struct", meta.text, meta.name, ref=_META)
        fields |= {name: _plain(name, _STRING) for name in ("apiVersion", "kind")}
        fields["metadata"] = _plain("metadata", named)
        if schema.is_embedded:
            required += [name for name in ("kind", "apiVersion") if name not in required]
    ordered = {name: fields[name] for name in sorted(fields)}
    return StructType(
        path=path,
        text=path,
        name="Object",
        members=tuple(ordered.values()),
        fields=MappingProxyType(ordered),
        special="",
        required=tuple(required),
        extensions=MappingProxyType({key: schema.props[key] for key in _KEPT if key in schema.props}),
        descriptions=_descriptions(schema),
    )


def _plain(name: str, type_: GoType) -> Field:
    return Field(name, name, type_, omitempty=True, inline=False, omitzero=False)


def _field(name: str, schema: Structural, path: str) -> Field:
    return Field(
        json=name,
        go=name,
        type=_type(schema, path),
        omitempty=True,
        inline=False,
        omitzero=False,
        list_type=schema.list_type,
        map_keys=schema.list_keys,
        map_type=schema.map_type,
        enum=tuple(each for each in schema.props.get("enum") or () if isinstance(each, str)),
        openapi_default=schema.default,
        descriptions=_descriptions(schema),
    )


def _descriptions(schema: Structural | None) -> tuple[str, ...]:
    """Return what a schema says of itself, "" for nothing, and of its items or values."""
    if schema is None:
        return ()
    return schema.props.get("description") or "", *_descriptions(schema.items or schema.additional)


def _type(schema: Structural, path: str) -> GoType:
    if schema.items is not None:
        element = _type(schema.items, path)
        return GoType("slice", f"[]{element.text}", element=element)
    if schema.additional is not None:
        element = _type(schema.additional, path)
        return GoType("map", f"map[string]{element.text}", element=element, key=_STRING)
    if schema.types == ("object",) or schema.properties:
        struct = _struct(schema, path)
        return GoType("struct", struct.text, struct.name, own=struct)
    return _SCALARS.get(schema.props.get("type") or "", _ANY)
