"""Create, update and patch: prepare, default, admit, validate, store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from env_core.apiserver import errors, patching, reading
from env_core.apiserver._storage_form import as_stored
from env_core.apiserver.admitting import admit, admit_validating, attributes_of
from env_core.apiserver.applypatch import merged_by_apply, scaled_by_apply
from env_core.apiserver.decoding import decode_as, decode_body
from env_core.apiserver.deleting import delete, delete_collection, put, ref_of
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import Write, settled
from env_core.apiserver.managedfields.managers import Managed
from env_core.apiserver.metadata import GENERATED_NAME_LENGTH_MAX, validate_object_meta
from env_core.apiserver.partial import update_scale, write_part
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.podwrites import POD_SUBRESOURCES
from env_core.apiserver.replacing import UNWRITABLE, check_name, refuse, replace, without_status
from env_core.apiserver.request import APPLY_PATCH, ApiRequest, ApiResponse
from env_core.apiserver.strict import Decoded, decode_json_patched
from env_core.apiserver.tokens import request_token
from env_core.apiserver.tracking import dry_run_answer, given_by, tracked, write_of
from env_core.apiserver.typed import in_type_order
from env_core.objects.problems import Problem
from env_core.sim import ids
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


SCALE = ("autoscaling", "v1", "Scale")


def write(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Answer a writing request."""
    if kind.deprecation:
        return reading.deprecated(_written, server, request, kind)
    return _written(server, request, kind)


def _written(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    subresource = request.subresource
    if subresource and subresource not in kind.subresources:
        raise reading.no_subresource(request, kind)
    if kind.resource == "pods" and subresource in POD_SUBRESOURCES:
        return POD_SUBRESOURCES[subresource](server, request, kind)
    if subresource == "token":
        return request_token(server, request)
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


def other_namespace() -> errors.StatusError:
    """Return the refusal of an object for another namespace than the request's, as a registry words it."""
    return errors.bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"
    )


