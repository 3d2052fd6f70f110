"""`kubectl rollout undo`: back to an earlier revision."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.output.printing import result_printer
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import DRY_RUN, PRINT_FLAGS, Args, Flag, Verb
from env_core.kubectl.verbs.rollout._arguments import TARGET_FLAGS, targets, unhandled
from env_core.kubectl.verbs.rollout._history import KINDS, LAST_APPLIED, roll_back
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    infos, errors = targets(ctx, args)
    failures: list[Exception] = []
    for info in infos:
        try:
            pods.refuse_custom(info)
            obj = info.found()
            if LAST_APPLIED in (obj["metadata"].get("annotations") or {}):
                args.screen.err(
                    f"Warning: resource {info.slash} was previously managed with 'kubectl apply'. Rolling back will "
                    "not update the kubectl.kubernetes.io/last-applied-configuration annotation, which may cause "
                    "unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with "
                    "your previous configuration file instead.\n"
                )
            if info.kind.kind not in KINDS:
                raise unhandled(info.kind, "rollbacker")
            result = roll_back(ctx, info, args.number("to-revision"), dry_run)
            result_printer(ctx, args, result, dry_run).print(obj, args.screen)
        except (Failure, StatusError) as failure:
            failures.append(failure)
    failures.extend(errors)
    raise_all(failures)
    return args.screen.done()


VERB = Verb(
    name="undo",
    usage="rollout undo (TYPE NAME | TYPE/NAME) [flags]",
    summary="Goes back to an earlier revision.",
    flags=(
        *TARGET_FLAGS,
        *PRINT_FLAGS,
        DRY_RUN,
        Flag("to-revision", int, words="The revision; 0 is the one before."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/rollout rollout_undo.go",
)
