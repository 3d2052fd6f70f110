"""From what was applied, what is wanted and what is live to the patch, and sending it.

Source: k8s.io/kubectl pkg/cmd/apply patcher.go; tests/golden/l2/flows/apply-client, apply-deploy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import MERGE_PATCH, STRATEGIC_PATCH, Options
from env_core.apiserver.schema import StructType, schema_for
from env_core.kubectl.context import Context
from env_core.kubectl.last_applied import original_text
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, Screen
from env_core.kubectl.writes import describe_target, error_message, unversioned, with_source
from env_core.objects import gojson
from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_merge import (
    PatchError,
    apply_merge_patch,
    create_three_way_json_merge_patch,
)
from env_core.objects.patch_strategic import apply_strategic_patch, changes_identity, create_three_way_patch
from env_core.world import Object

_RETRIES = 5


@dataclass(frozen=True, slots=True)
class Patched:
    """The patch that was made, as text, and the object after it."""

    text: str
    object: Object


def apply_patch(
    ctx: Context,
    screen: Screen,
    info: Info,
    modified: Object,
    options: Options | None,
    *,
    overwrite: bool = True,
    resource_version: str = "",
) -> Patched:
    """Patch the live object `info.obj` so that it is as `modified` says; without options only here, not there.

    Raises:
        Failure: when the patch cannot be made.
        StatusError: when the server refuses it, in the words of apply.
    """
    live = info.found()
    tries = _RETRIES
    while True:
        text = ""
        try:
            made = _make(screen, info, live, modified, overwrite=overwrite)
            text = to_compact_json(made.patch)
            if not made.patch:
                return Patched(text, live)
            if options is None:
                return Patched(text, made.applied(live))
            return Patched(text, _send(ctx, info, made, options, resource_version))
        except (Failure, StatusError) as error:
            if (
                isinstance(error, StatusError)
                and error.reason == "Conflict"
                and tries
                and not resource_version
            ):
                tries -= 1
                live = info.fetch(ctx).found()
                continue
            wrapped = error if options is None else with_source("patching", info.source, error)
            doing = f"applying patch:\n{text}\nto:\n{describe_target(info)}\nfor:"
            raise with_source(doing, info.source, wrapped) from None


@dataclass(frozen=True, slots=True)
class _Made:
    patch: Object
    schema: StructType | None

    def applied(self, live: Object) -> Object:
        if self.schema is None:
            return apply_merge_patch(live, self.patch)
        return apply_strategic_patch(live, self.patch, self.schema)


def _make(screen: Screen, info: Info, live: Object, modified: Object, *, overwrite: bool) -> _Made:
    kind = info.kind
    schema = schema_for(kind.group, kind.version, kind.kind)
    text = original_text(live) or ""
    try:
        original = _original(text, is_custom=schema is None)
        if schema is None:
            made = _Made(create_three_way_json_merge_patch(original, modified, live), None)
        else:
            made = _Made(
                create_three_way_patch(original, modified, live, schema, overwrite=overwrite), schema
            )
    except PatchError as error:
        if schema is not None:
            # The schemas of OpenAPI v3, then v2, are tried before the built-in types.
            screen.err(f"warning: error calculating patch from openapi v3 spec: {error.message}\n")
            screen.err(f"warning: error calculating patch from openapi spec: {error.message}\n")
        raise _failed(text, modified, live, error.message) from None
    if schema is None and changes_identity(made.patch):
        raise _failed(text, modified, live, "At least one of apiVersion, kind and name was changed")
    return made


def _original(text: str, *, is_custom: bool) -> Object | None:
    """Return what was last applied; anybody may have written the annotation.

    Raises:
        PatchError: when it is no JSON object; mergepatch.ErrBadJSONDoc, and json-patch's own for custom resources.
    """
    try:
        found = gojson.loads(text) if text else None
    except (ValueError, RecursionError):
        found = text
    if found is None or isinstance(found, dict):
        return found
    raise PatchError("Invalid JSON Document" if is_custom else "invalid JSON document")


def _failed(original: str, modified: Object, live: Object, why: str) -> Failure:
    return Failure(
        f"creating patch with:\noriginal:\n{original.rstrip(chr(10))}\nmodified:\n{to_compact_json(modified)}\n"
        f"current:\n{to_compact_json(live)}\nfor: {why}"
    )


def _send(ctx: Context, info: Info, made: _Made, options: Options, resource_version: str) -> Object:
    patch = made.patch
    if resource_version:
        metadata = {**(patch.get("metadata") or {}), "resourceVersion": resource_version}
        patch = {**patch, "metadata": metadata}
    content_type = MERGE_PATCH if made.schema is None else STRATEGIC_PATCH
    return ctx.api.patch(info.kind.resource, info.namespace, info.name, patch, content_type, options=options)


def force_replace(
    ctx: Context, info: Info, modified: Object, options: Options, delete: Options, timeout_ms: int
) -> Patched:
    """Delete the object, wait until it is gone, and create the wanted one (--force).

    Raises:
        StatusError: when the server refuses; the old object is put back if it can be.
    """
    resource, namespace, name = info.kind.resource, info.namespace, info.name
    ctx.api.call("delete", resource, namespace, name, options=delete)
    ctx.clock.advance_until(lambda: ctx.api.find(resource, namespace, name) is None, timeout_ms)
    try:
        created = ctx.api.create(resource, namespace, unversioned(modified), options=options)
    except StatusError as error:
        old = {key: value for key, value in info.found().items() if key != "status"}
        metadata = {
            key: value for key, value in old["metadata"].items() if key not in ("resourceVersion", "uid")
        }
        text = (
            "An error occurred force-replacing the existing object with the newly provided one:\n\n"
            f"{error_message(error)}."
        )
        try:
            ctx.api.create(resource, namespace, {**old, "metadata": metadata}, options=replace(options))
        except StatusError as second:
            text += f"\n\nAdditionally, an error occurred attempting to restore the original object:\n\n{second.message}"
            raise Failure(text) from None
        raise
    return Patched(to_compact_json(modified), created)
