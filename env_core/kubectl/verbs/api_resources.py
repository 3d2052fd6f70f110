"""`kubectl api-resources`: the types that the server has."""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.kind import Kind
from env_core.kubectl.context import Context
from env_core.kubectl.output.printing import object_printer, to_ordered_json, unknown_format
from env_core.kubectl.output.table import align
from env_core.kubectl.screen import Failure, usage_failure
from env_core.kubectl.verb import NO_HEADERS, Args, Flag, Slice, Verb
from env_core.rest.discovery import verbs_of
from env_core.world import Object, Output

_FORMATS = ("json", "kyaml", "name", "wide", "yaml")


def _run(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"unexpected arguments: [{' '.join(args.positional)}]")
    chosen, sort_by = args.text("output"), args.text("sort-by")
    if sort_by not in ("", "name", "kind"):
        raise Failure("--sort-by accepts only name or kind")
    if chosen not in ("", *_FORMATS):
        raise unknown_format(chosen, _FORMATS)
    kinds = [kind for kind in ctx.discovery.fresh().all() if _is_wanted(args, kind)]
    keys = {
        "": lambda kind: (kind.group, kind.plural),
        "name": lambda kind: kind.plural,
        "kind": lambda kind: kind.kind,
    }
    kinds.sort(key=lambda kind: (kind.group, kind.plural))
    kinds.sort(key=keys[sort_by])
    screen = args.screen
    if chosen == "name":
        screen.out("".join(f"{kind.resource}\n" for kind in kinds))
    elif chosen in ("json", "yaml", "kyaml"):
        listed = {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": "",
            "resources": [_resource(kind) for kind in kinds],
        }
        if chosen == "json":
            screen.out(to_ordered_json(listed))
        else:
            object_printer(ctx, args, chosen).print(listed, screen)
    else:
        screen.out(_table(kinds, is_wide=chosen == "wide", has_headers=not args.is_set("no-headers")))
    return screen.done()


def _is_wanted(args: Args, kind: Kind) -> bool:
    if "api-group" in args.given and kind.group != args.text("api-group"):
        return False
    if "namespaced" in args.given and kind.is_namespaced != args.is_set("namespaced"):
        return False
    if not set(args.items("verbs")) <= set(kind.verbs):
        return False
    return set(args.items("categories")) <= set(kind.categories)


def _table(kinds: Sequence[Kind], *, is_wide: bool, has_headers: bool) -> str:
    rows: list[list[str]] = []
    if has_headers:
        rows.append(["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"])
        if is_wide:
            rows[0] += ["VERBS", "CATEGORIES"]
    for kind in kinds:
        namespaced = "true" if kind.is_namespaced else "false"
        row = [kind.plural, ",".join(kind.short_names), kind.api_version, namespaced, kind.kind]
        if is_wide:
            row += [",".join(verbs_of(kind)), ",".join(kind.categories)]
        rows.append(row)
    return align(rows)


def _resource(kind: Kind) -> Object:
    found: Object = {
        "name": kind.plural,
        "singularName": kind.singular or kind.kind.lower(),
        "namespaced": kind.is_namespaced,
    }
    if kind.group:
        found["group"] = kind.group
    found |= {"version": kind.version, "kind": kind.kind, "verbs": verbs_of(kind)}
    if kind.short_names:
        found["shortNames"] = list(kind.short_names)
    if kind.categories:
        found["categories"] = list(kind.categories)
    return found


VERB = Verb(
    name="api-resources",
    usage="api-resources [flags]",
    summary="Lists the types that the server has.",
    flags=(
        NO_HEADERS,
        Flag("api-group", str, words="Only types of this group."),
        Flag("cached", bool, words="Use what is known already."),
        Flag("categories", Slice, words="Only types in these categories."),
        Flag("namespaced", bool, default=True, words="Only types that are, or are not, namespaced."),
        Flag("output", str, shorthand="o", words="json, yaml, kyaml, name or wide."),
        Flag("show-managed-fields", bool, words="Keep managedFields."),
        Flag("sort-by", str, words="name or kind."),
        Flag("verbs", Slice, words="Only types with these verbs."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/apiresources apiresources.go",
)
