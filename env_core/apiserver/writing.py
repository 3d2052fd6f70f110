"""Create, update, patch and delete: prepare, default, admit, validate, store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from env_core.apiserver import errors, patching, reading
from env_core.apiserver.decoding import decode_body
from env_core.apiserver.kind import Kind, SubresourceWrite
from env_core.apiserver.metadata import validate_object_meta, validate_object_meta_update
from env_core.apiserver.plugin import Attributes
from env_core.apiserver.podwrites import POD_SUBRESOURCES
from env_core.apiserver.request import ApiRequest, ApiResponse, Options
from env_core.objects.problems import Problem
from env_core.sim import ids
from env_core.sim.timefmt import rfc3339
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

GENERATED_NAME_LENGTH_MAX = 63 - 5


def write(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Answer a writing request."""
    subresource = request.subresource
    if subresource and subresource not in kind.subresources:
        raise errors.resource_unknown()
    if kind.resource == "pods" and subresource in POD_SUBRESOURCES:
        return POD_SUBRESOURCES[subresource](server, request, kind)
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
    attributes = _attributes(server, request, kind, "CREATE", body, None)
    admitted = admit(server, attributes)
    if admitted is not body:
        body = kind.default(admitted)
    if kind.has_status:
        body = _without_status(body)
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


def _without_status(body: Object) -> Object:
    if "status" not in body:
        return body
    return {key: value for key, value in body.items() if key != "status"}


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


def refuse(kind: Kind, body: Object, problems: list[Problem]) -> None:
    """Raise Invalid if there are problems."""
    if problems:
        raise errors.invalid(kind.group, kind.kind, body["metadata"].get("name", ""), problems)


def _attributes(
    server: ApiServer,
    request: ApiRequest,
    kind: Kind,
    operation: str,
    body: Object | None,
    old: Object | None,
) -> Attributes:
    return Attributes(
        operation=operation,
        kind=kind,
        namespace=request.namespace,
        name=request.name,
        subresource=request.subresource,
        object=body,
        old=old,
        identity=request.identity,
        options=request.options,
        store=server.store,
        streams=server.streams,
        now_ms=server.loop.now_ms,
    )


def admit(server: ApiServer, attributes: Attributes) -> Object:
    """Run the mutating plugins and return the object to go on with."""
    body = attributes.object
    assert body is not None
    resource = attributes.kind.resource
    for plugin in server.admission:
        if plugin.mutate is not None and plugin.handles(
            attributes.operation, resource, attributes.subresource
        ):
            body = plugin.mutate(_with_object(attributes, body))
    return body


def admit_validating(server: ApiServer, attributes: Attributes, body: Object | None) -> None:
    """Run the validating plugins."""
    resource = attributes.kind.resource
    final = attributes if body is attributes.object else _with_object(attributes, body)
    for plugin in server.admission:
        if plugin.validate is not None and plugin.handles(
            attributes.operation, resource, attributes.subresource
        ):
            plugin.validate(final)


def _with_object(attributes: Attributes, body: Object | None) -> Attributes:
    if body is attributes.object:
        return attributes
    return Attributes(
        attributes.operation, attributes.kind, attributes.namespace, attributes.name, attributes.subresource, body,
        attributes.old, attributes.identity, attributes.options, attributes.store, attributes.streams, attributes.now_ms,
    )  # fmt: skip


