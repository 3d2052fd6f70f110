"""`kubectl apply`: objects as manifests say, by a patch of what differs."""

from __future__ import annotations

import sys

from env_core.apiserver.errors import StatusError
from env_core.apiserver.kind import Kind
from env_core.apiserver.request import Options
from env_core.discovery import discover
from env_core.kubectl.cascade import CASCADE, cascade_of
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.klog import klog_line
from env_core.kubectl.last_applied import LAST_APPLIED, annotated, original_text
from env_core.kubectl.manifest_targets import check_files_named, manifest_infos
from env_core.kubectl.output.printing import output_format
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, raise_all, usage_failure
from env_core.kubectl.verb import (
    ALL,
    DRY_RUN,
    FILE_FLAGS,
    PRINT_FLAGS,
    SELECTOR,
    Args,
    Array,
    Duration,
    Flag,
    Verb,
    field_manager,
)
from env_core.kubectl.verbs.apply._patch import apply_patch, force_replace
from env_core.kubectl.verbs.apply._prune import prune, pruned_kinds
from env_core.kubectl.verbs.apply._server_side import apply_server_side
from env_core.kubectl.writes import (
    SUBRESOURCE,
    VALIDATE,
    describe_target,
    options_of,
    result_printer_of,
    unversioned,
    validation_of,
    with_source,
    without_nulls,
)
from env_core.world import Object, Output

_MISSING_ANNOTATION = (
    "Warning: resource {} is missing the {} annotation which is required by kubectl apply. kubectl apply should only "
    "be used on resources created declaratively by either kubectl create --save-config or kubectl apply. "
    "The missing annotation will be patched automatically.\n"
)
_ALL_PRUNED = (
    "all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. "
    "If you did not mean to prune all resources, specify a label selector"
)
_FORCE_TIMEOUT_MS = 5 * 60 * 1000


def _run(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"Unexpected args: [{' '.join(args.positional)}]")
    dry_run = dry_run_of(ctx, args)
    check_files_named(args)
    validation = validation_of(args)
    kinds = pruned_kinds(ctx, args.items("prune-allowlist")) if args.is_set("prune") else []
    _check_flags(args, dry_run)
    printer = result_printer_of(ctx, args, dry_run)
    infos, errors = manifest_infos(ctx, args, validation=validation, label_selector=args.text("selector"))
    if not infos and not errors:
        raise Failure("no objects passed to apply")
    prints_objects = output_format(args) not in ("", "name")
    applied: list[Object] = []
    for info in infos:
        try:
            operation, obj = _apply(ctx, args, info, dry_run, validation)
        except (Failure, StatusError) as error:
            errors.append(error)
            continue
        applied.append(obj)
        if not prints_objects:
            printer(operation).print(obj, args.screen)
    raise_all(errors)
    if prints_objects and applied:
        printer("").print(applied[0] if len(applied) == 1 else _listed(applied), args.screen)
    if kinds:
        _prune(ctx, args, kinds, infos, applied, dry_run)
    return args.screen.done()


def _listed(objects: list[Object]) -> Object:
    return {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {}}


def _check_flags(args: Args, dry_run: str) -> None:
    server_side = args.is_set("server-side")
    force = args.is_set("force")
    if args.is_set("force-conflicts") and not server_side:
        raise Failure("--force-conflicts only works with --server-side")
    if dry_run == "client" and server_side:
        raise Failure(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)"
        )
    if server_side and force:
        raise Failure("--force cannot be used with --server-side")
    if dry_run == "server" and force:
        raise Failure("--dry-run=server cannot be used with --force")
    if args.is_set("all") and args.text("selector"):
        raise Failure("cannot set --all and --selector at the same time")
    if args.is_set("prune"):
        if force:
            raise Failure("--force cannot be used with --prune")
        if not args.is_set("all") and not args.text("selector"):
            raise Failure(_ALL_PRUNED)
        if server_side:
            raise Failure(
                "--prune is in alpha and doesn't currently work on objects created by server-side apply"
            )
    if args.text("subresource") and not server_side:
        raise Failure("--subresource can only be specified for --server-side")


