"""Turns a stored object into a new version of it, as far as a request may."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from env_core.apiserver import errors, reading
from env_core.apiserver._storage_form import as_stored
from env_core.apiserver.admitting import admit, admit_part, admit_validating, attributes_of
from env_core.apiserver.deleting import ref_of, stored
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import settled, taken_over
from env_core.apiserver.managedfields.managers import Managed, same_fields
from env_core.apiserver.metadata import validate_object_meta_update
from env_core.apiserver.paging import uint_problem
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.apiserver.schema import GoType, schema_for, struct_named
from env_core.apiserver.tracking import dry_run_answer, given_by, managed_now, write_of
from env_core.objects import gojson
from env_core.objects.fieldpath import FieldPathError, parse_path
from env_core.objects.problems import Problem
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


SERVER_SET = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
)
"""Metadata that only the server writes."""
_REFUSED = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
UNWRITABLE = (*SERVER_SET, "managedFields")
"""Metadata that does not become part of the stored object; managedFields are tracked beside it."""


def replace(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    old: Object,
    body: Object,
    warnings: tuple[str, ...] = (),
    *,
    managed: Managed | None = None,
) -> ApiResponse:
    """Turn `old` into `body` as far as this request may: the common end of update, patch and scale.

    `managed` are the managers after a server-side apply.
    """
    metadata = body.get("metadata") or {}
    old_metadata = old["metadata"]
    wanted_version = metadata.get("resourceVersion")
    if wanted_version and wanted_version != old_metadata["resourceVersion"]:
        problem = uint_problem(wanted_version)
        if problem:
            raise errors.StatusError(errors.status(500, "", problem))
        raise errors.conflict(kind.group, kind.plural, request.name)
    wanted_uid = metadata.get("uid")
    # A patch may not change the uid; an update that has one is for that object only.
    if wanted_uid and wanted_uid != old_metadata["uid"] and request.verb == "update":
        raise _not_this_object(kind, old_metadata, wanted_uid)
    given = given_by(request, metadata) if not request.subresource and managed is None else None
    if request.subresource == "status":
        body, sent = _status_write(server, kind, old, body)
        if body is old and not _changes_managers(server, kind, old, given, managed):
            return ApiResponse(200, server.view(kind, old), warnings)
        refuse(kind, body, kind.validate_status(body, old))
        admit_part(server, request, kind, old, body)
    else:
        body, sent = _spec_write(server, request, kind, old, body)
        if body is old and not _changes_managers(server, kind, old, given, managed):
            return ApiResponse(200, server.view(kind, old), (*warnings, *_update_warnings(kind, old, old)))
        problems = validate_object_meta_update(
            body["metadata"], old_metadata, has_free_finalizers=kind.has_free_finalizers
        )
        problems += kind.validate(body) if kind.validate_update is None else kind.validate_update(body, old)
        refuse(kind, body, problems, request.body)
        if request.subresource == "scale":
            admit_part(server, request, kind, reading.scale_of(kind, old), reading.scale_of(kind, body))
        else:
            if request.subresource == "":
                warnings = (*warnings, *_update_warnings(kind, body, old))
            try:
                admit_validating(server, attributes_of(server, request, kind, "UPDATE", body, old), body)
            except errors.StatusError as error:
                if not warnings:
                    raise
                return ApiResponse(error.code, error.status, warnings)
    written = write_of(server, request, kind, sent, given) if managed is None else settled(kind, managed)
    if request.options.dry_run:
        written.follow(
            server.store.written(kind.resource, old_metadata.get("namespace", ""), request.name), old
        )
        return dry_run_answer(request, 200, body, warnings, written)
    server.space.take(server.store, request.identity, ref_of(kind, body), body)
    return ApiResponse(200, server.view(kind, stored(server, kind, body, written)), warnings)


def _changes_managers(
    server: ApiServer, kind: Kind, old: Object, given: Any, managed: Managed | None
) -> bool:
    """Whether a write that leaves the object as it is changes its managers: by managedFields sent, or by an apply."""
    if given is None and managed is None:
        return False
    now = managed_now(server, kind, old)
    return not same_fields(now, taken_over(now, given) if managed is None else managed)


def _not_this_object(kind: Kind, metadata: Object, uid: str) -> errors.StatusError:
    """Return the refusal of the storage, which names its key.

    Source: k8s.io/apiserver pkg/storage/errors.go; tests/golden/l2/facts/errors.jsonl.gz.
    """
    name, namespace = metadata["name"], metadata.get("namespace")
    key = "/".join(("/registry", kind.plural, *((namespace,) if namespace else ()), name))
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata['uid']}"
    )
    return errors.conflict(kind.group, kind.plural, name, why)


def check_name(body: Object, request: ApiRequest) -> None:
    """Raise BadRequest unless the object is the one that the URL names.

    Source: k8s.io/apiserver pkg/endpoints/handlers/rest.go checkName; tests/golden/l2/facts/errors.jsonl.gz.
    """
    metadata = body.get("metadata") or {}
    name = metadata.get("name") or ""
    if name == request.name:
        namespace = metadata.get("namespace")
        if namespace and request.namespace and namespace != request.namespace:
            text = f"the namespace of the object ({namespace}) does not match the namespace on the request ({request.namespace})"
            raise errors.bad_request(text)
        return
    if not name:
        text = (
            f"the name of the object ({request.name} based on URL) was undeterminable: name must be provided"
        )
        raise errors.bad_request(text)
    raise errors.bad_request(
        f"the name of the object ({name}) does not match the name on the URL ({request.name})"
    )


def _update_warnings(kind: Kind, body: Object, old: Object) -> list[str]:
    return kind.warnings(body) if kind.update_warnings is None else kind.update_warnings(body, old)


def _status_write(server: ApiServer, kind: Kind, old: Object, body: Object) -> tuple[Object, Object]:
    """Return what is to be stored, and what the client sent of it."""
    sent = _with_status(old, body)
    if sent is old:
        return old, old
    prepared = kind.prepare_status(sent, old)
    if kind.stamp_status is not None:
        return kind.stamp_status(prepared, old, server.loop.now_ms), sent
    return prepared, prepared


def _with_status(old: Object, body: Object) -> Object:
    status = body.get("status")
    if status is None:
        status = {}
    # A status write takes annotations along (controllers use it to write both at once), nothing else of the metadata.
    annotations = (body.get("metadata") or {}).get("annotations")
    kept = old["metadata"]
    if annotations and annotations != kept.get("annotations"):
        return {**old, "metadata": {**kept, "annotations": annotations}, "status": status}
    if status == old.get("status"):
        return old
    return {**old, "status": status}


def _spec_write(
    server: ApiServer, request: ApiRequest, kind: Kind, old: Object, body: Object
) -> tuple[Object, Object]:
    """Return what is to be stored, and what it was before admission."""
    old_metadata = old["metadata"]
    metadata = body.get("metadata") or {}
    if metadata is not old_metadata:
        body = {**body, "metadata": written_metadata(metadata, old_metadata)}
    if kind.has_status:
        body = {**body, "status": old["status"]} if "status" in old else without_status(body)
    body = {**body, "apiVersion": kind.api_version, "kind": kind.kind}
    body = sent = kind.default(body)
    if not request.subresource:
        attributes = attributes_of(server, request, kind, "UPDATE", body, old)
        admitted = admit(server, attributes)
        if admitted is not body:
            body = kind.default(admitted)
    body = as_stored(kind, kind.prepare_update(body, old))
    is_as_sent = body is sent
    is_counted = kind.has_counted_annotations and body["metadata"].get("annotations") != old_metadata.get(
        "annotations"
    )
    if kind.has_generation and (is_counted or spec_changed(kind, body, old)):
        body = {**body, "metadata": {**body["metadata"], "generation": old_metadata.get("generation", 0) + 1}}
    if body == old:
        return old, sent
    # Where only the generation differs, which nobody manages, one object is kept, not two.
    return body, body if is_as_sent else sent


def written_metadata(metadata: Object, old: Object) -> Object:
    """Return metadata as a client may write it: what only the server sets stays as it is."""
    kept = {
        key: value for key, value in metadata.items() if key not in UNWRITABLE and value not in (None, {}, [])
    }
    kept.update({key: old[key] for key in SERVER_SET if key in old})
    for key in _REFUSED:
        # Validation says that these may not change; the others are silently put back.
        if metadata.get(key) is not None and (key == "uid" or key not in kept):
            kept[key] = metadata[key]
    if "namespace" in old:
        kept.setdefault("namespace", old["namespace"])
    kept["resourceVersion"] = old["resourceVersion"]
    if "managedFields" in old:
        kept["managedFields"] = old["managedFields"]
    return kept


_NOT_SPEC = frozenset({"metadata", "apiVersion", "kind"})
_NOT_SPEC_WITH_STATUS = _NOT_SPEC | {"status"}


def spec_changed(kind: Kind, body: Object, old: Object) -> bool:
    """Tell whether anything but metadata, and a status that is written on its own, differs."""
    left_out = _NOT_SPEC_WITH_STATUS if kind.has_status else _NOT_SPEC
    return any(body.get(key) != old.get(key) for key in sorted({*body, *old} - left_out))


def without_status(body: Object) -> Object:
    """Return an object without its status."""
    if "status" not in body:
        return body
    return {key: value for key, value in body.items() if key != "status"}


def refuse(kind: Kind, body: Object, problems: list[Problem], sent: Any = None) -> None:
    """Raise Invalid if there are problems. Messages show what `sent`, the request's body, has empty as empty."""
    if problems:
        shown = [
            _as_sent(problem, kind, sent) if problem.shown == "null" else problem for problem in problems
        ]
        raise errors.invalid(kind.group, kind.kind, body["metadata"].get("name", ""), shown)


