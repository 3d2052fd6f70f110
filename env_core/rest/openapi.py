"""The OpenAPI documents: an index with one address per group and version, each of them, and version 2 of all in one.

They are made of the Go types and of discovery, so they say what is served, with custom resources; without descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha512

from env_core.apiserver.kind import Kind
from env_core.apiserver.registry import Registry
from env_core.apiserver.schema import StructType, schema_for
from env_core.rest._openapi_paths import META, Paths
from env_core.rest._openapi_roots import group_document, root_document, root_names
from env_core.rest._openapi_schemas import REFERENCE, as_v2, meta, name_of, schema_of, with_needed
from env_core.rest.discovery import groups, rows
from env_core.rest.rendering import json_bytes
from env_core.world import Object

_ALWAYS = ("APIResourceList", "DeleteOptions", "Status", "WatchEvent")
_SECURITY = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}

Schemas = Callable[[Kind, str], Object | None]
"""Returns the schema of a custom kind in a version, None when there is none."""


def index(registry: Registry, custom: Schemas) -> Object:
    """Return the index: a relative address for each document, with a hash of what is in it."""
    names = list(root_names())
    for group, versions in groups(registry).items():
        home = f"apis/{group}" if group else "api"
        names += [f"{home}/{version}" for version in versions]
        if group and not _is_custom(registry, group, custom):
            names.append(home)
    return {
        "paths": {
            name: {
                "serverRelativeURL": f"/openapi/v3/{name}?hash={etag_of(named(registry, name, custom) or b'')}"
            }
            for name in sorted(names)
        }
    }


def etag_of(data: bytes) -> str:
    """Return the hash of a document as the index and ETags have it."""
    return sha512(data).hexdigest().upper()


def named(registry: Registry, name: str, custom: Schemas) -> bytes | None:
    """Return the document that the index calls so, None when there is none."""
    parts = name.split("/")
    if len(parts) == 2 and parts[0] == "api":
        return document(registry, "", parts[1], custom)
    if len(parts) == 3 and parts[0] == "apis":
        return document(registry, parts[1], parts[2], custom)
    if len(parts) == 2 and parts[0] == "apis":
        is_served = parts[1] in groups(registry) and not _is_custom(registry, parts[1], custom)
        return _of_group(parts[1]) if is_served else None
    return _of_root(name)


def document(registry: Registry, group: str, version: str, custom: Schemas) -> bytes | None:
    """Return the document of a group and version, None when it is not served."""
    if version not in groups(registry).get(group, ()):
        return None
    kinds = [kind for kind in registry.all() if kind.group == group]
    if all(schema_for(group, version, kind.kind) is not None for kind in kinds):
        return _built_in(registry, group, version)
    return json_bytes(_document(registry, group, version, custom))


def _is_custom(registry: Registry, group: str, custom: Schemas) -> bool:
    """Return whether a group has custom resources: such a group has no document of its own."""
    return any(custom(kind, kind.version) is not None for kind in registry.all() if kind.group == group)


@lru_cache(maxsize=64)
def _of_group(group: str) -> bytes:
    return json_bytes(_wrapped(*group_document(group)))


@lru_cache(maxsize=8)
def _of_root(name: str) -> bytes | None:
    found = root_document(name)
    return None if found is None else json_bytes(_wrapped(*found))


@lru_cache(maxsize=256)
def _built_in(registry: Registry, group: str, version: str) -> bytes:
    return json_bytes(_document(registry, group, version, lambda _kind, _version: None))


def _document(registry: Registry, group: str, version: str, custom: Schemas) -> Object:
    wanted = [row for row in rows(registry) if (row["group"], row["version"]) == (group, version)]
    structs: list[StructType] = [meta(name) for name in _ALWAYS]
    schemas: Object = {META + "Patch": {"type": "object"}}
    names: dict[str, str] = {}
    for row in wanted:
        for owner in (row, *(part for part in row.get("subresources") or () if part["group"])):
            for kind in (owner["kind"], f"{owner['kind']}List"):
                struct = schema_for(owner["group"], owner["version"], kind)
                if struct is not None:
                    structs.append(struct)
                    names[kind] = name_of(struct)
        if row["kind"] not in names:
            names.update(_custom(schemas, registry, row["group"], version, row["kind"], custom))
            structs += [meta("ObjectMeta"), meta("ListMeta")]
    others = dict.fromkeys(
        (part["group"], part["version"]) for row in wanted for part in row.get("subresources") or ()
    )
    kinds_of = _kinds_by_schema((("", "v1"), (group, version), *(other for other in others if other[0])))
    for name, struct in sorted(with_needed(iter(structs)).items()):
        schema = schema_of(struct)
        gvks = kinds_of(struct)
        schemas[name] = {**schema, "x-kubernetes-group-version-kind": gvks} if gvks else schema
    returned = {kind.plural for kind in registry.kinds if kind.group == group and kind.returns_deleted}
    return _wrapped(Paths(group, version, names, returned).build(wanted), dict(sorted(schemas.items())))


def _wrapped(paths: Object, schemas: Object) -> Object:
    components = {"schemas": schemas} if schemas else {}
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "1.37"},
        "paths": paths,
        "components": {**components, "securitySchemes": _SECURITY},
    }


def _kinds_by_schema(places: Iterable[tuple[str, str]]) -> Callable[[StructType], list[Object]]:
    wanted = tuple(dict.fromkeys(places))

    def kinds_of(struct: StructType) -> list[Object]:
        """Return the kinds that a struct stands for here; options stand for one in every group."""
        return [
            {"group": group, "kind": struct.name, "version": version}
            for group, version in wanted
            if schema_for(group, version, struct.name) is struct
        ]

    return kinds_of


def _custom(
    schemas: Object, registry: Registry, group: str, version: str, name: str, custom: Schemas
) -> Mapping[str, str]:
    """Add the schemas of a custom kind and of its list, and return their names."""
    kind = next((each for each in registry.all() if each.group == group and each.kind == name), None)
    reversed_group = ".".join(reversed(group.split(".")))
    own, listed = f"{reversed_group}.{version}.{name}", f"{reversed_group}.{version}.{name}List"
    gvk = {"group": group, "kind": name, "version": version}
    given = (custom(kind, version) if kind is not None else None) or {}
    text = {"type": "string"}
    schemas[own] = {
        **given,
        "type": "object",
        "properties": {
            **(given.get("properties") or {}),
            "apiVersion": text,
            "kind": text,
            "metadata": {"allOf": [{"$ref": REFERENCE + META + "ObjectMeta"}]},
        },
        "x-kubernetes-group-version-kind": [gvk],
    }
    schemas[listed] = {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": text,
            "items": {"type": "array", "items": {"$ref": REFERENCE + own}},
            "kind": text,
            "metadata": {"allOf": [{"$ref": REFERENCE + META + "ListMeta"}]},
        },
        "x-kubernetes-group-version-kind": [{**gvk, "kind": f"{name}List"}],
    }
    return {name: own, f"{name}List": listed}


def version_2(registry: Registry, custom: Schemas) -> Object:
    """Return every group's schemas as one OpenAPI v2 document; its paths are left to version 3."""
    definitions: Object = {}
    for group, versions in groups(registry).items():
        for version in versions:
            schemas = _document(registry, group, version, custom)["components"]["schemas"]
            definitions.update({name: as_v2(schema) for name, schema in schemas.items()})
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "1.37"},
        "paths": {},
        "definitions": dict(sorted(definitions.items())),
        "securityDefinitions": _SECURITY,
        "security": [{"BearerToken": []}],
    }
