"""`kubectl taint`: taints of nodes."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.apiserver.schema import schema_for
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.resolve import Info, kind_named, select
from env_core.kubectl.screen import Failure, Failures, raise_all, usage_failure
from env_core.kubectl.verb import DRY_RUN, PRINT_FLAGS, SELECTOR, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import (
    VALIDATE,
    as_typed,
    options_of,
    result_printer_of,
    validation_of,
)
from env_core.objects import names
from env_core.objects.patch_strategic import create_two_way_patch
from env_core.world import Object, Output

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    validation = validation_of(args)
    resources, specs = _split(args.positional)
    if not resources:
        raise Failure("one or more resources must be specified as <resource> <name>")
    if not specs:
        raise Failure("at least one taint update is required")
    try:
        added, removed = _read(specs)
    except Failure as failure:
        raise usage_failure(args.path, failure.text) from None
    _check(ctx, args, resources, added, removed)
    # The printer knows nothing of the dry run: the real command does not say either.
    printer = result_printer_of(ctx, args)
    errors: list[Exception] = []
    infos, read_errors = _nodes(ctx, args, resources)
    for info in infos:
        try:
            node = as_typed(info.found())
            operation, taints = _changed(args, node, added, removed)
            changed = _with_taints(node, taints)
            if dry_run != "client":
                schema = schema_for("", "v1", "Node")
                assert schema is not None
                patch = create_two_way_patch(node, changed, schema)
                options = options_of(args, dry_run, validation)
                changed = ctx.api.patch("nodes", "", info.name, patch, STRATEGIC_PATCH, options=options)
            printer(operation).print(changed, args.screen)
        except Failures as several:
            errors.extend(several.errors)
        except (Failure, StatusError) as error:
            errors.append(error)
    raise_all([*errors, *read_errors])
    return args.screen.done()


def _split(words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    resources: list[str] = []
    specs: list[str] = []
    for word in words:
        if "=" in word or ":" in word or word.endswith("-"):
            specs.append(word)
        elif specs:
            raise Failure(f"all resources must be specified before taint changes: {word}")
        else:
            resources.append(word)
    return resources, specs


def _nodes(ctx: Context, args: Args, resources: list[str]) -> tuple[list[Info], list[Exception]]:
    if args.text("selector") or args.is_set("all"):
        selection = select(ctx, args, ["node"], selects_all=args.is_set("all"))
    else:
        selection = select(ctx, args, ["node", *resources[1:]])
    return selection.load(ctx)


def _check(
    ctx: Context, args: Args, resources: list[str], added: list[Object], removed: list[Object]
) -> None:
    name = resources[0].lower()
    if kind_named(ctx, name).kind != "Node":
        raise Failure(f"invalid resource type {name}, only node types are supported")
    both = [
        f"{gone['key']}={gone['effect']}"
        for new in added
        for gone in removed
        if new["key"] == gone["key"] and gone["effect"] in ("", new["effect"])
    ]
    if both:
        raise Failure(
            f"can not both modify and remove the following taint(s) in the same command: {', '.join(both)}"
        )
    if args.is_set("all") and args.text("selector"):
        raise Failure("setting 'all' parameter with a non empty selector is prohibited")
    if not args.is_set("all") and not args.text("selector") and len(resources) < 2:
        raise Failure("at least one resource name must be specified since 'all' parameter is not set")


def _read(specs: list[str]) -> tuple[list[Object], list[Object]]:
    added: list[Object] = []
    removed: list[Object] = []
    for spec in specs:
        if spec.endswith("-"):
            taint = _taint(spec[:-1])
            removed.append({"key": taint["key"], "effect": taint["effect"]})
            continue
        taint = _taint(spec)
        if not taint["effect"]:
            raise Failure(f"invalid taint spec: {spec}")
        if any(taint["key"] == one["key"] and taint["effect"] == one["effect"] for one in added):
            shown = f"{{{taint['key']} {taint['value']} {taint['effect']} <nil>}}"
            raise Failure(f"duplicated taints with the same key and effect: {shown}")
        added.append(taint)
    return added, removed


def _taint(spec: str) -> Object:
    parts = spec.split(":")
    if len(parts) > 2:
        raise Failure(f"invalid taint spec: {spec}")
    key, value, effect = parts[0], "", ""
    if len(parts) == 2:
        effect = parts[1]
        if effect not in _EFFECTS:
            raise Failure(f"invalid taint effect: {effect}, unsupported taint effect")
        pair = parts[0].split("=")
        if len(pair) > 2:
            raise Failure(f"invalid taint spec: {spec}")
        key = pair[0]
        value = pair[1] if len(pair) == 2 else ""
        complaints = names.is_valid_label_value(value)
        if complaints:
            raise Failure(f"invalid taint spec: {spec}, {'; '.join(complaints)}")
    complaints = names.is_qualified_name(key)
    if complaints:
        raise Failure(f"invalid taint spec: {spec}, {'; '.join(complaints)}")
    return {"key": key, "value": value, "effect": effect}


def _changed(
    args: Args, node: Object, added: list[Object], removed: list[Object]
) -> tuple[str, list[Object]]:
    """Return what happens to the node's taints, and the taints after it."""
    old = (node.get("spec") or {}).get("taints") or []
    overwrites = args.is_set("overwrite")
    if not overwrites:
        present = [
            new["key"]
            for new in added
            for one in old
            if (new["key"], new["effect"]) == (one["key"], one["effect"])
        ]
        if present:
            raise Failure(
                f"node {node['metadata']['name']} already has {','.join(present)} taint(s) with same effect(s) "
                "and --overwrite is false"
            )
    taints = [_plain(new) for new in added]
    for one in old:
        if not any((one["key"], one["effect"]) == (taint["key"], taint["effect"]) for taint in taints):
            taints.append(one)
    has_added = len(old) != len(taints)
    has_removed = False
    missing: list[str] = []
    for gone in removed:
        kept = [
            taint
            for taint in taints
            if taint["key"] != gone["key"] or (gone["effect"] and taint["effect"] != gone["effect"])
        ]
        has_removed = len(kept) != len(taints)
        taints = kept
        if not has_removed:
            shown = f"{gone['key']}:{gone['effect']}" if gone["effect"] else gone["key"]
            missing.append(f'taint "{shown}" not found')
    if missing:
        raise Failures([Failure(text) for text in missing])
    if (has_added and has_removed) or overwrites:
        return "modified", taints
    return "tainted" if has_added else "untainted", taints


def _plain(taint: Object) -> Object:
    return {key: value for key, value in taint.items() if value}


def _with_taints(node: Object, taints: list[Object]) -> Object:
    spec = {key: value for key, value in (node.get("spec") or {}).items() if key != "taints"}
    if taints:
        spec["taints"] = taints
    return {**node, "spec": spec}


VERB = Verb(
    name="taint",
    usage="taint NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N",
    summary="Changes taints of nodes.",
    flags=(
        *PRINT_FLAGS,
        DRY_RUN,
        SELECTOR,
        VALIDATE,
        field_manager("kubectl-taint"),
        Flag("all", bool, words="Select all nodes."),
        Flag("overwrite", bool, words="Allow other values for taints that are there."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/taint",
)
