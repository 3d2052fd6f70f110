"""The API's Go types: what every field is called, holds, defaults to in JSON, and how patches merge it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, cast

import orjson

OMITEMPTY: Final = 1
INLINE: Final = 2
OMITZERO: Final = 4

_META: Final = "apimachinery/pkg/apis/meta/v1."
_EXTENSIONS: Final = "apiextensions-apiserver/pkg/apis/apiextensions/v1."
SPECIAL: Final = MappingProxyType(
    {
        "apimachinery/pkg/api/resource.Quantity": "quantity",
        "apimachinery/pkg/util/intstr.IntOrString": "intOrString",
        "apimachinery/pkg/runtime.RawExtension": "raw",
        "time.Time": "time",
        _META + "Time": "time",
        _META + "MicroTime": "microTime",
        _META + "Duration": "duration",
        _META + "FieldsV1": "raw",
        _EXTENSIONS + "JSON": "raw",
        _EXTENSIONS + "JSONSchemaPropsOrArray": "schemaOrArray",
        _EXTENSIONS + "JSONSchemaPropsOrBool": "schemaOrBool",
        _EXTENSIONS + "JSONSchemaPropsOrStringArray": "schemaOrStrings",
    }
)
"""Structs with a JSON form of their own, and which."""

SCHEMA: Final = _EXTENSIONS + "JSONSchemaProps"
"""What stands in a "schemaOrArray", "schemaOrBool" or "schemaOrStrings", if it is an object."""

_SCALARS: Final = frozenset({"string", "bool", "int32", "int64", "float64"})


@dataclass(frozen=True, slots=True)
class GoType:
    """A Go type as reflection sees it.

    `kind` is reflect's word (string, bool, int32, int64, float64, ptr, slice, map, struct, interface), or
    "bytes" for []byte. `text` is how Go prints the type (`[]v1.Container`); `name` the last part of a named
    type ("Container"), else "".
    """

    kind: str
    text: str
    name: str = ""
    element: GoType | None = None
    key: GoType | None = None
    ref: str = ""
    own: StructType | None = None
    """The struct itself, of a type that no table has (of custom resources)."""

    @property
    def struct(self) -> StructType:
        """The struct of a "struct" type, or of a pointer to one."""
        if self.kind == "ptr" and self.element is not None:
            return self.element.struct
        return self.own or struct_named(self.ref)

    def patch_field(self, name: str) -> Field | None:
        """Return the field that JSON `name` means to a strategic merge patch."""
        if self.kind == "ptr" and self.element is not None:
            return self.element.patch_field(name)
        return self.struct.patch_field(name) if self.kind == "struct" else None


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct, with the struct tags and OpenAPI extensions that change behaviour.

    `protobuf` is (number, wire type, label), None where the type has no protobuf form.
    """

    json: str
    go: str
    type: GoType
    omitempty: bool
    inline: bool
    omitzero: bool
    patch_strategies: tuple[str, ...] = ()
    patch_merge_key: str = ""
    list_type: str = ""
    map_keys: tuple[str, ...] = ()
    map_type: str = ""
    enum: tuple[str, ...] = ()
    openapi_default: Any = None
    protobuf: tuple[int, str, str] | None = None
    descriptions: tuple[str, ...] = ()
    """What a definition says of a field, then of its items or values; built-in types have none here."""


@dataclass(frozen=True, slots=True, eq=False)
class StructType:
    """A struct: `members` in Go order (inlined structs as one member), `fields` by JSON name, flattened.

    `special` is non-empty for structs with a JSON form of their own (see `SPECIAL`).
    """

    path: str
    text: str
    name: str
    members: tuple[Field, ...]
    fields: MappingProxyType[str, Field]
    special: str
    required: tuple[str, ...]
    extensions: MappingProxyType[str, Any]
    kind: str = "struct"
    element: None = None
    descriptions: tuple[str, ...] = ()

    def patch_field(self, name: str) -> Field | None:
        """Return the field that JSON `name` means to a patch: exactly, else ignoring case."""
        found = self.fields.get(name)
        if found is None and name:
            lowered = name.lower()
            for candidate, field in self.fields.items():
                if candidate.lower() == lowered:
                    return field
        return found


@cache
def _table() -> dict[str, Any]:
    packed = files("env_core.apiserver.data").joinpath("types.json.gz").read_bytes()
    return cast("dict[str, Any]", orjson.loads(gzip.decompress(packed)))


