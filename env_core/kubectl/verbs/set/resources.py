"""`kubectl set resources`: requests and limits of containers."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import FILE_FLAGS, SELECTOR, Args, Flag, Verb
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
from env_core.objects import quantity
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("resource requirements updated")
    infos = targets_of(ctx, args, args.positional)
    check_local(args, dry_run)
    if args.is_set("all") and args.text("selector"):
        raise Failure("cannot set --all and --selector at the same time")
    if not args.text("limits") and not args.text("requests"):
        raise Failure("you must specify an update to requests or limits (in the form of --requests/--limits)")
    wanted = {"limits": _quantities(args.text("limits")), "requests": _quantities(args.text("requests"))}
    selected = args.text("containers")
    errors: list[Exception] = []

    def update(container: Object) -> Object:
        resources = container.get("resources") or {}
        for part, values in wanted.items():
            if values:
                resources = {**resources, part: {**(resources.get(part) or {}), **values}}
        return {**container, "resources": resources}

    def change(info: Info) -> Object | None:
        count = 0

        def update_spec(spec: Object) -> Object:
            nonlocal count
            spec, count = with_containers(
                spec, lambda container: is_selected(container["name"], selected), update
            )
            return spec

        changed = with_pod_spec(info, update_spec)
        if not count:
            errors.append(Failure(f"error: unable to find container named {selected}"))
            return None
        return changed

    changes = changes_of(infos, change)
    send_changes(
        ctx, args, changes, printer, dry_run, "failed to patch resources update to pod template ", errors
    )
    return args.screen.done()


def _quantities(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for term in text.split(",") if text else ():
        parts = term.split("=")
        if len(parts) != 2:
            raise Failure(f"invalid argument syntax {term}, expected <resource>=<value>")
        try:
            found[parts[0]] = str(quantity.parse(parts[1]))
        except ValueError as error:
            raise Failure(str(error)) from None
    return found


VERB = Verb(
    name="resources",
    usage="set resources (-f FILENAME | TYPE NAME)  ([--limits=LIMITS & --requests=REQUESTS]",
    summary="Changes requests and limits of containers.",
    flags=(
        *SET_FLAGS,
        *FILE_FLAGS,
        SELECTOR,
        Flag("containers", str, shorthand="c", default="*", words="Containers to change; stars allowed."),
        Flag("limits", str, words="RESOURCE=QUANTITY, separated by commas."),
        Flag("requests", str, words="RESOURCE=QUANTITY, separated by commas."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/set set_resources.go",
)
