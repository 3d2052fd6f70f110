"""`kubectl diff`: what apply would change."""

from __future__ import annotations

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import APPLY_PATCH, Options
from env_core.kubectl.command import error_text
from env_core.kubectl.context import Context
from env_core.kubectl.last_applied import configuration
from env_core.kubectl.manifest_targets import check_files_named, manifest_infos
from env_core.kubectl.output.printing import without_managed_fields
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, Failures, raise_all, usage_failure
from env_core.kubectl.unified_diff import unified_diff
from env_core.kubectl.verb import FILE_FLAGS, SELECTOR, Args, Array, Flag, Verb, field_manager
from env_core.kubectl.verbs.apply._patch import apply_patch
from env_core.kubectl.verbs.apply._server_side import field_manager_of
from env_core.kubectl.writes import unversioned
from env_core.objects.yamlout import to_yaml
from env_core.sim.timefmt import rfc3339_micro
from env_core.world import Object, Output

_MASK, _BEFORE, _AFTER = "***", "*** (before)", "*** (after)"


def _run(ctx: Context, args: Args) -> Output:
    try:
        return _compare(ctx, args)
    except (Failure, Failures, StatusError) as error:
        # Exit code 1 means differences, so errors have codes above it.
        text, exit_code = error_text(error)
        args.screen.err(text if text.endswith("\n") else text + "\n")
        return args.screen.done(exit_code + 1)


def _compare(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"Unexpected args: [{' '.join(args.positional)}]")
    check_files_named(args)
    if args.is_set("force-conflicts") and not args.is_set("server-side"):
        raise Failure("--force-conflicts only works with --server-side")
    infos, errors = manifest_infos(ctx, args, validation="Ignore", label_selector=args.text("selector"))
    # The files are visited one by one here: what fails is no list of errors, which would have no prefix.
    raise_all([Failure(each.text, each.exit_code) if isinstance(each, Failure) else each for each in errors])
    texts: list[tuple[str, str, str]] = []
    for info in infos:
        live, merged = _versions(ctx, args, info)
        if not args.is_set("show-managed-fields"):
            live = without_managed_fields(live) if live is not None else None
            merged = without_managed_fields(merged)
        if info.kind.resource == "secrets" and not args.is_set("show-secrets"):
            live, merged = _masked(live, merged)
        missing = ""
        if info.kind.resource == "secrets" and not args.is_set("show-secrets"):
            # Hiding the values of nothing leaves a null.
            missing = "null\n"
        texts.append((_file_name(info), missing if live is None else to_yaml(live), to_yaml(merged)))
        if merged["metadata"].get("deletionTimestamp"):
            args.screen.err(
                f"Warning: Detected changes to resource {info.name} which is currently being deleted.\n"
            )
    return args.screen.done(1 if _print(ctx, args, texts) else 0)


def _print(ctx: Context, args: Args, texts: list[tuple[str, str, str]]) -> bool:
    """Print the differences of all objects, sorted by file name, and return whether there are any."""
    now = rfc3339_micro(ctx.clock.now_ms)
    stamp = f"{now[:10]} {now[11:26]}000 +0000"
    number = str(ctx.clock.now_ms)[-10:]
    has_differences = False
    for name, old, new in sorted(texts):
        hunks = unified_diff(old, new)
        if not hunks:
            continue
        has_differences = True
        before, after = f"/tmp/LIVE-{number}/{name}", f"/tmp/MERGED-{number}/{name}"
        args.screen.out(f"diff -u -N {before} {after}\n--- {before}\t{stamp}\n+++ {after}\t{stamp}\n{hunks}")
    return has_differences


def _file_name(info: Info) -> str:
    kind = info.kind
    group = f"{kind.group}." if kind.group else ""
    return f"{group}{kind.version}.{kind.kind}.{info.namespace}.{info.name}"


def _versions(ctx: Context, args: Args, info: Info) -> tuple[Object | None, Object]:
    """Return the live object, None when there is none, and what apply would make of it."""
    options = Options(field_manager=args.text("field-manager"), dry_run=True)
    live: Info | None
    try:
        live = info.fetch(ctx)
    except StatusError as error:
        if error.code != 404:
            raise
        live = None
    resource, namespace = info.kind.resource, info.namespace
    if args.is_set("server-side"):
        return (None if live is None else live.found()), _applied(ctx, args, info)
    if live is None:
        return None, ctx.api.create(resource, namespace, unversioned(info.found()), options=options)
    version = live.found()["metadata"].get("resourceVersion", "")
    modified = configuration(info.found())
    patched = apply_patch(ctx, args.screen, live, modified, options, resource_version=version)
    return live.found(), patched.object


def _applied(ctx: Context, args: Args, info: Info) -> Object:
    manager = field_manager_of(args)
    options = Options(field_manager=manager, dry_run=True, force=args.is_set("force-conflicts"))
    return ctx.api.patch(
        info.kind.resource, info.namespace, info.name, info.found(), APPLY_PATCH, options=options
    )


def _masked(live: Object | None, merged: Object) -> tuple[Object | None, Object]:
    """Hide the values of secrets, telling only which differ."""
    old = dict((live or {}).get("data") or {})
    new = dict(merged.get("data") or {})
    changed = {key for key, value in old.items() if key in new and new[key] != value}
    old = {key: _BEFORE if key in changed else _MASK for key in old}
    new = {key: _AFTER if key in changed else _MASK for key in new}
    if live is not None and "data" in live:
        live = {**live, "data": old}
    if "data" in merged:
        merged = {**merged, "data": new}
    return live, merged


VERB = Verb(
    name="diff",
    usage="diff -f FILENAME",
    summary="Shows what apply would change.",
    flags=(
        *FILE_FLAGS,
        SELECTOR,
        field_manager("kubectl-client-side-apply"),
        Flag("concurrency", int, default=1, words="Objects compared at a time."),
        Flag("force-conflicts", bool, words="Take fields over from other managers."),
        Flag("prune", bool, words="Show what pruning would delete."),
        Flag("prune-allowlist", Array, words="Kinds that --prune looks through."),
        Flag("server-side", bool, words="Let the server merge the fields."),
        Flag("show-managed-fields", bool, words="Keep managedFields."),
        Flag("show-secrets", bool, words="Show values of secrets."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/diff",
)
