"""`kubectl apply set-last-applied`: the annotation of apply changed, the object not."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import MERGE_PATCH, Options
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.last_applied import LAST_APPLIED, original_text
from env_core.kubectl.manifest_targets import manifest_infos
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import DRY_RUN, PRINT_FLAGS, Args, Flag, Slice, Verb
from env_core.kubectl.writes import describe_target, result_printer_of, with_source
from env_core.objects.jsonout import to_compact_json
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run)
    infos, errors = manifest_infos(ctx, args, validation="Ignore")
    if errors:
        raise errors[0]
    changed: list[tuple[Info, str]] = []
    for info in infos:
        wanted = to_compact_json(info.found()) + "\n"
        try:
            live = info.fetch(ctx)
        except StatusError as error:
            if error.reason == "NotFound":
                raise
            doing = f"retrieving current configuration of:\n{describe_target(info)}\nfrom server for:"
            raise with_source(doing, info.source, error) from None
        kept = original_text(live.found())
        if kept is None and not args.is_set("create-annotation"):
            raise Failure(
                f"no last-applied-configuration annotation found on resource: {info.name}, "
                "to create the annotation, run the command with --create-annotation"
            )
        if kept is not None and kept.strip() == wanted.strip():
            args.screen.out(f"set-last-applied {info.name}: no changes required.\n")
        else:
            changed.append((live, wanted))
    for live, wanted in changed:
        obj = live.found()
        if dry_run != "client":
            obj = ctx.api.patch(
                live.kind.resource,
                live.namespace,
                live.name,
                {"metadata": {"annotations": {LAST_APPLIED: wanted}}},
                MERGE_PATCH,
                options=Options(dry_run=dry_run == "server"),
            )
        printer("configured").print(obj, args.screen)
    return args.screen.done()


VERB = Verb(
    name="set-last-applied",
    usage="apply set-last-applied -f FILENAME",
    summary="Changes what apply takes for last applied.",
    flags=(
        *PRINT_FLAGS,
        DRY_RUN,
        Flag("create-annotation", bool, words="Make the annotation if there is none."),
        Flag("filename", Slice, shorthand="f", words="File, directory or - that names the objects."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/apply apply_set_last_applied.go",
)
