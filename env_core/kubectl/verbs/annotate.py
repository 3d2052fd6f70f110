"""`kubectl annotate`: annotations of objects."""

from __future__ import annotations

from dataclasses import replace

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.pairs import read_pairs, split_pairs
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb, field_manager
from env_core.kubectl.verbs._labelling import (
    FLAGS,
    Target,
    check_flags,
    each,
    print_list,
    send_map,
    targets_of,
    with_map,
)
from env_core.kubectl.writes import result_printer_of
from env_core.world import Output

_CHANGE_CAUSE = "kubernetes.io/change-cause"


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    resources, pairs = split_pairs(args.positional, "annotation")
    wanted, removed = read_pairs(pairs, "annotation", allows_removal=True)
    if args.is_set("list") and args.text("output"):
        raise Failure("--list and --output may not be specified together")
    check_flags(args, resources, dry_run, "rsrc")
    if not wanted and not removed and not args.is_set("list"):
        raise Failure("at least one annotation update is required")
    both = [key for key in removed if key in wanted]
    if both:
        raise Failure(
            f"can not both modify and remove the following annotation(s) in the same command: {', '.join(both)}"
        )
    printer = result_printer_of(ctx, args, dry_run)("annotated")
    targets = targets_of(ctx, args, resources)

    def change(target: Target) -> None:
        old = (target.obj.get("metadata") or {}).get("annotations") or {}
        if not args.is_set("overwrite"):
            taken = [
                f"'{key}' already has a value ({old[key]})"
                for key, value in wanted.items()
                if key != _CHANGE_CAUSE and key in old and old[key] != value
            ]
            if taken:
                raise Failure(
                    f"--overwrite is false but found the following declared annotation(s): {'; '.join(taken)}"
                )
        new = {key: value for key, value in {**old, **wanted}.items() if key not in removed}
        changed = with_map(target.obj, "annotations", new)
        if not (dry_run == "client" or args.is_set("local") or args.is_set("list")):
            assert target.info is not None
            changed = send_map(ctx, args, target.info, "annotations", old, new, dry_run)
        if args.is_set("list"):
            print_list(args, Target(changed, target.info), "annotations", "annotations", targets.is_single)
        else:
            printer.print(changed, args.screen)

    each(targets, change)
    return args.screen.done()


VERB = Verb(
    name="annotate",
    usage="annotate [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]",
    summary="Changes annotations of objects.",
    flags=(
        *(replace(flag, default=True) if flag.name == "recursive" else flag for flag in FLAGS),
        field_manager("kubectl-annotate"),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/annotate",
)
