"""`kubectl create`: objects from files, and generators of the usual ones."""

from __future__ import annotations

import sys

from env_core.apiserver.errors import StatusError
from env_core.discovery import discover
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.edit_session import CREATE, Session
from env_core.kubectl.editing import editor_of
from env_core.kubectl.last_applied import saved
from env_core.kubectl.manifest_targets import check_files_named, manifest_infos
from env_core.kubectl.raw import body_of, check, send
from env_core.kubectl.screen import Failure, raise_all, usage_failure
from env_core.kubectl.verb import (
    DRY_RUN,
    FILE_FLAGS,
    PRINT_FLAGS,
    SELECTOR,
    Args,
    Flag,
    Verb,
    field_manager,
)
from env_core.kubectl.writes import (
    SAVE_CONFIG,
    VALIDATE,
    options_of,
    result_printer_of,
    unversioned,
    validation_of,
    with_source,
)
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"Unexpected args: [{' '.join(args.positional)}]")
    dry_run = dry_run_of(ctx, args)
    validation = validation_of(args)
    printer = result_printer_of(ctx, args, dry_run)("created")
    check_files_named(args)
    if args.text("raw"):
        if args.is_set("edit"):
            raise Failure("--raw and --edit are mutually exclusive")
        if args.text("selector"):
            raise Failure("--raw and --selector (-l) are mutually exclusive")
        check(args, least_files=1)
        return send(ctx, args, "POST", body_of(ctx, args.items("filename")[0]))
    if args.is_set("edit"):
        return _edit(ctx, args, validation)
    infos, read_errors = manifest_infos(
        ctx, args, validation=validation, label_selector=args.text("selector")
    )
    options = options_of(args, dry_run, validation)
    errors: list[Exception] = []
    count = 0
    for info in infos:
        obj = saved(info.found(), is_wanted=args.is_set("save-config"))
        try:
            if dry_run != "client":
                obj = ctx.api.create(info.kind.resource, info.namespace, unversioned(obj), options=options)
            count += 1
            printer.print(obj, args.screen)
        except StatusError as error:
            errors.append(with_source("creating", info.source, error))
        except Failure as failure:
            errors.append(failure)
    raise_all([*errors, *read_errors])
    if not count:
        raise Failure("no objects passed to create")
    return args.screen.done()


def _edit(ctx: Context, args: Args, validation: str) -> Output:
    """Let every object be edited before it is created."""
    infos, errors = manifest_infos(ctx, args, validation="Ignore")
    editor = editor_of(ctx)
    failures: list[Exception] = []
    output = args.screen.done()
    for info in infos:
        session = Session(
            ctx,
            args,
            editor,
            CREATE,
            validation,
            lambda obj: (
                saved(obj, is_wanted=args.is_set("save-config")) if args.is_set("save-config") else obj
            ),
        )
        try:
            output = session.run([info])
        except (StatusError, Failure) as error:
            failures.append(error)
    raise_all([*failures, *errors])
    return output


VERB = Verb(
    name="create",
    usage="create -f FILENAME",
    summary="Creates objects from files, or of the usual kinds from flags.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        DRY_RUN,
        SAVE_CONFIG,
        SELECTOR,
        VALIDATE,
        field_manager("kubectl-create"),
        Flag("edit", bool, words="Open the objects in an editor first."),
        Flag("raw", str, words="Path to post to on the server."),
        Flag("windows-line-endings", bool, words="Write the edited file with CRLF."),
    ),
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create",
)
