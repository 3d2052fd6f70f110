"""`kubectl rollout history`: the revisions of a workload."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import FORMATS, object_printer, output_format
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import PRINT_FLAGS, Args, Flag, Verb
from env_core.kubectl.verbs.rollout._arguments import TARGET_FLAGS, targets, unhandled
from env_core.kubectl.verbs.rollout._history import KINDS, Revision, history, history_text
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    if args.number("revision") < 0:
        raise Failure(f"revision must be a positive integer: {args.number('revision')}")
    infos, errors = targets(ctx, args)
    failures: list[Exception] = []
    for info in infos:
        try:
            _show(ctx, args, info)
        except (Failure, StatusError) as failure:
            failures.append(failure)
    failures.extend(errors)
    raise_all(failures)
    return args.screen.done()


def _show(ctx: Context, args: Args, info: Info) -> None:
    pods.refuse_custom(info)
    if info.kind.kind not in KINDS:
        raise unhandled(info.kind, "history viewer")
    revisions = history(ctx, info)
    number = args.number("revision")
    if output_format(args):
        printer = object_printer(ctx, args, formats=FORMATS)
        shown = [revision for revision in revisions if number in (0, revision.number)]
        if number and not shown:
            raise Failure("unable to find the specified revision")
        for revision in shown:
            printer.print(_as_it_was(info, revision), args.screen)
        return
    text = history_text(info, revisions, number)
    where = f"with revision #{number}" if number > 0 else ""
    args.screen.out(f"{info.label} {where}\n{text}\n")


def _as_it_was(info: Info, revision: Revision) -> Object:
    """Return what shows a revision: a deployment's replica set, or the object itself with its template of then."""
    if info.kind.kind == "Deployment":
        return {**revision.holder, "apiVersion": "apps/v1", "kind": "ReplicaSet"}
    live = info.found()
    return {**live, "spec": {**live["spec"], "template": revision.template}}


VERB = Verb(
    name="history",
    usage="rollout history (TYPE NAME | TYPE/NAME) [flags]",
    summary="Lists the revisions of a workload.",
    flags=(*TARGET_FLAGS, *PRINT_FLAGS, Flag("revision", int, words="Show this revision's template.")),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/rollout rollout_history.go",
)
