"""`kubectl replace`: whole objects by those of files."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.kubectl.cascade import CASCADE, cascade_of
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.last_applied import saved
from env_core.kubectl.manifest_targets import check_files_named, manifest_infos
from env_core.kubectl.output.printing import Printer
from env_core.kubectl.raw import body_of, check, send
from env_core.kubectl.resolve import Info, Selection
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    DRY_RUN,
    FILE_FLAGS,
    PRINT_FLAGS,
    Args,
    Duration,
    Flag,
    Verb,
    field_manager,
)
from env_core.kubectl.verbs.delete import Deletion, effective_grace
from env_core.kubectl.writes import (
    SAVE_CONFIG,
    SUBRESOURCE,
    VALIDATE,
    options_of,
    result_printer_of,
    unversioned,
    validation_of,
    with_source,
)
from env_core.world import Object, Output

_POLL_MS = 5 * 60 * 1000


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    validation = validation_of(args)
    printer = result_printer_of(ctx, args, dry_run)("replaced")
    cascade_of(args)
    check_files_named(args)
    is_forced = args.is_set("force")
    if args.number("grace-period") >= 0 and not is_forced:
        raise Failure("--grace-period must have --force specified")
    if args.number("timeout") and not is_forced:
        raise Failure("--timeout must have --force specified")
    if is_forced and dry_run:
        raise Failure("--dry-run can not be used when --force is set")
    if args.text("raw"):
        check(args, least_files=1)
        return send(ctx, args, "PUT", body_of(ctx, args.items("filename")[0]))
    if is_forced:
        return _force(ctx, args, printer, validation)
    infos, read_errors = manifest_infos(ctx, args, validation=validation)
    options = options_of(args, dry_run, validation)
    errors: list[Exception] = []
    for info in infos:
        obj = saved(info.found(), is_wanted=args.is_set("save-config"))
        try:
            if dry_run != "client":
                obj = _replaced(ctx, args, info, obj, options)
            printer.print(obj, args.screen)
        except (StatusError, Failure) as error:
            errors.append(with_source("replacing", info.source, error))
    raise_all([*errors, *read_errors])
    return args.screen.done()


def _replaced(ctx: Context, args: Args, info: Info, obj: Object, options: Options) -> Object:
    """Replace an object; without a resource version, the live one is put in (Helper.Replace with overwrite)."""
    subresource = args.text("subresource")
    metadata = obj.get("metadata") or {}
    info.check_name()
    if not metadata.get("resourceVersion"):
        try:
            live = ctx.api.get(info.kind.resource, info.namespace, info.name, subresource)
        except StatusError:
            # What is wrong is for the answer to the write to tell.
            live = {}
        if live:
            obj = {**obj, "metadata": {**metadata, "resourceVersion": live["metadata"]["resourceVersion"]}}
    return ctx.api.update(info.kind.resource, info.namespace, obj, subresource=subresource, options=options)


def _force(ctx: Context, args: Args, printer: Printer, validation: str) -> Output:
    infos, errors = manifest_infos(ctx, args, validation="Ignore")
    raise_all(errors)
    grace = args.number("grace-period")
    if grace == 0:
        grace = 1
    deletion = Deletion(
        ctx,
        args,
        policy=cascade_of(args),
        grace=effective_grace(grace, is_forced=False),
        dry_run="",
        ignores_missing=True,
        prints_names=args.text("output") == "name",
    )
    timeout_ms = args.number("timeout")
    named = tuple(Info(info.kind, info.namespace, info.name, None, info.source) for info in infos)
    deletion.run(Selection(infos=named), waits=args.is_set("wait") or grace >= 0, timeout_ms=timeout_ms)
    for info in infos:

        def is_gone(info: Info = info) -> bool:
            return ctx.api.find(info.kind.resource, info.namespace, info.name) is None

        if not is_gone() and not ctx.clock.advance_until(is_gone, timeout_ms or _POLL_MS):
            raise Failure("timed out waiting for the condition")
    infos, errors = manifest_infos(ctx, args, validation=validation)
    options = options_of(args, "", validation)
    failures: list[Exception] = []
    for info in infos:
        try:
            obj = saved(info.found(), is_wanted=args.is_set("save-config"))
            obj = ctx.api.create(info.kind.resource, info.namespace, unversioned(obj), options=options)
            printer.print(obj, args.screen)
        except (StatusError, Failure) as error:
            failures.append(error)
    raise_all([*failures, *errors])
    if not infos:
        raise Failure("no objects passed to replace")
    return args.screen.done()


VERB = Verb(
    name="replace",
    usage="replace -f FILENAME",
    summary="Replaces objects by those of files.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        CASCADE,
        DRY_RUN,
        SAVE_CONFIG,
        SUBRESOURCE,
        VALIDATE,
        field_manager("kubectl-replace"),
        Flag("force", bool, words="Delete the objects and create them again."),
        Flag("grace-period", int, default=-1, words="Seconds that a deleted object gets to end."),
        Flag("raw", str, words="Path to put to on the server."),
        Flag("timeout", Duration, default="0s", words="How long to wait for a deletion."),
        Flag("wait", bool, words="Wait until deleted objects are gone."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/replace",
)
