"""OpenAPI documents of what stands above the groups and versions: lists of groups, one group, the server's version.

Source: the recorded documents of version 3; the comparison is tests/rest/test_openapi.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.apiserver.about import SERVER_VERSION
from env_core.apiserver.schema import StructType
from env_core.rest._openapi_paths import META, camel, group_tag
from env_core.rest._openapi_schemas import REFERENCE, meta, schema_of, with_needed
from env_core.rest.message import JSON, PROTOBUF, YAML
from env_core.world import Object

_TEXT: Final[Object] = {"type": "string"}
_VERSION_INFO: Final = "io.k8s.apimachinery.pkg.version.Info"
_EMULATION: Final = frozenset(
    {"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"}
)
"""What only newer servers tell."""
_KEYS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    ".well-known/openid-configuration": (
        "/.well-known/openid-configuration/", "WellKnown", "getServiceAccountIssuerOpenIDConfiguration", JSON,
    ),
    "openid/v1/jwks": (
        "/openid/v1/jwks/", "openid", "getServiceAccountIssuerOpenIDKeyset", "application/jwk-set+json",
    ),
}  # fmt: skip


def root_document(name: str) -> tuple[Object, Object] | None:
    """Return the paths and schemas of a root, by its name in the index; None when there is no such root."""
    if name == "api":
        return _discovery("/api/", "core", "getCoreAPIVersions", "APIVersions")
    if name == "apis":
        return _discovery("/apis/", "apis", "getAPIVersions", "APIGroupList")
    if name == "version":
        always = [key for key in SERVER_VERSION if key not in _EMULATION]
        schema = {
            "type": "object",
            "required": always,
            "properties": {
                key: {**_TEXT, "default": ""} if key in always else _TEXT for key in sorted(SERVER_VERSION)
            },
        }
        path = _path("/version/", "version", "getCodeVersion", {"$ref": REFERENCE + _VERSION_INFO}, (JSON,))
        return path, {_VERSION_INFO: schema}
    if name in _KEYS:
        where, tag, operation, media_type = _KEYS[name]
        return _path(where, tag, operation, _TEXT, (media_type,)), {}
    return None


def root_names() -> tuple[str, ...]:
    """Return the names of the roots in the index."""
    return ("api", "apis", "version", *_KEYS)


def group_document(group: str) -> tuple[Object, Object]:
    """Return the paths and schemas of a group's own document."""
    tag = group_tag(group)
    return _discovery(f"/apis/{group}/", tag, f"get{camel(tag)}APIGroup", "APIGroup")


def _discovery(where: str, tag: str, operation: str, kind: str) -> tuple[Object, Object]:
    needed = with_needed(iter((meta(kind),)))
    path = _path(where, tag, operation, {"$ref": REFERENCE + META + kind}, (JSON, PROTOBUF, YAML))
    return path, {name: _schema(struct) for name, struct in sorted(needed.items())}


def _schema(struct: StructType) -> Object:
    if "kind" not in struct.fields:
        return schema_of(struct)
    gvk = {"group": "", "kind": struct.name, "version": "v1"}
    return {**schema_of(struct), "x-kubernetes-group-version-kind": [gvk]}


def _path(where: str, tag: str, operation: str, schema: Object, media_types: tuple[str, ...]) -> Object:
    answers = {"content": {media_type: {"schema": schema} for media_type in media_types}}
    return {
        where: {"get": {"tags": [tag], "operationId": operation, "responses": {"200": answers, "401": {}}}}
    }