def update(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Replace an object, its status or its scale."""
    if request.subresource == "scale":
        return _update_scale(server, request, kind, request.body)
    body, warnings = decode_body(request, kind, request.body)
    name = (body.get("metadata") or {}).get("name", "")
    if name != request.name:
        raise _wrong_name(name, request)
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
        return _update_scale(server, request, kind, patched)
    old = reading.existing(server, request, kind)
    decoded = patching.apply(request, kind, old)
    body = decoded.object
    name = (body.get("metadata") or {}).get("name", "")
    if name != request.name:
        raise _wrong_name(name, request)
    return replace(server, request, kind, old, body, decoded.warnings)


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
        raise errors.conflict(kind.group, kind.plural, request.name)
    wanted_uid = metadata.get("uid")
    if wanted_uid and wanted_uid != old_metadata["uid"]:
        why = f"Precondition failed: UID in precondition: {wanted_uid}, UID in object meta: {old_metadata['uid']}"
        raise errors.conflict(kind.group, kind.plural, request.name, why)
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
        admit_validating(server, _attributes(server, request, kind, "UPDATE", body, old), body)
    all_warnings = (*warnings, *kind.warnings(body)) if request.subresource == "" else warnings
    if request.options.dry_run:
        return ApiResponse(200, body, all_warnings)
    return ApiResponse(200, server.view(kind, _stored(server, kind, body)), all_warnings)


def write_part(server: ApiServer, request: ApiRequest, kind: Kind, strategy: SubresourceWrite) -> ApiResponse:
    """Write through a subresource whose strategy says which part of the object may change."""
    old = reading.existing(server, request, kind)
    if request.verb == "patch":
        wanted, warnings = patching.apply(request, kind, old).object, tuple[str, ...]()
    else:
        wanted, warnings = decode_body(request, kind, request.body)
    version = (wanted.get("metadata") or {}).get("resourceVersion")
    if version and version != old["metadata"]["resourceVersion"]:
        raise errors.conflict(kind.group, kind.plural, request.name)
    body = strategy.prepare(kind.default(wanted), old)
    if body == old:
        return ApiResponse(200, old, warnings)
    if kind.has_generation and _spec_changed(body, old):
        generation = old["metadata"].get("generation", 0) + 1
        body = {**body, "metadata": {**body["metadata"], "generation": generation}}
    refuse(kind, body, strategy.validate(body, old))
    if request.options.dry_run:
        return ApiResponse(200, body, warnings)
    return ApiResponse(200, _stored(server, kind, body), warnings)


def _stored(server: ApiServer, kind: Kind, body: Object) -> Object:
    """Store a new version; what was waiting for it to go, goes."""
    stored = server.store.put(kind.resource, body)
    if is_finished(body):
        metadata = body["metadata"]
        return server.store.remove(kind.resource, metadata.get("namespace", ""), metadata["name"]) or stored
    return stored


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
        body = {**body, "status": old["status"]} if "status" in old else _without_status(body)
    body = {**body, "apiVersion": kind.api_version, "kind": kind.kind}
    body = kind.default(body)
    attributes = _attributes(server, request, kind, "UPDATE", body, old)
    admitted = admit(server, attributes)
    if admitted is not body:
        body = kind.default(admitted)
    body = kind.prepare_update(body, old)
    is_counted = kind.has_counted_annotations and body["metadata"].get("annotations") != old_metadata.get(
        "annotations"
    )
    if kind.has_generation and (is_counted or _spec_changed(body, old)):
        body = {**body, "metadata": {**body["metadata"], "generation": old_metadata.get("generation", 0) + 1}}
    return old if body == old else body


def _spec_changed(body: Object, old: Object) -> bool:
    return any(
        body.get(key) != old.get(key)
        for key in sorted({*body, *old} - {"metadata", "status", "apiVersion", "kind"})
    )


def _update_scale(server: ApiServer, request: ApiRequest, kind: Kind, scale: Any) -> ApiResponse:
    assert kind.scale is not None
    if not isinstance(scale, dict):
        raise errors.bad_request("the body of a scale request must be an object")
    old = reading.existing(server, request, kind)
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    wanted_version = (scale.get("metadata") or {}).get("resourceVersion")
    if wanted_version and wanted_version != old["metadata"]["resourceVersion"]:
        raise errors.conflict(kind.group, kind.plural, request.name)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise errors.bad_request(
            "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32"
        )
    if replicas < 0:
        problem = Problem(
            "FieldValueInvalid", "spec.replicas", str(replicas), "must be greater than or equal to 0"
        )
        raise errors.invalid("autoscaling", "Scale", request.name, [problem])
    body = {**old, "spec": {**old["spec"], "replicas": replicas}}
    done = replace(server, _plain(request), kind, old, body)
    return ApiResponse(200, reading.scale_of(kind, done.object))


def _plain(request: ApiRequest) -> ApiRequest:
    return ApiRequest(
        verb="update",
        resource=request.resource,
        namespace=request.namespace,
        name=request.name,
        identity=request.identity,
        options=request.options,
    )


def is_finished(body: Object) -> bool:
    """Whether a terminating object has nothing left that holds it: it goes with this write."""
    metadata = body["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if body["kind"] == "Namespace" and (body.get("spec") or {}).get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")


def delete_collection(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Delete every object that a list would return."""
    listed = reading.collection(server, request, kind).object
    for item in listed["items"]:
        metadata = item["metadata"]
        one = ApiRequest(
            verb="delete", resource=request.resource, namespace=metadata.get("namespace", ""), name=metadata["name"],
            identity=request.identity, options=Options(propagation_policy=request.options.propagation_policy, grace_period_seconds=request.options.grace_period_seconds),
        )  # fmt: skip
        delete(server, one, kind)
    return ApiResponse(200, listed)


def delete(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Delete an object, at once or gracefully, as its kind, finalizers and the options say."""
    old = reading.existing(server, request, kind)
    options = request.options
    metadata = old["metadata"]
    if options.precondition_uid and options.precondition_uid != metadata["uid"]:
        why = f"Precondition failed: UID in precondition: {options.precondition_uid}, UID in object meta: {metadata['uid']}"
        raise errors.conflict(kind.group, kind.plural, request.name, why)
    if (
        options.precondition_resource_version
        and options.precondition_resource_version != metadata["resourceVersion"]
    ):
        why = (
            f"Precondition failed: ResourceVersion in precondition: {options.precondition_resource_version}, "
            f"ResourceVersion in object meta: {metadata['resourceVersion']}"
        )
        raise errors.conflict(kind.group, kind.plural, request.name, why)
    admit_validating(server, _attributes(server, request, kind, "DELETE", None, old), None)
    finalizers = _deletion_finalizers(metadata.get("finalizers", []), options.propagation_policy)
    grace = _grace(kind, old, options)
    if options.dry_run:
        return ApiResponse(200, old)
    holds_namespace = kind.resource == "namespaces" and bool((old.get("spec") or {}).get("finalizers"))
    if not finalizers and grace == 0 and not holds_namespace:
        server.store.remove(kind.resource, metadata.get("namespace", ""), request.name)
        return ApiResponse(200, _deleted_status(kind, old))
    marked = _marked(server, old, finalizers, grace)
    if marked is not old:
        if kind.resource == "namespaces":
            marked = {**marked, "status": {**marked.get("status", {}), "phase": "Terminating"}}
        marked = server.store.put(kind.resource, marked)
    return ApiResponse(200, marked)


def _deletion_finalizers(finalizers: list[str], policy: str) -> list[str]:
    kept = (
        [entry for entry in finalizers if entry not in ("orphan", "foregroundDeletion")]
        if policy
        else finalizers
    )
    if policy == "Foreground":
        return [*kept, "foregroundDeletion"]
    if policy == "Orphan":
        return [*kept, "orphan"]
    return kept


def _grace(kind: Kind, old: Object, options: Options) -> int:
    if kind.grace is None:
        return 0
    wanted = kind.grace(old)
    if wanted and options.grace_period_seconds is not None:
        return options.grace_period_seconds if options.grace_period_seconds >= 0 else 1
    return wanted


def _marked(server: ApiServer, old: Object, finalizers: list[str], grace: int) -> Object:
    metadata = old["metadata"]
    changed = dict(metadata)
    if finalizers != metadata.get("finalizers", []):
        changed["finalizers"] = finalizers
    if "deletionTimestamp" not in metadata:
        # The timestamp is when the object is meant to be gone: now plus the grace period.
        changed["deletionTimestamp"] = rfc3339(server.loop.now_ms + grace * 1000)
        changed["deletionGracePeriodSeconds"] = grace
        if "generation" in metadata:
            changed["generation"] = metadata["generation"] + 1
    elif grace < metadata.get("deletionGracePeriodSeconds", 0):
        changed["deletionTimestamp"] = rfc3339(server.loop.now_ms + grace * 1000)
        changed["deletionGracePeriodSeconds"] = grace
    if changed == metadata:
        return old
    return {**old, "metadata": changed}


def _deleted_status(kind: Kind, old: Object) -> Object:
    metadata = old["metadata"]
    details = {"name": metadata["name"], "kind": kind.plural, "uid": metadata["uid"]}
    if kind.group:
        details["group"] = kind.group
    return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "details": details}
