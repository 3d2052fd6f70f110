"""What `label` and `annotate` share: their arguments, their objects, and the patch of one map of the metadata.

Source: k8s.io/kubectl pkg/cmd/label label.go, pkg/cmd/annotate annotate.go; tests/golden/l2/flows/label-annotate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import MERGE_PATCH
from env_core.kubectl.context import Context
from env_core.kubectl.manifest_targets import local_objects
from env_core.kubectl.resolve import Info, Selection, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import (
    ALL,
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    FILE_FLAGS,
    PRINT_FLAGS,
    SELECTOR,
    Args,
    Flag,
)
from env_core.kubectl.writes import options_of
from env_core.world import Object

FLAGS = (
    *PRINT_FLAGS,
    *FILE_FLAGS,
    ALL,
    ALL_NAMESPACES,
    DRY_RUN,
    FIELD_SELECTOR,
    SELECTOR,
    Flag("list", bool, words="Only show them."),
    Flag("local", bool, words="Change the objects of -f, not the server's."),
    Flag("overwrite", bool, words="Allow other values for what is there."),
    Flag("resource-version", str, words="Change the object only at this version."),
)


@dataclass(frozen=True, slots=True)
class Target:
    """One object to change; `info` is None with --local."""

    obj: Object
    info: Info | None


@dataclass(frozen=True, slots=True)
class Targets:
    """What the command line means, and what could not be had."""

    found: list[Target]
    is_single: bool
    errors: list[Exception]


def check_flags(args: Args, resources: list[str], dry_run: str, file_words: str) -> None:
    """Refuse flags that make no sense together.

    Raises:
        Failure: in the words of the verb; `file_words` is "pod" or "rsrc".
    """
    if args.is_set("all") and args.text("selector"):
        raise Failure("cannot set --all and --selector at the same time")
    if args.is_set("all") and args.text("field-selector"):
        raise Failure("cannot set --all and --field-selector at the same time")
    has_files = bool(args.items("filename") or args.text("kustomize"))
    if not args.is_set("local"):
        if not resources and not has_files:
            raise Failure("one or more resources must be specified as <resource> <name> or <resource>/<name>")
        return
    if dry_run == "server":
        raise Failure("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")
    if resources:
        raise Failure(
            f"can only use local files by -f {file_words}.yaml or --filename={file_words}.json when --local=true is set"
        )
    if not has_files:
        raise Failure(
            f"one or more files must be specified as -f {file_words}.yaml or --filename={file_words}.json"
        )


def targets_of(ctx: Context, args: Args, resources: list[str]) -> Targets:
    """Return the objects that the command line means.

    Raises:
        Failure: for arguments that make no sense.
    """
    if args.is_set("local"):
        objects, errors = local_objects(ctx, args)
        targets = Targets([Target(obj, None) for obj in objects], len(objects) == 1, errors)
    else:
        if args.is_set("all-namespaces"):
            ctx.is_namespace_explicit = False
        selection: Selection = select(ctx, args, resources, allows_no_selector=args.is_set("all"))
        infos, errors = selection.load(ctx)
        targets = Targets([Target(info.found(), info) for info in infos], selection.is_single, errors)
    if not targets.is_single and args.text("resource-version"):
        raise Failure("--resource-version may only be used with a single resource")
    return targets


def with_map(obj: Object, field: str, values: Mapping[str, str]) -> Object:
    """Return the object with another map of labels or annotations."""
    return {**obj, "metadata": {**(obj.get("metadata") or {}), field: dict(values)}}


def send_map(
    ctx: Context,
    args: Args,
    info: Info,
    field: str,
    old: Mapping[str, str],
    new: Mapping[str, str],
    dry_run: str,
) -> Object:
    """Patch labels or annotations on the server.

    Raises:
        StatusError: when it refuses.
    """
    changes: dict[str, str | None] = {key: None for key in old if key not in new}
    changes.update((key, value) for key, value in new.items() if old.get(key) != value)
    metadata: Object = {field: changes} if changes else {}
    if args.text("resource-version"):
        metadata["resourceVersion"] = args.text("resource-version")
    patch = {"metadata": metadata} if metadata else {}
    return ctx.api.patch(
        info.kind.resource,
        info.namespace,
        info.name,
        patch,
        MERGE_PATCH,
        options=options_of(args, dry_run),
    )


def print_list(args: Args, target: Target, what: str, field: str, is_single: bool) -> None:
    """Print the labels or annotations of one object."""
    indent = ""
    if not is_single:
        indent = " "
        version = str(target.obj.get("apiVersion", ""))
        group = version.rpartition("/")[0]
        name = (target.obj.get("metadata") or {}).get("name", "")
        args.screen.out(f"Listing {what} for {target.obj.get('kind', '')}.{group}/{name}:\n")
    for key, value in sorted(((target.obj.get("metadata") or {}).get(field) or {}).items()):
        args.screen.out(f"{indent}{key}={value}\n")


def each(targets: Targets, change: Callable[[Target], None]) -> None:
    """Do something with every object, going on after errors, and raise them in the end.

    Raises:
        Failure: the only error, and so on.
    """
    errors: list[Exception] = []
    for target in targets.found:
        try:
            change(target)
        except (Failure, StatusError) as error:
            errors.append(error)
    raise_all([*errors, *targets.errors])
