"""`apply --server-side`: sending the configuration, and moving what client-side apply manages to the server's.

Source: k8s.io/kubectl pkg/cmd/apply apply.go; k8s.io/client-go util/csaupgrade.
"""

from __future__ import annotations

from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.managedfields.fieldset import from_fields_v1, has_path, to_fields_v1, union
from env_core.apiserver.managedfields.managers import APPLY, UPDATE
from env_core.apiserver.request import APPLY_PATCH, JSON_PATCH, Options
from env_core.kubectl.context import Context
from env_core.kubectl.last_applied import LAST_APPLIED, original_text
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args
from env_core.world import Object

FIELD_MANAGER = "kubectl"
_ANNOTATION_MANAGER = "kubectl-last-applied"
_ANNOTATION = ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")
_RETRIES = 5
_CONFLICT = (
    "Please review the fields above--they currently have other managers. Here\n"
    "are the ways you can resolve this warning:\n"
    "* If you intend to manage all of these fields, please re-run the apply\n"
    "  command with the `--force-conflicts` flag.\n"
    "* If you do not intend to manage all of the fields, please edit your\n"
    "  manifest to remove references to the fields that should keep their\n"
    "  current managers.\n"
    "* You may co-own fields by updating your manifest to match the existing\n"
    "  value; in this case, you'll become the manager if the other manager(s)\n"
    "  stop managing the field (remove it from their configuration).\n"
    "See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"
)
_NON_FATAL = "This is non-fatal and will be retried next time you apply."
_NOT_KEPT = f"Warning: failed to migrate {LAST_APPLIED} for Server-Side Apply. {_NON_FATAL} Error: {{}}\n"
_NOT_MIGRATED = (
    f"Warning: server rejected managed fields migration to Server-Side Apply. {_NON_FATAL} Error: {{}}\n"
)
_NOT_REAPPLIED = (
    "Warning: failed to re-apply configuration after performing Server-Side Apply migration. "
    f"{_NON_FATAL} Error: {{}}\n"
)


def field_manager_of(args: Args) -> str:
    """Return the manager that a server-side apply is made by."""
    return args.text("field-manager") if "field-manager" in args.given else FIELD_MANAGER


def apply_server_side(ctx: Context, args: Args, info: Info, dry_run: str, validation: str) -> Object:
    """Apply a configuration on the server and return the object.

    Raises:
        Failure: for conflicts, or a server that knows no apply.
        StatusError: when the server refuses.
    """
    options = Options(
        field_manager=field_manager_of(args),
        dry_run=dry_run == "server",
        field_validation=validation,
        force=args.is_set("force-conflicts"),
    )
    try:
        obj = _send(ctx, info, info.found(), APPLY_PATCH, options, args.text("subresource"))
    except StatusError as error:
        if error.code == 415:
            raise Failure(f"Server-side apply not available on the server: ({error.message})") from None
        if error.reason == "Conflict":
            raise Failure(f"{error.message}\n{_CONFLICT}") from None
        raise
    obj = _migrated(ctx, args, info, obj, options)
    if obj["metadata"].get("deletionTimestamp"):
        args.screen.err(
            f"Warning: Detected changes to resource {info.name} which is currently being deleted.\n"
        )
    return obj


def _send(
    ctx: Context, info: Info, body: Any, content_type: str, options: Options, subresource: str = ""
) -> Object:
    return ctx.api.patch(
        info.kind.resource,
        info.namespace,
        info.name,
        body,
        content_type,
        subresource=subresource,
        options=options,
    )


def _migrated(ctx: Context, args: Args, info: Info, obj: Object, options: Options) -> Object:
    manager = options.field_manager
    try:
        if manager == FIELD_MANAGER:
            obj = _keep_annotation(ctx, info, obj, options)
    except StatusError as error:
        args.screen.err(_NOT_KEPT.format(error.message))
        return obj
    try:
        moved = _move(ctx, info, obj, options)
    except StatusError as error:
        args.screen.err(_NOT_MIGRATED.format(error.message))
        return obj
    if moved is None:
        return obj
    try:
        # What the manager gave up can go now.
        return _send(ctx, info, info.found(), APPLY_PATCH, options)
    except StatusError as error:
        args.screen.err(_NOT_REAPPLIED.format(error.message))
        return moved


