"""`kubectl label`: labels of objects."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.pairs import split_pairs
from env_core.kubectl.screen import Failure, raise_all
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
from env_core.objects import names
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    resources, pairs = split_pairs(args.positional, "label")
    wanted, removed = _read(pairs)
    if args.is_set("list") and args.text("output"):
        raise Failure("--list and --output may not be specified together")
    check_flags(args, resources, dry_run, "pod")
    if not wanted and not removed and not args.is_set("list"):
        raise Failure("at least one label update is required")
    result_printer_of(ctx, args, dry_run)
    targets = targets_of(ctx, args, resources)
    is_written = not (dry_run == "client" or args.is_set("local") or args.is_set("list"))

    def change(target: Target) -> None:
        old = (target.obj.get("metadata") or {}).get("labels") or {}
        if is_written:
            for key in removed:
                if key not in old:
                    args.screen.out(f"label {quoted(key)} not found.\n")
        if not args.is_set("overwrite"):
            raise_all(_overwritten(old, wanted))
        added = [key for key, value in wanted.items() if old.get(key) != value]
        gone = [key for key in removed if key in old]
        new = {key: value for key, value in {**old, **wanted}.items() if key not in gone}
        changed = with_map(target.obj, "labels", new)
        if is_written and (added or gone):
            assert target.info is not None
            send_map(ctx, args, target.info, "labels", old, new, dry_run)
        if args.is_set("list"):
            print_list(args, Target(changed, target.info), "labels", "labels", targets.is_single)
        else:
            # Every object has a printer of its own: YAML documents stand without a line between them.
            printer = result_printer_of(ctx, args, dry_run)
            printer(_operation(added, gone)).print(changed, args.screen)

    each(targets, change)
    return args.screen.done()


def _operation(added: list[str], removed: list[str]) -> str:
    if added and removed:
        return "modified"
    if added:
        return "labeled"
    return "unlabeled" if removed else "not labeled"


def _overwritten(old: dict[str, str], wanted: dict[str, str]) -> list[Exception]:
    return [
        Failure(f"'{key}' already has a value ({old[key]}), and --overwrite is false")
        for key, value in wanted.items()
        if key in old and old[key] != value
    ]


def _read(pairs: list[str]) -> tuple[dict[str, str], list[str]]:
    wanted: dict[str, str] = {}
    removed: list[str] = []
    for pair in pairs:
        if "=" in pair:
            parts = pair.split("=")
            if len(parts) != 2:
                raise Failure(f"invalid label spec: {pair}")
            complaints = names.is_valid_label_value(parts[1])
            if complaints:
                raise Failure(f"invalid label value: {quoted(pair)}: {';'.join(complaints)}")
            wanted[parts[0]] = parts[1]
        elif pair.endswith("-"):
            removed.append(pair[:-1])
        else:
            raise Failure(f"unknown label spec: {pair}")
    if any(key in wanted for key in removed):
        raise Failure("can not both modify and remove a label in the same command")
    return wanted, removed


VERB = Verb(
    name="label",
    usage="label [--overwrite] (-f FILENAME | TYPE NAME) KEY_1=VAL_1 ... KEY_N=VAL_N [--resource-version=version]",
    summary="Changes labels of objects.",
    flags=(*FLAGS, field_manager("kubectl-label")),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/label",
)
