"""`kubectl scale`: another number of replicas."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError, resource_unknown
from env_core.apiserver.request import MERGE_PATCH
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    ALL,
    DRY_RUN,
    FILE_FLAGS,
    PRINT_FLAGS,
    SELECTOR,
    Args,
    Duration,
    Flag,
    Verb,
)
from env_core.kubectl.writes import options_of, result_printer_of
from env_core.world import Output

_MISSING = "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run)("scaled")
    replicas = args.number("replicas")
    if replicas < 0:
        raise Failure(_MISSING)
    if args.number("current-replicas") < -1:
        raise Failure("The --current-replicas must specify an integer of -1 or greater")
    if args.is_set("all") and args.text("selector"):
        raise Failure("cannot set --all and --selector at the same time")
    infos, errors = select(ctx, args, args.positional, allows_no_selector=args.is_set("all")).read(ctx)
    if args.text("resource-version") and len(infos) > 1:
        raise Failure("cannot use --resource-version with multiple resources")
    if not infos:
        raise_all(errors)
        raise Failure("no objects passed to scale")
    for info in infos:
        obj = info.found()
        if dry_run != "client":
            _scale(ctx, args, info, replicas, dry_run)
        # What is printed is the object that was read, with the new number.
        shown = {**obj, "spec": {**(obj.get("spec") or {}), "replicas": replicas}}
        printer.print(shown, args.screen)
    raise_all(errors)
    return args.screen.done()


def _scale(ctx: Context, args: Args, info: Info, replicas: int, dry_run: str) -> None:
    """Scale one object, with its preconditions, and wait for it with --timeout.

    Raises:
        Failure: when a precondition fails or the replicas do not come in time.
        StatusError: when the server refuses.
    """
    kind = info.kind
    if "scale" not in kind.subresources:
        raise resource_unknown()
    current, version = args.number("current-replicas"), args.text("resource-version")
    patch: dict[str, object] = {"spec": {"replicas": replicas}}
    if current != -1 or version:
        scale = ctx.api.get(kind.resource, info.namespace, info.name, "scale")
        found = (scale.get("spec") or {}).get("replicas", 0)
        if current != -1 and found != current:
            raise Failure(f"Expected replicas to be {current}, was {found}")
        if version and scale["metadata"].get("resourceVersion") != version:
            raise Failure(
                f"Expected resource version to be {version}, was {scale['metadata'].get('resourceVersion')}"
            )
        patch["metadata"] = {"resourceVersion": scale["metadata"].get("resourceVersion")}
    ctx.api.patch(
        kind.resource,
        info.namespace,
        info.name,
        patch,
        MERGE_PATCH,
        subresource="scale",
        options=options_of(args, dry_run),
    )
    timeout_ms = args.number("timeout")
    if timeout_ms and not dry_run:

        def has_scaled() -> bool:
            try:
                scale = ctx.api.get(kind.resource, info.namespace, info.name, "scale")
            except StatusError:
                return False
            return bool((scale.get("status") or {}).get("replicas") == replicas)

        if not has_scaled() and not ctx.clock.advance_until(has_scaled, timeout_ms):
            raise Failure(f'timed out waiting for "{info.name}" to be synced')


VERB = Verb(
    name="scale",
    usage=(
        "scale [--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)"
    ),
    summary="Changes the number of replicas.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        ALL,
        DRY_RUN,
        SELECTOR,
        Flag("current-replicas", int, default=-1, words="Scale only from this number."),
        Flag("replicas", int, is_required=True, words="The number wanted."),
        Flag("resource-version", str, words="Scale only at this version."),
        Flag("timeout", Duration, default="0s", words="How long to wait for the replicas."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/scale",
)