def _keep_annotation(ctx: Context, info: Info, obj: Object, options: Options) -> Object:
    """Let a manager of its own hold the annotation of client-side apply, which the server would drop otherwise."""
    text = original_text(obj)
    if text is None or _holders(_entries(obj), APPLY):
        return obj
    metadata = {"name": info.name, "annotations": {LAST_APPLIED: text}}
    if info.namespace:
        metadata["namespace"] = info.namespace
    config = {"apiVersion": info.kind.api_version, "kind": info.kind.kind, "metadata": metadata}
    own = Options(
        field_manager=_ANNOTATION_MANAGER, dry_run=options.dry_run, field_validation=options.field_validation
    )
    return _send(ctx, info, config, APPLY_PATCH, own)


def _move(ctx: Context, info: Info, obj: Object, options: Options) -> Object | None:
    """Give the server's apply what client-side apply holds; returns None when there is nothing."""
    names = sorted({entry.get("manager") or "" for entry in _holders(_entries(obj), UPDATE)})
    plain = Options(
        field_manager=options.field_manager,
        dry_run=options.dry_run,
        field_validation=options.field_validation,
    )
    tries = _RETRIES
    while True:
        entries = _entries(obj)
        moved = entries
        for name in names:
            moved = upgraded(moved, name, options.field_manager)
        if moved == entries:
            return None
        patch = [
            {"op": "replace", "path": "/metadata/managedFields", "value": moved},
            {
                "op": "replace",
                "path": "/metadata/resourceVersion",
                "value": obj["metadata"]["resourceVersion"],
            },
        ]
        try:
            return _send(ctx, info, patch, JSON_PATCH, plain)
        except StatusError as error:
            tries -= 1
            if error.reason != "Conflict" or not tries:
                raise
        obj = ctx.api.get(info.kind.resource, info.namespace, info.name)


def _entries(obj: Object) -> list[Object]:
    entries: list[Object] = obj["metadata"].get("managedFields") or []
    return entries


def _holders(entries: list[Object], operation: str) -> list[Object]:
    """Return the entries that hold the annotation of client-side apply."""
    return [
        entry
        for entry in entries
        if entry.get("operation") == operation
        and has_path(from_fields_v1(entry.get("fieldsV1") or {}), _ANNOTATION)
    ]


def upgraded(entries: list[Object], updater: str, applier: str) -> list[Object]:
    """Return managedFields with what `updater` holds by updates moved to what `applier` applied."""

    def is_of(entry: Object, name: str, operation: str) -> bool:
        return (entry.get("manager") or "", entry.get("operation"), entry.get("subresource") or "") == (
            name,
            operation,
            "",
        )

    at = next((index for index, entry in enumerate(entries) if is_of(entry, applier, APPLY)), None)
    target: Object
    if at is None:
        at = next((index for index, entry in enumerate(entries) if is_of(entry, updater, UPDATE)), None)
        if at is None:
            return entries
        target = {**entries[at], "operation": APPLY, "manager": applier}
    else:
        target = entries[at]
    rest = [entry for index, entry in enumerate(entries) if index != at]
    twin = next(
        (
            entry
            for entry in rest
            if is_of(entry, updater, UPDATE) and entry.get("apiVersion") == target.get("apiVersion")
        ),
        None,
    )
    if twin is not None:
        fields = union(
            from_fields_v1(target.get("fieldsV1") or {}), from_fields_v1(twin.get("fieldsV1") or {})
        )
        target = {**target, "fieldsV1": to_fields_v1(fields)}
    every = [target if index == at else entry for index, entry in enumerate(entries)]
    return [entry for entry in every if not is_of(entry, updater, UPDATE)]
