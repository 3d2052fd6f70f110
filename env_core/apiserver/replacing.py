"""Turns a stored object into a new version of it, as far as a request may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.apiserver import errors
from env_core.apiserver.admitting import admit, admit_validating, attributes_of
from env_core.apiserver.deleting import stored
from env_core.apiserver.kind import Kind
from env_core.apiserver.metadata import validate_object_meta_update
from env_core.apiserver.paging import uint_problem
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.objects.problems import Problem, invalid
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


def replace(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    old: Object,
    body: Object,
    warnings: tuple[str, ...] = (),
) -> ApiResponse:
    """Turn `old` into `body` as far as this request may: the common end of update and patch."""
    metadata = body.get("metadata") or {}
    old_metadata = old["metadata"]
    wanted_version = metadata.get("resourceVersion")
    if wanted_version and wanted_version != old_metadata["resourceVersion"]:
        problem = uint_problem(wanted_version)
        if problem:
            raise errors.StatusError(errors.status(500, "", problem))
        raise errors.conflict(kind.group, kind.plural, request.name)
    wanted_uid = metadata.get("uid")
    if wanted_uid and wanted_uid != old_metadata["uid"]:
        raise _other_object(request, kind, wanted_uid, old_metadata)
    if request.subresource == "status":
        body = _status_write(kind, old, body)
        if body is old:
            return ApiResponse(200, server.view(kind, old), warnings)
        refuse(kind, body, kind.validate_status(body, old))
    else:
        body = _spec_write(server, request, kind, old, body)
        if body is old:
            return ApiResponse(200, server.view(kind, old), (*warnings, *kind.warnings(old)))
        problems = validate_object_meta_update(body["metadata"], old_metadata)
        problems += kind.validate(body) if kind.validate_update is None else kind.validate_update(body, old)
        refuse(kind, body, problems)
        admit_validating(server, attributes_of(server, request, kind, "UPDATE", body, old), body)
    all_warnings = (*warnings, *kind.warnings(body)) if request.subresource == "" else warnings
    if request.options.dry_run:
        return ApiResponse(200, body, all_warnings)
    return ApiResponse(200, server.view(kind, stored(server, kind, body)), all_warnings)


def _other_object(request: ApiRequest, kind: Kind, uid: str, old_metadata: Object) -> errors.StatusError:
    """Return the refusal to write an object by another one's uid; a patch may not change it."""
    if request.verb == "patch":
        problem = invalid("metadata.uid", uid, "field is immutable")
        return errors.invalid(kind.group, kind.kind, request.name, [problem])
    place = f"{request.namespace}/" if kind.is_namespaced else ""
    why = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{kind.plural}/{place}{request.name}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {old_metadata['uid']}"
    )
    return errors.conflict(kind.group, kind.plural, request.name, why)


def _status_write(kind: Kind, old: Object, body: Object) -> Object:
    status = body.get("status")
    if status is None:
        status = {}
    # A status write takes annotations along (controllers use it to write both at once), nothing else of the metadata.
    annotations = (body.get("metadata") or {}).get("annotations")
    kept = old["metadata"]
    if annotations and annotations != kept.get("annotations"):
        return kind.prepare_status(
            {**old, "metadata": {**kept, "annotations": annotations}, "status": status}, old
        )
    if status == old.get("status"):
        return old
    return kind.prepare_status({**old, "status": status}, old)


def _spec_write(server: ApiServer, request: ApiRequest, kind: Kind, old: Object, body: Object) -> Object:
    old_metadata = old["metadata"]
    metadata = body.get("metadata") or {}
    if metadata is not old_metadata:
        kept = {
            key: value
            for key, value in metadata.items()
            if key not in SERVER_SET and value not in (None, {}, [])
        }
        kept.update({key: old_metadata[key] for key in SERVER_SET if key in old_metadata})
        if "namespace" in old_metadata:
            kept.setdefault("namespace", old_metadata["namespace"])
        kept["resourceVersion"] = old_metadata["resourceVersion"]
        if "managedFields" in old_metadata:
            kept["managedFields"] = old_metadata["managedFields"]
        body = {**body, "metadata": kept}
    if kind.has_status:
        body = {**body, "status": old["status"]} if "status" in old else without_status(body)
    body = {**body, "apiVersion": kind.api_version, "kind": kind.kind}
    body = kind.default(body)
    attributes = attributes_of(server, request, kind, "UPDATE", body, old)
    admitted = admit(server, attributes)
    if admitted is not body:
        body = kind.default(admitted)
    body = kind.prepare_update(body, old)
    is_counted = kind.has_counted_annotations and body["metadata"].get("annotations") != old_metadata.get(
        "annotations"
    )
    if kind.has_generation and (is_counted or spec_changed(body, old)):
        body = {**body, "metadata": {**body["metadata"], "generation": old_metadata.get("generation", 0) + 1}}
    return old if body == old else body


def spec_changed(body: Object, old: Object) -> bool:
    """Tell whether anything but metadata and status differs."""
    return any(
        body.get(key) != old.get(key)
        for key in sorted({*body, *old} - {"metadata", "status", "apiVersion", "kind"})
    )


def without_status(body: Object) -> Object:
    """Return an object without its status."""
    if "status" not in body:
        return body
    return {key: value for key, value in body.items() if key != "status"}


def refuse(kind: Kind, body: Object, problems: list[Problem]) -> None:
    """Raise Invalid if there are problems."""
    if problems:
        raise errors.invalid(kind.group, kind.kind, body["metadata"].get("name", ""), problems)