def _short(path: str) -> tuple[str, str]:
    """Return ("v1.Pod", "Pod") of "api/core/v1.Pod"."""
    text = path.rpartition("/")[2]
    return text, text.rpartition(".")[2]


def _type(code: Any) -> GoType:
    if isinstance(code, str):
        return _plain_type(code)
    head = code[0]
    if head == "*":
        element = _type(code[1])
        return GoType("ptr", "*" + element.text, element=element)
    if head == "[]":
        element = _type(code[1])
        return GoType("slice", "[]" + element.text, element=element)
    if head == "{}":
        key, element = _type(code[1]), _type(code[2])
        text, name = _short(code[3]) if len(code) > 3 else (f"map[{key.text}]{element.text}", "")
        return GoType("map", text, name, element, key)
    return _named_type(head, code[1], code[-1])


@lru_cache(maxsize=2048)
def _named_type(head: str, second: str, path: str) -> GoType:
    text, name = _short(path)
    return GoType("struct", text, name, ref=path) if head == "s" else GoType(second, text, name)


@lru_cache(maxsize=256)
def _plain_type(code: str) -> GoType:
    if code in _SCALARS:
        return GoType(code, code)
    if code == "bytes":
        return GoType("bytes", "[]uint8")
    if code == "any":
        return GoType("interface", "interface {}")
    text, name = _short(code)
    return GoType("string", text, name)


def _field(row: list[Any]) -> Field:
    flags = row[3]
    extras = row[4] if len(row) > 4 else {}
    numbers = extras.get("pb")
    return Field(
        json=row[0],
        go=row[1],
        type=_type(row[2]),
        omitempty=bool(flags & OMITEMPTY),
        inline=bool(flags & INLINE),
        omitzero=bool(flags & OMITZERO),
        patch_strategies=tuple(extras.get("ps", ())),
        patch_merge_key=extras.get("mk", ""),
        list_type=extras.get("lt", ""),
        map_keys=tuple(extras.get("lk", ())),
        map_type=extras.get("mt", ""),
        enum=tuple(extras.get("enum", ())),
        openapi_default=extras.get("default"),
        protobuf=tuple(numbers) if numbers else None,
    )


@cache
def struct_named(path: str) -> StructType:
    """Return a struct by its Go path, e.g. "api/core/v1.PodSpec".

    Raises:
        KeyError: the table has no such type.
    """
    entry = _table()["types"][path]
    members = tuple(map(_field, entry[0]))
    more = entry[1] if len(entry) > 1 else {}
    special = SPECIAL.get(path, "")
    flat: dict[str, Field] = {}
    for member in () if special else members:
        if member.inline:
            flat.update(member.type.struct.fields)
        else:
            flat[member.json] = member
    text, name = _short(path)
    return StructType(
        path=path,
        text=text,
        name=name,
        members=members,
        fields=MappingProxyType(flat),
        special=special,
        required=tuple(more.get("required", ())),
        extensions=MappingProxyType(more.get("ext", {})),
    )


@lru_cache(maxsize=1024)
def schema_for(group: str, version: str, kind: str) -> StructType | None:
    """Return the Go type of a kind, None when no built-in API has it.

    Source: tests/golden/l0/types, from reflection over the Go structs of Kubernetes 1.37.2.
    """
    key = f"{group}/{version}/{kind}" if group else f"{version}/{kind}"
    path = _table()["kinds"].get(key)
    return struct_named(path) if path else None


@cache
def resources() -> tuple[MappingProxyType[str, Any], ...]:
    """Return the built-in resources in discovery order: group, version, plural, kind, singular, namespaced, verbs...

    Optional members: shortNames, categories, subresources ({name, group, version, kind, verbs}).
    """
    packed = files("env_core.apiserver.data").joinpath("resources.json.gz").read_bytes()
    return tuple(MappingProxyType(row) for row in orjson.loads(gzip.decompress(packed)))


@cache
def columns() -> MappingProxyType[str, list[dict[str, Any]]]:
    """Return the server-side Table columns by "group/version/Kind" ("v1/Pod" for the core group)."""
    packed = files("env_core.apiserver.data").joinpath("columns.json.gz").read_bytes()
    return MappingProxyType(orjson.loads(gzip.decompress(packed)))
