"""`kubectl set selector`: the selector of a service."""

from __future__ import annotations

from dataclasses import replace

from env_core.apiserver.errors import StatusError
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import FILE_FLAGS, Args, Flag, Verb
from env_core.kubectl.verbs.set._updates import SET_FLAGS, send_patch, targets_of
from env_core.kubectl.writes import as_typed, result_printer_of
from env_core.objects import selectors
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    if not args.positional:
        raise Failure("one selector is required")
    try:
        selector = selectors.to_label_selector(args.positional[-1])
    except selectors.SelectorError as error:
        raise Failure(str(error)) from None
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("selector updated")
    errors: list[Exception] = []
    for info in targets_of(ctx, args, args.positional[:-1]):
        obj = info.found()
        try:
            if info.kind.kind != "Service":
                raise Failure("setting a selector is only supported for Services")
            if selector.get("matchExpressions"):
                raise Failure(f"match expression {_shown(selector)} not supported on this object")
            changed: Object = {**obj, "spec": {**obj["spec"], "selector": selector.get("matchLabels") or {}}}
            if args.text("resource-version"):
                metadata = {**changed["metadata"], "resourceVersion": args.text("resource-version")}
                changed = {**changed, "metadata": metadata}
            if not (args.is_set("local") or dry_run == "client"):
                changed = as_typed(send_patch(ctx, args, info, obj, changed, dry_run))
            printer.print(changed, args.screen)
        except (Failure, StatusError) as error:
            errors.append(error)
    raise_all(errors)
    return args.screen.done()


def _shown(selector: Object) -> str:
    """Return the expressions as Go prints them with %v: `[{a In [b]}]`."""
    shown = [
        f"{{{item['key']} {item['operator']} [{' '.join(item.get('values') or ())}]}}"
        for item in selector["matchExpressions"]
    ]
    return f"[{' '.join(shown)}]"


VERB = Verb(
    name="selector",
    usage="set selector (-f FILENAME | TYPE NAME) EXPRESSIONS [--resource-version=version]",
    summary="Changes the selector of a service.",
    flags=(
        *SET_FLAGS,
        *(
            replace(flag, default=True) if flag.name == "recursive" else flag
            for flag in FILE_FLAGS
            if flag.name != "kustomize"
        ),
        Flag("resource-version", str, words="Change the object only at this version."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/set set_selector.go",
)
