"""Delete: preconditions, finalizers, grace, and what goes with the write that frees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from env_core.apiserver import errors, reading
from env_core.apiserver.admitting import admit_validating, attributes_of
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import ApiRequest, ApiResponse, Options
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


NAMESPACES = "namespaces"
ANSWERED_WHOLE = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "podtemplates",
        "resourcequotas",
        "serviceaccounts",
        "services",
    }
)
"""Resources whose deletion answers the object; that of others answers a Status. Source: the recorded OpenAPI documents."""


def delete(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Delete an object, at once or gracefully, as its kind, finalizers and the options say."""
    old = reading.existing(server, request, kind)
    options = request.options
    metadata = old["metadata"]
    _check_preconditions(kind, metadata, options)
    admit_validating(server, attributes_of(server, request, kind, "DELETE", None, old), None)
    finalizers = _deletion_finalizers(metadata.get("finalizers", []), options.propagation_policy)
    grace = _grace(kind, old, options)
    holds_namespace = kind.resource == NAMESPACES and bool((old.get("spec") or {}).get("finalizers"))
    if not finalizers and grace == 0 and not holds_namespace:
        if not options.dry_run:
            server.store.remove(kind.resource, metadata.get("namespace", ""), request.name)
        if kind.resource not in ANSWERED_WHOLE:
            return ApiResponse(200, _deleted_status(kind, old))
        return ApiResponse(200, old if kind.grace is None else _marked(server, kind, old, finalizers, 0))
    marked = _marked(server, kind, old, finalizers, grace)
    if marked is not old:
        if kind.resource == NAMESPACES:
            marked = {**marked, "status": {**marked.get("status", {}), "phase": "Terminating"}}
        if not options.dry_run:
            marked = server.store.put(kind.resource, marked)
    return ApiResponse(200, marked)


def _check_preconditions(kind: Kind, metadata: Object, options: Options) -> None:
    """Refuse to delete another object than the one that is meant. Source: k8s.io/apiserver pkg/registry/rest/delete.go."""
    for field, given, found, guess in (
        ("UID", options.precondition_uid, metadata["uid"], "deleted and then recreated"),
        (
            "ResourceVersion",
            options.precondition_resource_version,
            metadata["resourceVersion"],
            "modified",
        ),
    ):
        if given and given != found:
            why = (
                f"the {field} in the precondition ({given}) does not match the {field} in record ({found}). "
                f"The object might have been {guess}"
            )
            raise errors.conflict(kind.group, kind.kind, metadata["name"], why)


def delete_collection(server: ApiServer, request: ApiRequest, kind: Kind) -> ApiResponse:
    """Delete every object that a list would return."""
    listed = reading.listed(server, request, kind).object
    for item in listed["items"]:
        metadata = item["metadata"]
        one = ApiRequest(
            verb="delete", resource=request.resource, namespace=metadata.get("namespace", ""), name=metadata["name"],
            identity=request.identity, options=Options(propagation_policy=request.options.propagation_policy, grace_period_seconds=request.options.grace_period_seconds),
        )  # fmt: skip
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
        if kind.resource != NAMESPACES:
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


def stored(server: ApiServer, kind: Kind, body: Object) -> Object:
    """Store a new version; what was waiting for it to go, goes."""
    stored = server.store.put(kind.resource, body)
    if is_finished(body):
        metadata = body["metadata"]
        return server.store.remove(kind.resource, metadata.get("namespace", ""), metadata["name"]) or stored
    return stored
