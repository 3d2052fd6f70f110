"""How values merge: which lists are maps or sets, which structs and maps are one value, from the API's types.

Source: k8s.io/kube-openapi pkg/schemaconv and the x-kubernetes-list-type, -list-map-keys and -map-type extensions of the
recorded types; structured-merge-diff schema/elements.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from env_core.apiserver.schema import Field, GoType, StructType, schema_for


class Shape(Enum):
    """What a value is to a merge. LEAF is one value, whatever is in it; KEYED and SET are lists."""

    LEAF = "leaf"
    MAP = "map"
    KEYED = "keyed"
    SET = "set"
    DEDUCED = "deduced"
    """Of no declared type: maps merge field by field, anything else is one value."""


@dataclass(frozen=True, slots=True, eq=False)
class MergeType:
    """The type of a value. Of a MAP, `struct` has the declared fields, `element` is the type of all others.

    `scalar` is what a LEAF must be: "numeric", "string", "boolean", "untyped" (any scalar), "map", "list" or "" for
    anything.
    """

    shape: Shape
    scalar: str = ""
    element: MergeType | None = None
    keys: tuple[str, ...] = ()
    key_defaults: Mapping[str, Any] = field(default_factory=dict)
    struct: StructType | None = None

    def declared(self, name: str) -> MergeType | None:
        """Return the type of a declared field, None for one that is not."""
        return None if self.struct is None else _declared(self.struct, name)

    def below(self, name: str) -> MergeType:
        """Return the type of the value under `name`."""
        return self.declared(name) or self.element or DEDUCED


DEDUCED: Final = MergeType(Shape.DEDUCED)
_SCALARS: Final = {
    "string": MergeType(Shape.LEAF, "string"),
    "bytes": MergeType(Shape.LEAF, "string"),
    "bool": MergeType(Shape.LEAF, "boolean"),
    "int32": MergeType(Shape.LEAF, "numeric"),
    "int64": MergeType(Shape.LEAF, "numeric"),
    "float64": MergeType(Shape.LEAF, "numeric"),
}
_UNTYPED: Final = MergeType(Shape.LEAF, "untyped")
_ANYTHING: Final = MergeType(Shape.LEAF)
_ATOMIC_MAP: Final = MergeType(Shape.LEAF, "map")
_ATOMIC_LIST: Final = MergeType(Shape.LEAF, "list")
_MAP_TYPE: Final = "x-kubernetes-map-type"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"


@lru_cache(maxsize=512)
def type_of(group: str, version: str, kind: str) -> MergeType:
    """Return the type of the objects of a kind; DEDUCED for a kind without a schema."""
    struct = schema_for(group, version, kind)
    return DEDUCED if struct is None else type_of_struct(struct)


@lru_cache(maxsize=512)
def type_of_struct(struct: StructType) -> MergeType:
    """Return the type of objects that have the fields of a struct; what a schema keeps of unknown fields merges too."""
    element = DEDUCED if struct.extensions.get(_PRESERVE) else None
    return MergeType(Shape.MAP, struct=struct, element=element)


@lru_cache(maxsize=8192)
def _declared(struct: StructType, name: str) -> MergeType | None:
    member = struct.fields.get(name)
    return None if member is None else _of_type(member.type, member)


def _of_type(go: GoType, member: Field | None = None) -> MergeType:
    while go.kind == "ptr" and go.element is not None:
        go = go.element
    scalar = _SCALARS.get(go.kind)
    if scalar is not None:
        return scalar
    if go.kind == "struct":
        return _of_struct(go.struct, member.map_type if member else "")
    assert go.element is not None or go.kind == "interface"
    if go.element is None:
        return _ANYTHING
    if go.kind == "map":
        if member is not None and member.map_type == "atomic":
            return _ATOMIC_MAP
        return MergeType(Shape.MAP, element=_of_type(go.element))
    return _of_list(go.element, member)


def _of_struct(struct: StructType, map_type: str) -> MergeType:
    if struct.special:
        return _ANYTHING if struct.special == "raw" or struct.special.startswith("schemaOr") else _UNTYPED
    if (map_type or struct.extensions.get(_MAP_TYPE)) == "atomic":
        return _ATOMIC_MAP
    return type_of_struct(struct)


def _of_list(element: GoType, member: Field | None) -> MergeType:
    list_type = member.list_type if member else ""
    if list_type == "set":
        return MergeType(Shape.SET, element=_of_type(element))
    if list_type != "map" or member is None:
        return _ATOMIC_LIST
    while element.kind == "ptr" and element.element is not None:
        element = element.element
    declared = element.struct.fields
    defaults = {
        name: declared[name].openapi_default
        for name in member.map_keys
        if name in declared and declared[name].openapi_default is not None
    }
    return MergeType(Shape.KEYED, element=_of_type(element), keys=member.map_keys, key_defaults=defaults)