def create(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Create an object."""
    body, warnings = decode_body(request, kind, request.body)
    if warnings:
        return _with_warnings(warnings, lambda: _created(server, request, kind, body, warnings))
    return _created(server, request, kind, body, ())


def _with_warnings(warnings: tuple[str, ...], answer: Callable[[], ApiResponse]) -> ApiResponse:
    """Return an answer, or the refusal in its place: what the decoder has to say comes with both."""
    try:
        return answer()
    except errors.StatusError as error:
        return ApiResponse(error.code, error.status, warnings)


def _created(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    body: Object,
    warnings: tuple[str, ...],
    managed: Managed | None = None,
) -> ApiResponse:
    """Create an object from a body in normal form. `managed` are its managers after a server-side apply."""
    metadata = body.get("metadata") or {}
    if kind.refuses_create:
        raise errors.forbidden(kind.group, kind.plural, metadata.get("name", ""), kind.refuses_create)
    entries = given_by(request, metadata) if managed is None else None
    namespace = request.namespace if kind.is_namespaced else ""
    given = metadata.get("namespace") or ""
    if given != namespace:
        if given and kind.is_namespaced:
            raise other_namespace()
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
    written = write_of(server, request, kind, body, entries) if managed is None else settled(kind, managed)
    attributes = attributes_of(server, request, kind, "CREATE", body, None)
    admitted = admit(server, attributes)
    if admitted is not body:
        body = kind.default(admitted)
    if kind.has_status:
        body = without_status(body)
    body = kind.prepare_create(body)
    if kind.signed_by is not None:
        body = kind.signed_by(body, request.identity)
    check_metadata(kind, body)
    refuse(kind, body, [*_meta_problems(kind, body), *kind.validate(body)], request.body)
    # What there is to say about a valid object comes with what admission says to it.
    all_warnings = (*warnings, *kind.warnings(body))
    try:
        return _admitted(server, request, kind, attributes, body, written, all_warnings)
    except errors.StatusError as error:
        if not all_warnings:
            raise
        return ApiResponse(error.code, error.status, all_warnings)


def _admitted(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    attributes: Attributes,
    body: Object,
    written: Write,
    warnings: tuple[str, ...],
) -> ApiResponse:
    """Store a new object that is valid, unless admission refuses it or it is there already."""
    admit_validating(server, attributes, body)
    # Reading from storage defaults again: what validation did not see may still be filled in.
    body = kind.default(as_stored(kind, body))
    name = body["metadata"]["name"]
    existing = server.store.get(kind.resource, body["metadata"].get("namespace", ""), name)
    if existing is not None:
        is_going = "deletionTimestamp" in existing["metadata"]
        raise errors.already_exists(
            kind.group, kind.plural, name, "object is being deleted: " if is_going else ""
        )
    if request.options.dry_run:
        return dry_run_answer(request, 201, body, warnings, written)
    server.space.take(server.store, request.identity, ref_of(kind, body), body)
    return ApiResponse(201, put(server, kind, body, written), warnings)


def _new_metadata(server: ApiServer, kind: Kind, metadata: Object) -> Object:
    fresh = {
        key: value
        for key, value in metadata.items()
        if key not in UNWRITABLE and value not in (None, "", {}, [])
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
    return validate_object_meta(
        body["metadata"],
        kind.is_namespaced,
        kind.validate_name,
        has_free_finalizers=kind.has_free_finalizers,
    )


def update(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Replace an object, its status or its scale."""
    if request.subresource == "scale":
        return update_scale(server, request, kind, decode_as(request, "autoscaling", "v1", "Scale"))
    body, warnings = decode_body(request, kind, request.body)
    check_name(body, request)
    if kind.creates_on_update and not request.subresource and reading.found(server, request, kind) is None:
        server.authorize(request.identity, "create", kind, request)
        return create(server, request, kind)
    old = reading.existing(server, request, kind)
    if warnings:
        return _with_warnings(warnings, lambda: replace(server, request, kind, old, body, warnings))
    return replace(server, request, kind, old, body)


def patch(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Patch an object, its status or its scale."""
    patching.check_type(request, kind)
    if request.content_type == APPLY_PATCH:
        return _apply(server, request, kind)
    if request.subresource == "scale":
        scale = reading.scale_of(kind, reading.existing(server, request, kind))
        patched = patching.apply_plain(request, scale)
        decoded = decode_json_patched(patched, *SCALE, request.options.field_validation)
        return update_scale(server, request, kind, decoded.object)
    old = reading.existing(server, request, kind)
    decoded = _patched(server, request, kind, old)
    body = decoded.object
    check_name(body, request)
    warnings = decoded.warnings
    if warnings:
        return _with_warnings(warnings, lambda: replace(server, request, kind, old, body, warnings))
    return replace(server, request, kind, old, body)


def _patched(server: ApiServer, request: ApiRequest, kind: Kind, old: Object) -> Decoded:
    """Apply a patch to the live object; managedFields are part of it only where they can be told."""
    if patching.reads_managed_fields(request):
        return patching.apply(request, kind, tracked(server, kind, old))
    try:
        return patching.apply(request, kind, old)
    except errors.StatusError:
        # A refusal may show the whole object.
        return patching.apply(request, kind, in_type_order(tracked(server, kind, old)))


def _apply(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Server-side apply: create the object, or merge a configuration into it."""
    old = reading.found(server, request, kind)
    if old is None and request.subresource:
        raise errors.not_found(kind.group, kind.plural, request.name)
    if old is not None and request.subresource == "scale":
        scale, managed = scaled_by_apply(server, request, kind, old)
        return update_scale(server, request, kind, scale, managed)
    body, managed = merged_by_apply(server, request, kind, old)
    metadata = body.get("metadata") or {}
    namespace = request.namespace if kind.is_namespaced else ""
    if (metadata.get("namespace") or namespace) != namespace:
        raise other_namespace()
    check_name(body, request)
    if old is not None:
        return replace(server, request, kind, old, body, managed=managed)
    server.authorize(request.identity, "create", kind, request)
    uid = metadata.get("uid")
    if uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise errors.conflict(kind.group, kind.plural, request.name, why)
    return _created(server, request, kind, body, (), managed)