def _as_sent(problem: Problem, kind: Kind, sent: Any) -> Problem:
    """Return a problem of a field that is not set, as Go shows it where the client sent an empty list or map.

    Objects in normal form have no empty fields. Source: tests/golden/l0/validation (spec.template.metadata.labels = {}).
    """
    struct = schema_for(kind.group, kind.version, kind.kind)
    if isinstance(sent, (str, bytes)) and gojson.is_json(sent):
        sent = gojson.plain(gojson.read(sent))
    try:
        path = parse_path(problem.field)
    except FieldPathError:
        return problem
    if struct is None or not isinstance(sent, dict):
        return problem
    shown = _empty_at(sent, GoType("struct", "", ref=struct.path), path)
    return dataclasses.replace(problem, shown=shown) if shown else problem


def _empty_at(value: Any, type_: GoType, path: Sequence[str | int]) -> str:
    """Return how Go shows the empty list or map at a path, "" for anything else; a path into an empty list shows the list."""
    while type_.kind == "ptr" and type_.element is not None:
        type_ = type_.element
    if value == [] and type_.kind == "slice":
        return "[]"
    if not path:
        return "{}" if value == {} and type_.kind == "map" else ""
    key, *rest = path
    inner: GoType | None = type_.element
    if type_.kind == "struct":
        field = struct_named(type_.ref).fields.get(str(key))
        inner = None if field is None else field.type
    try:
        return _empty_at(value[key], inner, rest) if inner is not None else ""
    except (LookupError, TypeError):
        return ""
