"""Writes to part of an object: its scale, and subresources with a strategy of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from env_core.apiserver import errors, patching, reading
from env_core.apiserver.admitting import admit_part
from env_core.apiserver.decoding import decode_body
from env_core.apiserver.deleting import ref_of, stored
from env_core.apiserver.kind import Kind, SubresourceWrite
from env_core.apiserver.managedfields.managers import Managed
from env_core.apiserver.replacing import check_name, refuse, replace, spec_changed, written_metadata
from env_core.apiserver.request import ApiRequest, ApiResponse
from env_core.apiserver.tracking import dry_run_answer, write_of
from env_core.objects.problems import Problem, quoted
from env_core.world import Object

if TYPE_CHECKING:
    from env_core.apiserver.server import ApiServer


def write_part(server: ApiServer, request: ApiRequest, kind: Kind, strategy: SubresourceWrite) -> ApiResponse:
    """Write through a subresource whose strategy says which part of the object may change."""
    old = reading.existing(server, request, kind)
    if request.verb == "patch":
        wanted, warnings = patching.apply(request, kind, old).object, tuple[str, ...]()
    else:
        wanted, warnings = decode_body(request, kind, request.body)
    check_name(wanted, request)
    metadata = wanted["metadata"]
    version = metadata.get("resourceVersion")
    if version and version != old["metadata"]["resourceVersion"]:
        raise errors.conflict(kind.group, kind.plural, request.name)
    if metadata is not old["metadata"]:
        wanted = {**wanted, "metadata": written_metadata(metadata, old["metadata"])}
    body = sent = strategy.prepare(kind.default(wanted), old)
    if kind.stamp_status is not None:
        body = kind.stamp_status(body, old, server.loop.now_ms)
    if body == old:
        return ApiResponse(200, old, warnings)
    if kind.has_generation and spec_changed(kind, body, old):
        generation = old["metadata"].get("generation", 0) + 1
        body = {**body, "metadata": {**body["metadata"], "generation": generation}}
    refuse(kind, body, strategy.validate(body, old))
    admit_part(server, request, kind, old, body)
    written = write_of(server, request, kind, sent)
    if request.options.dry_run:
        written.follow(server.store.written(kind.resource, request.namespace, request.name), old)
        return dry_run_answer(request, 200, body, warnings, written)
    server.space.take(server.store, request.identity, ref_of(kind, body), body)
    return ApiResponse(200, stored(server, kind, body, written), warnings)


def update_scale(
    server: ApiServer, request: ApiRequest, kind: Kind, scale: Object, managed: Managed | None = None
) -> ApiResponse:
    """Write the replicas of an object's scale, a Scale in normal form.

    `managed` are the object's managers after a server-side apply.
    """
    assert kind.scale is not None
    old = reading.existing(server, request, kind)
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    wanted_version = (scale.get("metadata") or {}).get("resourceVersion")
    if wanted_version and wanted_version != old["metadata"]["resourceVersion"]:
        raise errors.conflict(kind.group, kind.plural, request.name)
    if kind.scale.is_declared and replicas == reading.UNSET_REPLICAS:
        path = quoted("." + kind.scale.spec_replicas)
        raise errors.bad_request(f"the spec replicas field {path} cannot be empty")
    if replicas < 0 and not kind.scale.is_declared:
        problem = Problem(
            "FieldValueInvalid", "spec.replicas", str(replicas), "must be greater than or equal to 0"
        )
        raise errors.invalid("autoscaling", "Scale", request.name, [problem])
    body = _with_value(old, kind.scale.spec_replicas.split("."), replicas)
    done = replace(server, request, kind, old, body, managed=managed)
    return ApiResponse(200, reading.scale_of(kind, done.object))


def _with_value(obj: Object, path: list[str], value: Any) -> Object:
    """Return an object with a value in it, at a path."""
    first, *rest = path
    return {**obj, first: _with_value(obj.get(first) or {}, rest, value) if rest else value}
