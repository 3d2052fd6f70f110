"""Create, update and patch: prepare, default, admit, validate, store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from env_core.apiserver import errors, patching, reading
from env_core.apiserver.admitting import admit, admit_validating, attributes_of
from env_core.apiserver.decoding import decode_body
from env_core.apiserver.deleting import delete, delete_collection
from env_core.apiserver.kind import Kind
from env_core.apiserver.metadata import validate_object_meta
from env_core.apiserver.partial import update_scale, write_part
from env_core.apiserver.podwrites import POD_SUBRESOURCES, Handler
from env_core.apiserver.replacing import SERVER_SET, refuse, replace, without_status
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.apiserver.tokens import issue
from env_core.objects.problems import Problem
from env_core.sim import ids
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


GENERATED_NAME_LENGTH_MAX = 63 - 5
_PARTS: Mapping[tuple[str, str], Handler] = {
    **{("pods", name): handler for name, handler in POD_SUBRESOURCES.items()},
    ("serviceaccounts", "token"): issue,
}
"""Subresources that are no part of the object."""
CREATED_BY_UPDATE = frozenset(
    {
        "clusterrolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "endpoints",
        "events",
        "leases.coordination.k8s.io",
        "limitranges",
        "rolebindings.rbac.authorization.k8s.io",
        "roles.rbac.authorization.k8s.io",
        "services",
    }
)
"""Resources that a PUT creates where there is none. Source: AllowCreateOnUpdate of k8s.io/kubernetes pkg/registry."""


def write(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Answer a writing request."""
    if kind.deprecation:
        return reading.deprecated(_written, server, request, kind)
    return _written(server, request, kind)


def _written(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    subresource = request.subresource
    if subresource and subresource not in kind.subresources:
        raise errors.resource_unknown()
    if subresource and (handler := _PARTS.get((kind.resource, subresource))) is not None:
        return handler(server, request, kind)
    if subresource in kind.writes:
        return write_part(server, request, kind, kind.writes[subresource])
    if request.verb not in kind.verbs and not subresource:
        raise errors.method_not_supported(kind.group, kind.plural, request.verb)
    if request.verb == "create":
        return create(server, request, kind)
    if request.verb == "update":
        return update(server, request, kind)
    if request.verb == "patch":
        return patch(server, request, kind)
    if request.verb == "delete":
        return delete(server, request, kind)
    if request.verb == "deletecollection":
        return delete_collection(server, request, kind)
    raise errors.method_not_supported(kind.group, kind.plural, request.verb)


def create(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Create an object."""
    body, warnings = decode_body(request, kind, request.body)
    metadata = body.get("metadata") or {}
    namespace = request.namespace if kind.is_namespaced else ""
    given = metadata.get("namespace") or ""
    if given != namespace:
        if given and kind.is_namespaced:
            raise errors.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata = (
            {**metadata, "namespace": namespace}
            if namespace
            else {key: value for key, value in metadata.items() if key != "namespace"}
        )
    if metadata.get("resourceVersion"):
        raise errors.StatusError(
            errors.status(500, "", "resourceVersion should not be set on objects to be created")
        )
    body = {
        **body,
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": _new_metadata(server, kind, metadata),
    }
    body = kind.default(body)
    attributes = attributes_of(server, request, kind, "CREATE", body, None)
    admitted = admit(server, attributes)
    if admitted is not body:
        body = kind.default(admitted)
    if kind.has_status:
        body = without_status(body)
    body = kind.prepare_create(body)
    check_metadata(kind, body)
    refuse(kind, body, [*_meta_problems(kind, body), *kind.validate(body)])
    admit_validating(server, attributes, body)
    # Reading from storage defaults again: what validation did not see may still be filled in.
    body = kind.default(body)
    name = body["metadata"]["name"]
    existing = server.store.get(kind.resource, namespace, name)
    if existing is not None:
        is_going = "deletionTimestamp" in existing["metadata"]
        raise errors.already_exists(
            kind.group, kind.plural, name, "object is being deleted: " if is_going else ""
        )
    all_warnings = (*warnings, *kind.warnings(body))
    if request.options.dry_run:
        return ApiResponse(201, body, all_warnings)
    return ApiResponse(201, server.store.put(kind.resource, body), all_warnings)


def _new_metadata(server: ApiServer, kind: Kind, metadata: Object) -> Object:
    fresh = {
        key: value
        for key, value in metadata.items()
        if key not in SERVER_SET and value not in (None, "", {}, [])
    }
    name = fresh.get("name", "")
    if not name and fresh.get("generateName"):
        base = fresh["generateName"][:GENERATED_NAME_LENGTH_MAX]
        fresh["name"] = base + server.streams.stream("names").suffix()
    fresh["uid"] = ids.uid(server.streams.stream("uids"))
    fresh["creationTimestamp"] = rfc3339(server.loop.now_ms)
    if kind.has_generation:
        fresh["generation"] = 1
    return fresh


def check_metadata(kind: Kind, body: Object) -> None:
    """Refuse an object without any name, in the server's words."""
    metadata = body["metadata"]
    if not metadata.get("name"):
        problem = Problem("FieldValueRequired", "metadata.name", "", "name or generateName is required")
        raise errors.invalid(kind.group, kind.kind, "", [problem])


def _meta_problems(kind: Kind, body: Object) -> list[Problem]:
    return validate_object_meta(body["metadata"], kind.is_namespaced, kind.validate_name)


def update(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Replace an object, its status or its scale."""
    if request.subresource == "scale":
        return update_scale(server, request, kind, request.body)
    body, warnings = decode_body(request, kind, request.body)
    name = (body.get("metadata") or {}).get("name", "")
    if not name:
        why = (
            f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        )
        raise errors.bad_request(why)
    if name != request.name:
        raise _wrong_name(name, request)
    if kind.resource in CREATED_BY_UPDATE and not request.subresource:
        namespace = request.namespace if kind.is_namespaced else ""
        if server.store.get(kind.resource, namespace, name) is None:
            return create(server, request, kind)
    old = reading.existing(server, request, kind)
    return replace(server, request, kind, old, body, warnings)


def _wrong_name(name: str, request: ApiRequest) -> errors.StatusError:
    return errors.bad_request(
        f"the name of the object ({name}) does not match the name on the URL ({request.name})"
    )


def patch(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Patch an object, its status or its scale."""
    if request.subresource == "scale":
        scale = reading.scale_of(kind, reading.existing(server, request, kind))
        patched = patching.apply_plain(request, scale)
        return update_scale(server, request, kind, patched)
    old = reading.existing(server, request, kind)
    decoded = patching.apply(request, kind, old)
    body = decoded.object
    name = (body.get("metadata") or {}).get("name", "")
    if name != request.name:
        raise _wrong_name(name, request)
    return replace(server, request, kind, old, body, decoded.warnings)
