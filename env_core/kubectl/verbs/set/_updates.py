"""What the sub-commands of `set` share: their objects, the pod spec inside, and sending what changed.

Source: k8s.io/kubectl pkg/cmd/set helper.go, pkg/polymorphichelpers updatepodspec.go;
tests/golden/l0/kubectl_commands, tests/golden/l2/kubectl/web.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.apiserver.schema import schema_for
from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.manifest_targets import local_objects
from env_core.kubectl.output.printing import Printer
from env_core.kubectl.resolve import MISSING_FILE, Info, info_of, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import DRY_RUN, PRINT_FLAGS, Args, Flag, field_manager
from env_core.kubectl.writes import as_typed, options_of
from env_core.objects.fieldpath import get_keys, replaced
from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_strategic import create_two_way_patch
from env_core.world import Object

LOCAL = Flag("local", bool, words="Change the objects of -f, not the server's.")
SET_FLAGS = (
    *PRINT_FLAGS,
    DRY_RUN,
    LOCAL,
    field_manager("kubectl-set"),
    Flag("all", bool, words="Select all objects of the types in the namespace."),
)
_TEMPLATES = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet", "ReplicationController", "Job"),
        ("spec", "template", "spec"),
    ),
}
_LOCAL_SERVER = "cannot specify --local and --dry-run=server - did you mean --dry-run=client?"


@dataclass(frozen=True, slots=True)
class Change:
    """An object before and after; `error` when it could not be changed, `after` None when it need not be."""

    info: Info
    before: Object
    after: Object | None = None
    error: Exception | None = None


def targets_of(ctx: Context, args: Args, words: Sequence[str]) -> list[Info]:
    """Return the objects that the command line means, as their Go types have them.

    Raises:
        Failure: for arguments that make no sense, and the first problem of an object.
        StatusError: when the server refuses.
    """
    if args.is_set("local"):
        if words:
            raise Failure(MISSING_FILE)
        objects, errors = local_objects(ctx, args)
        raise_all(errors)
        if not objects:
            raise Failure(MISSING_FILE)
        infos = [_local_info(ctx, args, obj) for obj in objects]
    else:
        selection = select(ctx, args, words, allows_no_selector=args.is_set("all"), is_typed=True)
        infos, errors = selection.load(ctx)
        raise_all(errors)
    for info in infos:
        pods.refuse_custom(info)
    return [Info(info.kind, info.namespace, info.name, as_typed(info.found()), info.source) for info in infos]


def _local_info(ctx: Context, args: Args, obj: Object) -> Info:
    """Return the info of an object of a file.

    Source: the answers of kubectl 1.37.1 to files with kinds that it does not know.

    Raises:
        Failure: for a kind that kubectl has no Go type for.
    """
    version, kind = obj.get("apiVersion"), obj.get("kind")
    path = args.items("filename")[0] if args.items("filename") else args.text("kustomize")
    source = "STDIN" if path == "-" else path
    if not version:
        raise Failure(
            f"unable to decode \"{source}\": Object 'apiVersion' is missing in '{to_compact_json(obj)}'"
        )
    if ctx.discovery.by_gvk(version, kind or "") is None:
        raise Failure(
            f'unable to decode "{source}": no kind "{kind}" is registered for version '
            f'"{version}" in scheme "pkg/scheme/scheme.go:28"'
        )
    return info_of(ctx, obj)


def check_local(args: Args, dry_run: str) -> None:
    """Refuse --local together with --dry-run=server.

    Raises:
        Failure: always in the same words.
    """
    if args.is_set("local") and dry_run == "server":
        raise Failure(_LOCAL_SERVER)


def pod_spec_path(info: Info) -> tuple[str, ...]:
    """Return where an object has its pod spec.

    Raises:
        Failure: for kinds without one.
    """
    path = _TEMPLATES.get(info.kind.kind)
    if path is None:
        raise Failure(f"the object is not a pod or does not have a pod template: {pods.go_type(info)}")
    return path


def with_pod_spec(info: Info, change: Callable[[Object], Object]) -> Object:
    """Return the object with its pod spec changed.

    Raises:
        Failure: for kinds without one.
    """
    obj = info.found()
    path = pod_spec_path(info)
    spec: Object = get_keys(obj, path, {})
    changed: Object = replaced(obj, *path, value=change(spec))
    return changed


def changes_of(infos: list[Info], change: Callable[[Info], Object | None]) -> list[Change]:
    """Return what `change` makes of every object; it returns None for nothing to do, or raises `Failure`."""
    found: list[Change] = []
    for info in infos:
        try:
            found.append(Change(info, info.found(), change(info)))
        except Failure as failure:
            found.append(Change(info, info.found(), None, failure))
    return found


def send_changes(
    ctx: Context,
    args: Args,
    changes: list[Change],
    printer: Printer,
    dry_run: str,
    failed: str,
    errors: list[Exception],
    *,
    sends_empty: bool = False,
) -> None:
    """Patch what changed and print it, going on after errors.

    Raises:
        Failure: the only error, or several of them; `failed` stands before a refusal of the server.
    """
    for change in changes:
        info = change.info
        if change.error is not None:
            assert isinstance(change.error, Failure)
            # Without a server, nothing says how the resource is called.
            name = f"{info.kind.kind.lower()}/{info.name}" if args.is_set("local") else info.slash
            errors.append(Failure(f"error: {name} {change.error.text}\n"))
            continue
        if change.after is None or (change.after == change.before and not sends_empty):
            continue
        if args.is_set("local") or dry_run == "client":
            printer.print(change.after, args.screen)
            continue
        try:
            actual = send_patch(ctx, args, info, change.before, change.after, dry_run)
        except StatusError as error:
            errors.append(Failure(failed + error.message))
            continue
        printer.print(as_typed(actual), args.screen)
    raise_all(errors)


def send_patch(ctx: Context, args: Args, info: Info, before: Object, after: Object, dry_run: str) -> Object:
    """Send the strategic patch from one object to the other.

    Raises:
        StatusError: when the server refuses it.
    """
    kind = info.kind
    schema = schema_for(kind.group, kind.version, kind.kind)
    assert schema is not None
    return ctx.api.patch(
        kind.resource,
        info.namespace,
        info.name,
        create_two_way_patch(before, after, schema),
        STRATEGIC_PATCH,
        options=options_of(args, dry_run),
    )


def is_selected(name: str, spec: str) -> bool:
    """Whether a container's name is meant by `-c`, which may have stars."""
    if spec == "*":
        return True
    if "*" not in spec:
        return name == spec
    position = 0
    parts = spec.split("*")
    for index, part in enumerate(parts):
        if not part:
            continue
        found = name[position:].find(part)
        if (
            found < position
            or (index == 0 and position)
            or (index == len(parts) - 1 and len(name) != len(part) + found)
        ):
            return False
        position = found
    return True


def with_containers(
    spec: Object, is_wanted: Callable[[Object], bool], change: Callable[[Object], Object]
) -> tuple[Object, int]:
    """Return the pod spec with the wanted containers changed, init containers too, and how many there were."""
    count = 0
    result = spec
    for part in ("containers", "initContainers"):
        items = spec.get(part)
        if not items:
            continue
        changed = []
        for container in items:
            if is_wanted(container):
                count += 1
                container = change(container)
            changed.append(container)
        result = {**result, part: changed}
    return result, count
