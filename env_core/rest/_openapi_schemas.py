"""The API's Go types as OpenAPI schemas: names, types, required fields, list and patch rules; no descriptions.

Source: k8s.io/kube-openapi pkg/openapiconv and pkg/generators; the recorded documents are the comparison in
tests/rest/test_openapi.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from env_core.apiserver.schema import Field, GoType, StructType, struct_named
from env_core.world import Object

REFERENCE = "#/components/schemas/"
_PREFIX = "io.k8s."
_SCALARS: Mapping[str, Object] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "interface": {},
}
_SPECIAL: Mapping[str, Object] = {
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "intOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    "time": {"type": "string", "format": "date-time"},
    "microTime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string"},
    "raw": {"type": "object"},
}
_ANYTHING = frozenset(
    {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
)


def name_of(struct: StructType) -> str:
    """Return a schema's name, "io.k8s.api.core.v1.Pod"."""
    return _PREFIX + struct.path.replace("/", ".")


def reference(struct: StructType) -> Object:
    """Return a reference to a struct's schema."""
    return {"$ref": REFERENCE + name_of(struct)}


@lru_cache(maxsize=2048)
def schema_of(struct: StructType) -> Object:
    """Return the schema of a struct, without the kinds that it stands for."""
    if struct.special:
        return {} if struct.name in _ANYTHING else dict(_SPECIAL[struct.special])
    properties = {name: _property(struct.fields[name]) for name in sorted(struct.fields)}
    schema: Object = {"type": "object"}
    if struct.required:
        schema["required"] = list(struct.required)
    if properties:
        schema["properties"] = properties
    return {**schema, **struct.extensions}


def _property(field: Field) -> Object:
    found = dict(_type(field.type))
    if "$ref" in found:
        found = {"allOf": [found]}
    if field.openapi_default is not None:
        found = {**found, "default": field.openapi_default}
    if field.enum:
        found["enum"] = list(field.enum)
    if field.map_keys:
        found["x-kubernetes-list-map-keys"] = list(field.map_keys)
    if field.list_type:
        found["x-kubernetes-list-type"] = field.list_type
    if field.map_type:
        found["x-kubernetes-map-type"] = field.map_type
    if field.patch_merge_key:
        found["x-kubernetes-patch-merge-key"] = field.patch_merge_key
    if field.patch_strategies:
        found["x-kubernetes-patch-strategy"] = ",".join(field.patch_strategies)
    return found


def _type(go_type: GoType) -> Object:
    if go_type.kind == "ptr" and go_type.element is not None:
        return _type(go_type.element)
    if go_type.kind == "slice" and go_type.element is not None:
        return {"type": "array", "items": _type(go_type.element)}
    if go_type.kind == "map" and go_type.element is not None:
        return {"type": "object", "additionalProperties": _type(go_type.element)}
    if go_type.kind == "struct":
        return reference(go_type.struct)
    return _SCALARS[go_type.kind]


def with_needed(roots: Iterator[StructType]) -> dict[str, StructType]:
    """Return the structs and all that they refer to, by schema name."""
    found: dict[str, StructType] = {}
    open_ = list(roots)
    while open_:
        struct = open_.pop()
        name = name_of(struct)
        if name in found:
            continue
        found[name] = struct
        if not struct.special:
            open_ += [inner for field in struct.fields.values() for inner in _inner(field.type)]
    return found


def _inner(go_type: GoType) -> list[StructType]:
    if go_type.kind == "struct":
        return [go_type.struct]
    return _inner(go_type.element) if go_type.element is not None else []


def meta(name: str) -> StructType:
    """Return a struct of k8s.io/apimachinery pkg/apis/meta/v1."""
    return struct_named(f"apimachinery/pkg/apis/meta/v1.{name}")


def as_v2(value: Any) -> Any:
    """Return a schema as OpenAPI v2 writes it: other references, nothing wrapped, no defaults of structs."""
    if isinstance(value, list):
        return [as_v2(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        return {"$ref": value["$ref"].replace(REFERENCE, "#/definitions/")}
    if value.get("format") == "int-or-string":
        return {"type": "string", "format": "int-or-string"}
    if "oneOf" in value:
        return {"type": "string"}
    wrapped = value.get("allOf")
    rest = {
        # Names of fields are no words of a schema, whatever they are.
        key: {name: as_v2(field) for name, field in item.items()} if key == "properties" else as_v2(item)
        for key, item in value.items()
        if key not in ("allOf", "default")
    }
    return {**as_v2(wrapped[0]), **rest} if wrapped else rest
