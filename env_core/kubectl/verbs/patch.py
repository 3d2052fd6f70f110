"""`kubectl patch`: fields of an object, by one of three kinds of patch."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from env_core.apiserver.schema import schema_for
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.manifest_targets import local_objects
from env_core.kubectl.manifests import _yaml_document
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import DRY_RUN, FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import SUBRESOURCE, options_of, result_printer_of
from env_core.objects.gojson import JsonSyntaxError, plain, read
from env_core.objects.jsonout import to_compact_json
from env_core.objects.patch_json import apply_json_patch
from env_core.objects.patch_merge import PatchError, apply_merge_patch
from env_core.objects.patch_strategic import apply_strategic_patch
from env_core.objects.problems import quoted
from env_core.world import Object, Output

_TYPES = {"json": JSON_PATCH, "merge": MERGE_PATCH, "strategic": STRATEGIC_PATCH}


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    _check(args, dry_run)
    content_type = _TYPES[args.text("type").lower() or "strategic"]
    text = _as_json(args, _patch_text(ctx, args))
    is_local = args.is_set("local")
    # The note of the dry run gets lost: the real command sets its printer up too early.
    result_printer_of(ctx, args)
    targets: list[tuple[Info | None, Object]]
    if is_local:
        objects, errors = local_objects(ctx, args)
        targets = [(None, obj) for obj in objects]
    else:
        selection = select(ctx, args, args.positional, is_served=True)
        infos, errors = _read(ctx, args, selection)
        targets = [(info, info.found()) for info in infos]
    failures: list[Exception] = []
    for info, obj in targets:
        try:
            if info is not None:
                info.check_name()
            if info is None or dry_run == "client":
                patched = _patched_here(obj, text, content_type)
            else:
                patched = _send(ctx, args, info, text, content_type, dry_run)
        except (Failure, StatusError) as error:
            failures.append(error)
            continue
        # Every object has a printer of its own: YAML documents stand without a line between them.
        printer = result_printer_of(ctx, args)
        printer("patched" if patched != obj else "patched (no change)").print(patched, args.screen)
    raise_all([*failures, *errors])
    if not targets:
        raise Failure("no objects passed to patch")
    return args.screen.done()


def _read(ctx: Context, args: Args, selection: Any) -> tuple[list[Info], list[Exception]]:
    subresource = args.text("subresource")
    if selection.is_from_files or not subresource:
        found: tuple[list[Info], list[Exception]] = selection.read(ctx)
        return found
    infos: list[Info] = []
    errors: list[Exception] = []
    for info in selection.infos:
        try:
            infos.append(info.fetch(ctx, subresource))
        except StatusError as error:
            errors.append(error)
    return infos, errors


def _check(args: Args, dry_run: str) -> None:
    if args.text("patch") and args.text("patch-file"):
        raise Failure("cannot specify --patch and --patch-file together")
    if not args.text("patch") and not args.text("patch-file"):
        raise Failure("must specify --patch or --patch-file containing the contents of the patch")
    if args.is_set("local") and args.positional:
        raise Failure("cannot specify --local and server resources")
    if args.is_set("local") and dry_run == "server":
        raise Failure("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")
    if args.text("type") and args.text("type").lower() not in _TYPES:
        raise Failure(f"--type must be one of [{' '.join(sorted(_TYPES))}], not {quoted(args.text('type'))}")


def _patch_text(ctx: Context, args: Args) -> str:
    path = args.text("patch-file")
    if not path:
        return args.text("patch")
    try:
        return ctx.files.read(path)
    except FileNotFoundError:
        raise Failure(f"unable to read patch file: open {path}: no such file or directory") from None


def _as_json(args: Args, text: str) -> str:
    """Return the patch as JSON: what starts with a brace is taken for it, the rest is YAML."""
    if text.lstrip().startswith("{"):
        return text
    try:
        return to_compact_json(_yaml_document(text, ""))
    except Failure as failure:
        why = failure.text.partition("error converting YAML to JSON: ")[2]
        raise Failure(f"unable to parse {quoted(args.text('patch'))}: {why}") from None


def _send(ctx: Context, args: Args, info: Info, text: str, content_type: str, dry_run: str) -> Object:
    kind = info.kind
    try:
        return ctx.api.patch(
            kind.resource,
            info.namespace,
            info.name,
            text,
            content_type,
            subresource=args.text("subresource"),
            options=options_of(args, dry_run),
        )
    except StatusError as error:
        if error.code == 415:
            name = (
                f"{kind.api_version}, Kind={kind.kind}"
                if kind.group
                else f"/{kind.version}, Kind={kind.kind}"
            )
            raise Failure(f"{content_type} is not supported by {name}: {error.message}") from None
        causes = (error.status.get("details") or {}).get("causes") or ()
        if error.code == 422 and causes and not any(cause.get("field") for cause in causes):
            # The server keeps the cause to itself.
            raise Failure(f"The request is invalid: {error.message}", is_bare=True) from None
        raise


def _patched_here(obj: Object, text: str, content_type: str) -> Object:
    """Return the object patched without the server."""
    try:
        patch = plain(read(text))
    except JsonSyntaxError as why:
        raise Failure(str(why) if content_type == JSON_PATCH else "invalid JSON document") from None
    try:
        if content_type == JSON_PATCH:
            patched: Object = apply_json_patch(obj, patch)
            return patched
        if patch is None and content_type != MERGE_PATCH:
            patch = {}
        if not isinstance(patch, dict):
            raise Failure("Invalid JSON Patch" if content_type == MERGE_PATCH else "invalid JSON document")
        if content_type == MERGE_PATCH:
            return apply_merge_patch(obj, patch)
        group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
        schema = schema_for(group, version, str(obj.get("kind", "")))
        if schema is None:
            name = f"{group}/{version}, Kind={obj.get('kind', '')}"
            raise Failure(f"strategic merge patch is not supported for {name} locally, try --type merge")
        return apply_strategic_patch(obj, patch, schema)
    except PatchError as error:
        raise Failure(_misfit(obj, patch) if content_type == JSON_PATCH else error.message) from None


def _misfit(obj: Object, operations: Any) -> str:
    """Return why a JSON patch does not fit: the text of the library, for the first operation that fails."""
    current: Any = obj
    for operation in operations if isinstance(operations, list) else ():
        try:
            current = apply_json_patch(current, [operation])
        except PatchError as error:
            verb, path = operation.get("op", ""), operation.get("path", "")
            key = path.rpartition("/")[2]
            if verb == "remove":
                return f"error in remove for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
            if verb == "replace":
                return f"replace operation does not apply: doc is missing key: {path}: missing value"
            if verb == "test":
                return f"testing value {path} failed: test failed"
            if verb == "add":
                return f'add operation does not apply: doc is missing path: "{path}": missing value'
            return error.message
    return "error decoding patch"


VERB = Verb(
    name="patch",
    usage="patch (-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]",
    summary="Changes fields of an object.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        DRY_RUN,
        SUBRESOURCE,
        field_manager("kubectl-patch"),
        Flag("local", bool, words="Patch the objects of -f, not the server's."),
        Flag("patch", str, shorthand="p", words="The patch, as JSON or YAML."),
        Flag("patch-file", str, words="File with the patch."),
        Flag("type", str, default="strategic", words="json, merge or strategic."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/patch",
)
