"""Structural schemas: the `openAPIV3Schema` of a definition, compiled once into what every request asks of it.

Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema structural.go, convert.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from env_core.apiextensions.formats import effective_format
from env_core.world import Object

EMBEDDED: Final = "x-kubernetes-embedded-resource"
INT_OR_STRING: Final = "x-kubernetes-int-or-string"
LIST_KEYS: Final = "x-kubernetes-list-map-keys"
LIST_TYPE: Final = "x-kubernetes-list-type"
MAP_TYPE: Final = "x-kubernetes-map-type"
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
RULES: Final = "x-kubernetes-validations"
META_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})


@dataclass(frozen=True, slots=True, eq=False)
class Structural:
    """One node of a schema. `props` is the node as the definition has it (a JSONSchemaProps).

    `additional` is the schema of `additionalProperties`, None where that is a boolean; `has_additional` tells
    whether it is given at all. `types` are the JSON types that a value may have, none for any.
    """

    props: Object
    types: tuple[str, ...]
    format: str
    properties: Mapping[str, Structural]
    additional: Structural | None
    has_additional: bool
    items: Structural | None
    all_of: tuple[Structural, ...]
    any_of: tuple[Structural, ...]
    one_of: tuple[Structural, ...]
    negated: Structural | None
    is_nullable: bool
    is_embedded: bool
    keeps_unknown: bool
    list_type: str
    list_keys: tuple[str, ...]
    map_type: str
    has_defaults: bool
    has_rules: bool
    """Whether this node, or one below it, has validation rules."""
    has_list_rules: bool
    """Whether this node, or one below it, is a list of type set or map."""
    has_embedded: bool
    """Whether this node, or one below it, is an embedded resource."""

    @property
    def default(self) -> Any:
        """The default value, None without one."""
        return self.props.get("default")

    @property
    def rules(self) -> list[Object]:
        """The validation rules of this node."""
        return self.props.get(RULES) or []


def children(props: Object) -> Iterator[Object]:
    """Yield the schemas right below a JSONSchemaProps, those of junctors and lists of schemas included."""
    for name in ("items", "additionalProperties", "additionalItems", "not"):
        found = props.get(name)
        if isinstance(found, dict):
            yield found
        elif isinstance(found, list):
            yield from found
    for name in ("allOf", "anyOf", "oneOf"):
        yield from props.get(name) or ()
    for name in ("properties", "patternProperties", "definitions", "dependencies"):
        yield from (each for each in (props.get(name) or {}).values() if isinstance(each, dict))


def compile_schema(props: Object | None) -> Structural:
    """Return the schema of a JSONSchemaProps; without one, anything is valid and nothing is known."""
    props = props or {}
    items, more = props.get("items"), props.get("additionalProperties")
    properties = {name: compile_schema(each) for name, each in (props.get("properties") or {}).items()}
    additional = compile_schema(more) if isinstance(more, dict) else None
    item = compile_schema(items) if isinstance(items, dict) else None
    below = [*properties.values(), *(each for each in (additional, item) if each is not None)]
    negated = props.get("not")
    list_type = props.get(LIST_TYPE) or ""
    type_ = props.get("type") or ""
    return Structural(
        props=props,
        types=("integer", "string") if props.get(INT_OR_STRING) else (type_,) if type_ else (),
        format=effective_format(type_, props.get("format") or ""),
        properties=properties,
        additional=additional,
        has_additional=more is not None,
        items=item,
        all_of=tuple(map(compile_schema, props.get("allOf") or ())),
        any_of=tuple(map(compile_schema, props.get("anyOf") or ())),
        one_of=tuple(map(compile_schema, props.get("oneOf") or ())),
        negated=compile_schema(negated) if isinstance(negated, dict) else None,
        is_nullable=bool(props.get("nullable")),
        is_embedded=bool(props.get(EMBEDDED)),
        keeps_unknown=bool(props.get(PRESERVE)),
        list_type=list_type,
        list_keys=tuple(props.get(LIST_KEYS) or ()),
        map_type=props.get(MAP_TYPE) or "",
        has_defaults=props.get("default") is not None or any(each.has_defaults for each in below),
        has_rules=bool(props.get(RULES)) or any(each.has_rules for each in below),
        has_list_rules=list_type in ("set", "map") or any(each.has_list_rules for each in below),
        has_embedded=bool(props.get(EMBEDDED)) or any(each.has_embedded for each in below),
    )
