"""`kubectl set env`: environment variables of containers."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import FILE_FLAGS, SELECTOR, Args, Array, Flag, Slice, Verb
from env_core.kubectl.verbs.set._environment import (
    print_variables,
    read_changes,
    split_arguments,
    updated,
    variables_from,
)
from env_core.kubectl.verbs.set._updates import (
    SET_FLAGS,
    changes_of,
    check_local,
    is_selected,
    send_changes,
    targets_of,
    with_containers,
    with_pod_spec,
)
from env_core.kubectl.writes import result_printer_of
from env_core.objects.problems import quoted
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    if args.is_set("all") and args.text("selector"):
        raise Failure("cannot set --all and --selector at the same time")
    resources, specs = split_arguments(args.positional)
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("env updated")
    _check(args, resources, dry_run)
    variables, removed = read_changes((*args.items("env"), *specs), ctx.stdin)
    if args.text("from"):
        variables += variables_from(ctx, args)
    if args.text("prefix"):
        variables = [{**one, "name": args.text("prefix") + one["name"]} for one in variables]
    infos = targets_of(ctx, args, () if args.is_set("local") else resources)
    changes = changes_of(infos, lambda info: _changed(ctx, args, info, variables, removed))
    if args.is_set("list"):
        return args.screen.done()
    send_changes(ctx, args, changes, printer, dry_run, "failed to patch env update to pod template: ", [])
    return args.screen.done()


def _check(args: Args, resources: list[str], dry_run: str) -> None:
    check_local(args, dry_run)
    if not args.items("filename") and not resources:
        raise Failure("one or more resources must be specified as <resource> <name> or <resource>/<name>")
    if args.is_set("list") and args.text("output"):
        raise Failure("--list and --output may not be specified together")
    if args.items("keys") and not args.text("from"):
        raise Failure("when specifying --keys, a configmap or secret must be provided with --from")


def _changed(ctx: Context, args: Args, info: Info, variables: list[Object], removed: list[str]) -> Object:
    """Return the object with the variables set; --list prints them on the way."""
    selected = args.text("containers")
    is_resolved = True

    def change(container: Object) -> Object:
        nonlocal is_resolved
        old = container.get("env") or []
        if not args.is_set("overwrite"):
            _refuse_overwriting(old, variables)
        new = updated(old, variables, removed)
        changed = (
            {**container, "env": new}
            if new
            else {key: value for key, value in container.items() if key != "env"}
        )
        if args.is_set("list"):
            args.screen.out(f"# {info.kind.kind} {info.name}, container {container['name']}\n")
            if not print_variables(ctx, args.screen, info.found(), changed, resolves=args.is_set("resolve")):
                is_resolved = False
        return changed

    def update(spec: Object) -> Object:
        spec, count = with_containers(
            spec, lambda container: is_selected(container["name"], selected), change
        )
        if not count:
            args.screen.warn(
                f"{info.kind.kind}/{info.name} does not have any containers matching {quoted(selected)}"
            )
        return spec

    obj = with_pod_spec(info, update)
    if not is_resolved:
        raise Failure("failed to retrieve valueFrom references")
    return obj


def _refuse_overwriting(old: list[Object], new: list[Object]) -> None:
    for variable in new:
        for existing in old:
            if existing["name"] == variable["name"] and existing.get("value", "") != variable.get(
                "value", ""
            ):
                raise Failure(
                    f"'{variable['name']}' already has a value ({existing.get('value', '')}), and --overwrite is false"
                )


VERB = Verb(
    name="env",
    usage="set env RESOURCE/NAME KEY_1=VAL_1 ... KEY_N=VAL_N",
    summary="Changes environment variables of containers.",
    flags=(
        *SET_FLAGS,
        *FILE_FLAGS,
        SELECTOR,
        Flag("containers", str, shorthand="c", default="*", words="Containers to change; stars allowed."),
        Flag("env", Array, shorthand="e", words="KEY=VALUE or KEY-."),
        Flag("from", str, words="Config map or secret to take keys from."),
        Flag("keys", Slice, words="Keys to take with --from."),
        Flag("list", bool, words="Only show the variables."),
        Flag("overwrite", bool, default=True, words="Allow other values for what is there."),
        Flag("prefix", str, words="Text in front of the names."),
        Flag("resolve", bool, words="Show values of references."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/set set_env.go",
)
