"""The types that built-in kinds have for the type checker of CEL, made from their schemas.

Source: k8s.io/apiserver v0.37 pkg/cel/{common/schemas,types,escaping}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from env_core.apiserver.schema import GoType, StructType
from env_core.cel import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    escaped,
    list_of,
    map_of,
    struct,
)

_SCALARS: Final[Mapping[str, Type]] = {
    "string": STRING,
    "bool": BOOL,
    "int32": INT,
    "int64": INT,
    "float64": DOUBLE,
    "bytes": BYTES,
}
_SPECIAL: Final[Mapping[str, Type | None]] = {
    "quantity": None,
    "intOrString": DYN,
    "time": TIMESTAMP,
    "microTime": TIMESTAMP,
    "duration": STRING,
}
_UNTYPED: Final = ("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray")
"""Types whose schema says nothing; fields of such types are not declared at all."""


def declared_types(root: StructType, name: str) -> dict[str, dict[str, Type]]:
    """Return the object types of a kind: the kind's own is called `name`, the others after their place in it."""
    objects: dict[str, dict[str, Type]] = {}
    _declare(root, name, objects, ())
    return objects


def _declare(
    declared: StructType, name: str, objects: dict[str, dict[str, Type]], around: tuple[str, ...]
) -> Type:
    fields: dict[str, Type] = {}
    objects[name] = fields
    # A type within itself ends there: its inner form has no fields.
    if declared.path not in around and not declared.special:
        for field, go_type in _properties(declared):
            made = _type(go_type, f"{name}.{field}", objects, (*around, declared.path))
            if made is not None:
                fields[field] = made
                fields[escaped(field)] = made
    return struct(name)


def _properties(declared: StructType) -> Iterator[tuple[str, GoType]]:
    for field in declared.fields.values():
        if escaped(field.json):
            yield field.json, field.type


def _type(
    go_type: GoType, name: str, objects: dict[str, dict[str, Type]], around: tuple[str, ...]
) -> Type | None:
    kind = go_type.kind
    if kind in _SCALARS:
        return _SCALARS[kind]
    element = go_type.element
    if kind == "struct":
        inner = go_type.struct
        if inner.special in _SPECIAL:
            return _SPECIAL[inner.special]
        return None if inner.name in _UNTYPED else _declare(inner, name, objects, around)
    if element is None:
        return None
    if kind == "ptr":
        return _type(element, name, objects, around)
    made = _type(element, f"{name}.{'@idx' if kind == 'slice' else '@elem'}", objects, around)
    if made is None:
        return None
    return list_of(made) if kind == "slice" else map_of(STRING, made)
