"""`kubectl set serviceaccount`: the service account of a workload's pods."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import FILE_FLAGS, Args, Verb
from env_core.kubectl.verbs.set._updates import (
    SET_FLAGS,
    changes_of,
    check_local,
    send_changes,
    targets_of,
    with_pod_spec,
)
from env_core.kubectl.writes import result_printer_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    check_local(args, dry_run)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("serviceaccount updated")
    if not args.positional:
        raise Failure("serviceaccount is required")
    account = args.positional[-1]
    resources = () if args.is_set("local") else args.positional[:-1]
    infos = targets_of(ctx, args, resources)
    changes = changes_of(
        infos, lambda info: with_pod_spec(info, lambda spec: {**spec, "serviceAccountName": account})
    )
    send_changes(
        ctx, args, changes, printer, dry_run, "failed to patch ServiceAccountName ", [], sends_empty=True
    )
    return args.screen.done()


VERB = Verb(
    name="serviceaccount",
    usage="set serviceaccount (-f FILENAME | TYPE NAME) SERVICE_ACCOUNT",
    aliases=("sa",),
    summary="Changes the service account of pods.",
    flags=(*SET_FLAGS, *FILE_FLAGS),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/set set_serviceaccount.go",
)