def _apply(ctx: Context, args: Args, info: Info, dry_run: str, validation: str) -> tuple[str, Object]:
    """Return what happened and the object, as the server has it or as it would be."""
    manifest = info.found()
    if not info.name:
        generated = (manifest.get("metadata") or {}).get("generateName")
        if generated:
            raise Failure(f"from {generated}: cannot use generate name with apply")
        raise with_source(
            "retrieving",
            "",
            Failure(
                f"error when retrieving current configuration of:\n{describe_target(info)}\n"
                f'from server for: "{info.source}": resource name may not be empty'
            ),
        )
    if args.is_set("server-side"):
        return "serverside-applied", apply_server_side(ctx, args, info, dry_run, validation)
    options = options_of(args, dry_run, validation)
    modified = annotated(manifest)
    try:
        live = info.fetch(ctx)
    except StatusError as error:
        if error.reason != "NotFound":
            doing = f"retrieving current configuration of:\n{describe_target(info)}\nfrom server for:"
            raise with_source(doing, info.source, error) from None
        return "created", _create(ctx, info, without_nulls(modified), options, dry_run)
    if original_text(live.found()) is None:
        args.screen.err(_MISSING_ANNOTATION.format(info.slash, LAST_APPLIED))
    try:
        patched = apply_patch(
            ctx,
            args.screen,
            live,
            modified,
            None if dry_run == "client" else options,
            overwrite=args.is_set("overwrite"),
        )
    except StatusError as error:
        if not (args.is_set("force") and error.reason in ("Conflict", "Invalid")):
            raise
        patched = force_replace(
            ctx, live, modified, options, _delete_options(args), args.number("timeout") or _FORCE_TIMEOUT_MS
        )
    if patched.object["metadata"].get("deletionTimestamp"):
        args.screen.err(
            f"Warning: Detected changes to resource {info.name} which is currently being deleted.\n"
        )
    return "unchanged" if patched.text == "{}" else "configured", patched.object


def _create(ctx: Context, info: Info, obj: Object, options: Options, dry_run: str) -> Object:
    if dry_run == "client":
        return obj
    try:
        return ctx.api.create(info.kind.resource, info.namespace, unversioned(obj), options=options)
    except StatusError as error:
        raise with_source("creating", info.source, error) from None


def _delete_options(args: Args) -> Options:
    grace = args.number("grace-period")
    return Options(propagation_policy=cascade_of(args), grace_period_seconds=grace if grace >= 0 else None)


_PRUNED_WIDELY = (
    "Deprecated: kubectl apply will no longer prune non-namespaced resources by default when used with the --namespace "
    "flag in a future release. To preserve the current behaviour, list the resources you want to target explicitly in "
    "the --prune-allowlist flag."
)


def _prune(
    ctx: Context, args: Args, kinds: list[Kind], infos: list[Info], applied: list[Object], dry_run: str
) -> None:
    if not args.items("prune-allowlist"):
        args.screen.err(klog_line(ctx, "W", "prune.go:71", _PRUNED_WIDELY))
    namespaces = {ctx.namespace: None} if ctx.is_namespace_explicit else {}
    namespaces |= {info.namespace: None for info in infos if info.kind.is_namespaced}
    visited = frozenset(obj["metadata"].get("uid", "") for obj in applied)
    options = None
    if dry_run != "client":
        grace = args.number("grace-period")
        options = Options(
            propagation_policy=cascade_of(args),
            grace_period_seconds=grace if grace >= 0 else None,
            dry_run=dry_run == "server",
        )
    prune(
        ctx,
        args.screen,
        kinds,
        list(namespaces),
        visited,
        args.text("selector"),
        options,
        result_printer_of(ctx, args, dry_run),
    )


VERB = Verb(
    name="apply",
    usage="apply (-f FILENAME | -k DIRECTORY)",
    summary="Makes objects as manifests say.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        ALL,
        CASCADE,
        DRY_RUN,
        SELECTOR,
        SUBRESOURCE,
        VALIDATE,
        field_manager("kubectl-client-side-apply"),
        Flag("force", bool, words="Delete and create again what cannot be patched."),
        Flag("force-conflicts", bool, words="Take fields over from other managers."),
        Flag("grace-period", int, default=-1, words="Seconds that a deleted object gets to end."),
        Flag("openapi-patch", bool, default=True, words="Use the server's schemas for the patch."),
        Flag("overwrite", bool, default=True, words="Overwrite what others changed."),
        Flag("prune", bool, words="Delete what was applied before and is not here."),
        Flag("prune-allowlist", Array, words="Kinds that --prune looks through."),
        Flag("server-side", bool, words="Let the server merge the fields."),
        Flag("timeout", Duration, default="0s", words="How long to wait for a deletion."),
        Flag("wait", bool, words="Wait until deleted objects are gone."),
    ),
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    run=_run,
    source="k8s.io/kubectl pkg/cmd/apply",
)
