"""Delete: preconditions, finalizers, grace, and what goes with the write that frees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from env_core.apiserver import errors, reading
from env_core.apiserver.admitting import admit_validating, attributes_of
from env_core.apiserver.kind import Kind
from env_core.apiserver.managedfields.history import Write
from env_core.apiserver.request import ApiRequest, ApiResponse, Options
from env_core.apiserver.store import ObjectRef
from env_core.apiserver.version_webhook import converted
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer

CUT_OFF_S: Final = 1
"""A grace that lets nothing end: `--force` asks for none, and `--now` or a grace of 0 alone for a second."""


def delete(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Delete an object, at once or gracefully, as its kind, finalizers and the options say."""
    old = reading.existing(server, request, kind)
    options = request.options
    metadata = old["metadata"]
    _check_preconditions(kind, metadata, options)
    admit_validating(server, attributes_of(server, request, kind, "DELETE", None, old), None)
    if kind.prepare_delete is not None and "deletionTimestamp" not in metadata:
        marked = kind.prepare_delete(old, server.loop.now_ms)
        return ApiResponse(200, old if options.dry_run else put(server, kind, marked))
    finalizers = _deletion_finalizers(metadata.get("finalizers", []), options.propagation_policy)
    grace = _grace(kind, old, options)
    if kind.grace is not None and grace <= CUT_OFF_S and not options.dry_run:
        server.remarks.cut_off.append(old)
    holds_namespace = kind.resource == "namespaces" and bool((old.get("spec") or {}).get("finalizers"))
    if not finalizers and grace == 0 and not holds_namespace:
        if not options.dry_run:
            server.store.remove(kind.resource, metadata.get("namespace", ""), request.name)
        if kind.grace is not None:
            old = _marked(server, kind, old, finalizers, grace)
        return ApiResponse(200, old if kind.returns_deleted else _deleted_status(kind, old))
    marked = _marked(server, kind, old, finalizers, grace)
    if marked is not old:
        if kind.resource == "namespaces":
            marked = {**marked, "status": {**marked.get("status", {}), "phase": "Terminating"}}
        if not options.dry_run:
            marked = put(server, kind, marked)
    return ApiResponse(200, marked)


def _check_preconditions(kind: Kind, metadata: Object, options: Options) -> None:
    """Raise Conflict unless the object is the one that the client means.

    Source: k8s.io/apiserver pkg/registry/rest/delete.go; tests/golden/l2/facts/errors.jsonl.gz.
    """
    uid, version = options.precondition_uid, options.precondition_resource_version
    why = ""
    if uid and uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
    elif version and version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record "
            f"({metadata['resourceVersion']}). The object might have been modified"
        )
    if why:
        raise errors.conflict(kind.group, kind.kind, metadata["name"], why)


def delete_collection(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Delete every object that a list would return."""
    listed = reading.listed(server, request, kind).object
    given = request.options
    options = Options(
        dry_run=given.dry_run,
        grace_period_seconds=given.grace_period_seconds,
        precondition_uid=given.precondition_uid,
        precondition_resource_version=given.precondition_resource_version,
        propagation_policy=given.propagation_policy,
    )
    for item in listed["items"]:
        metadata = item["metadata"]
        one = ApiRequest(
            verb="delete",
            resource=request.resource,
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            identity=request.identity,
            options=options,
        )
        delete(server, one, kind)
    return ApiResponse(200, listed)


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


def _marked(server: ApiServer, kind: Kind, old: Object, finalizers: list[str], grace: int) -> Object:
    metadata = old["metadata"]
    changed = dict(metadata)
    if finalizers != metadata.get("finalizers", []):
        changed["finalizers"] = finalizers
    if "deletionTimestamp" not in metadata:
        # The timestamp is when the object is meant to be gone: now plus the grace period.
        changed["deletionTimestamp"] = rfc3339(server.loop.now_ms + grace * 1000)
        if kind.resource != "namespaces":
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


def is_finished(body: Object) -> bool:
    """Whether a terminating object has nothing left that holds it: it goes with this write."""
    metadata = body["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if body["kind"] == "Namespace" and (body.get("spec") or {}).get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")


_WRITE_WORK: Final = 300
"""Units of work that storing an object counts as: whoever watches it looks at it, too."""


def ref_of(kind: Kind, body: Object) -> ObjectRef:
    """Return where an object lies in the store."""
    metadata = body["metadata"]
    return ObjectRef(kind.resource, metadata.get("namespace", ""), metadata["name"])


def put(server: ApiServer, kind: Kind, body: Object, written: Write | None = None) -> Object:
    """Store an object, in the version that is stored, and return it with its resourceVersion."""
    server.loop.work.done += _WRITE_WORK
    if kind.to_storage is None:
        return server.store.put(kind.resource, body, written)
    if kind.conversion_client is not None:
        body = converted(server, kind, (body,), kind.storage_version)[0]
    return server.view(kind, server.store.put(kind.resource, kind.to_storage(body), written))


def stored(server: ApiServer, kind: Kind, body: Object, written: Write | None = None) -> Object:
    """Store a new version; what was waiting for it to go, goes instead, as it was before.

    Source: k8s.io/apiserver pkg/registry/generic/registry/store.go (deleteWithoutFinalizers).
    """
    if is_finished(body):
        metadata = body["metadata"]
        server.store.remove(kind.resource, metadata.get("namespace", ""), metadata["name"])
        return body
    return put(server, kind, body, written)
