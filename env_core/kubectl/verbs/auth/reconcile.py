"""`kubectl auth reconcile`: roles and bindings made to grant at least what manifests say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from env_core.apiserver.authz import missing_rules
from env_core.apiserver.errors import StatusError
from env_core.apiserver.request import Options
from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.manifest_targets import check_files_named, local_objects
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import DRY_RUN, FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb
from env_core.kubectl.writes import as_typed, result_printer_of
from env_core.objects.jsonout import to_compact_json
from env_core.world import Object, Output

_AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_GROUP = "rbac.authorization.k8s.io"


@dataclass(slots=True)
class _Result:
    """The object as it should be, what that takes, and what was missing or too much."""

    obj: Object
    operation: str = "none"
    is_protected: bool = False
    missing: list[Object] = field(default_factory=list)
    extra: list[Object] = field(default_factory=list)


def _run(ctx: Context, args: Args) -> Output:
    check_files_named(args)
    if args.positional:
        raise Failure("no arguments are allowed")
    dry_run = dry_run_of(ctx, args)
    if dry_run == "server":
        raise Failure("--dry-run=server for command reconcile is not supported yet")
    objects, errors = local_objects(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("reconciled")
    for obj in objects:
        if not obj.get("apiVersion"):
            path = args.items("filename")[0] if args.items("filename") else args.text("kustomize")
            source = "STDIN" if path == "-" else path
            raise Failure(
                f"unable to decode \"{source}\": Object 'apiVersion' is missing in '{to_compact_json(obj)}'"
            )
        kind = ctx.discovery.by_gvk(obj.get("apiVersion", ""), obj.get("kind", ""))
        if kind is None or kind.group != _GROUP:
            continue
        metadata = obj.get("metadata") or {}
        # Nothing asks the server where such objects live: those without a namespace have none.
        info = Info(kind, metadata.get("namespace") or "", metadata.get("name") or "", obj)
        is_role = info.kind.kind in ("Role", "ClusterRole")
        if kind.is_namespaced and not info.namespace and not dry_run:
            errors.append(Failure("resource name may not be empty"))
            continue
        try:
            result = _reconciled(ctx, args, info, is_role=is_role, is_dry=bool(dry_run))
        except StatusError as error:
            errors.append(error)
            continue
        printer.print(result.obj, args.screen)
        _explain(args, result, is_role=is_role)
    raise_all(errors)
    return args.screen.done()


def _reconciled(ctx: Context, args: Args, info: Info, *, is_role: bool, is_dry: bool) -> _Result:
    """Compare with what is there and write what is missing.

    Raises:
        StatusError: when the server refuses.
    """
    wanted = as_typed(info.found())
    existing = None
    if info.namespace or not info.kind.is_namespaced:
        existing = ctx.api.find(info.kind.resource, info.namespace, info.name)
    listed = "rules" if is_role else "subjects"
    if existing is None:
        result = _Result(wanted, "create", missing=wanted.get(listed) or [])
    elif is_role:
        result = _role(existing, wanted, removes=args.is_set("remove-extra-permissions"))
    else:
        result = _binding(existing, wanted, removes=args.is_set("remove-extra-subjects"))
    if not (is_dry or result.is_protected):
        result.obj = _write(ctx, info, result, existing)
    return result


def _write(ctx: Context, info: Info, result: _Result, existing: Object | None) -> Object:
    resource, namespace = info.kind.resource, info.namespace
    if result.operation == "update":
        return ctx.api.update(resource, namespace, result.obj)
    if result.operation == "recreate" and existing is not None:
        uid = existing["metadata"].get("uid", "")
        ctx.api.delete(resource, namespace, info.name, Options(precondition_uid=uid))
    if result.operation in ("create", "recreate"):
        if namespace and ctx.api.find("namespaces", "", namespace) is None:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            ctx.api.create("namespaces", "", body)
        return ctx.api.create(resource, namespace, result.obj)
    return result.obj


def _merged(existing: Object, wanted: Object) -> _Result:
    """Return what is there with the labels and annotations that it lacks."""
    metadata = existing["metadata"]
    result = _Result(existing, is_protected=(metadata.get("annotations") or {}).get(_AUTO_UPDATE) == "false")
    for part in ("annotations", "labels"):
        before = metadata.get(part) or {}
        after = {**(wanted["metadata"].get(part) or {}), **before}
        if after != before:
            metadata = {**metadata, part: after}
            result.operation = "update"
    result.obj = {**existing, "metadata": metadata}
    return result


def _role(existing: Object, wanted: Object, *, removes: bool) -> _Result:
    result = _merged(existing, wanted)
    before, after = existing.get("rules") or [], wanted.get("rules") or []
    if wanted.get("aggregationRule") is None or existing.get("aggregationRule") is None:
        result.extra = missing_rules(after, before)
    result.missing = missing_rules(before, after)
    _join(result, "rules", before, after, removes=removes)
    _aggregate(result, existing.get("aggregationRule"), wanted.get("aggregationRule"), removes=removes)
    return result


def _aggregate(result: _Result, existing: Object | None, wanted: Object | None, *, removes: bool) -> None:
    before = (existing or {}).get("clusterRoleSelectors") or []
    after = (wanted or {}).get("clusterRoleSelectors") or []
    missing = [selector for selector in after if selector not in before]
    extra = [selector for selector in before if selector not in after] if wanted is not None else []
    if wanted is None and existing is not None:
        result.obj = {key: value for key, value in result.obj.items() if key != "aggregationRule"}
    elif not removes and missing:
        result.obj = {**result.obj, "aggregationRule": {"clusterRoleSelectors": [*before, *missing]}}
    elif removes and (missing or extra):
        result.obj = {**result.obj, "aggregationRule": wanted}
    else:
        return
    result.operation = "update"


def _binding(existing: Object, wanted: Object, *, removes: bool) -> _Result:
    if wanted.get("roleRef") != existing.get("roleRef"):
        protected = (existing["metadata"].get("annotations") or {}).get(_AUTO_UPDATE) == "false"
        return _Result(wanted, "recreate", protected)
    result = _merged(existing, wanted)
    before, after = existing.get("subjects") or [], wanted.get("subjects") or []
    result.missing = _only_in_first(after, before)
    result.extra = _only_in_first(before, after)
    _join(result, "subjects", before, after, removes=removes)
    return result


def _only_in_first(first: list[Object], second: list[Object]) -> list[Object]:
    found: list[Object] = []
    for item in first:
        if item not in second and item not in found:
            found.append(item)
    return found


def _join(result: _Result, part: str, before: list[Object], after: list[Object], *, removes: bool) -> None:
    """Put the list that should be there into the result: both together, or only what is wanted."""
    if not removes and result.missing:
        result.obj = {**result.obj, part: [*before, *result.missing]}
    elif removes and (result.missing or result.extra):
        result.obj = {**result.obj, part: after}
    else:
        return
    result.operation = "update"


def _explain(args: Args, result: _Result, *, is_role: bool) -> None:
    if result.operation == "none":
        return
    caveat = f", but object opted out ({_AUTO_UPDATE}: false)" if result.is_protected else ""
    lines = [f"\treconciliation required {result.operation}{caveat}\n"]
    what, flag, text_of = _ROLE_WORDS if is_role else _BINDING_WORDS
    if result.missing:
        lines += [f"\tmissing {what} added:\n", *(f"\t\t{text_of(item)}\n" for item in result.missing)]
    if args.is_set(flag) and result.extra:
        lines += [f"\textra {what} removed:\n", *(f"\t\t{text_of(item)}\n" for item in result.extra)]
    args.screen.err("".join(lines))


def _rule_text(rule: Object) -> str:
    """Return a rule as Go prints the struct."""
    parts = (
        ("Verbs", "verbs"),
        ("APIGroups", "apiGroups"),
        ("Resources", "resources"),
        ("ResourceNames", "resourceNames"),
        ("NonResourceURLs", "nonResourceURLs"),
    )
    return "{" + " ".join(f"{name}:[{' '.join(rule.get(key) or ())}]" for name, key in parts) + "}"


def _subject_text(subject: Object) -> str:
    parts = (("Kind", "kind"), ("APIGroup", "apiGroup"), ("Name", "name"), ("Namespace", "namespace"))
    return "{" + " ".join(f"{name}:{subject.get(key) or ''}" for name, key in parts) + "}"


_Words = tuple[str, str, Callable[[Object], str]]
_ROLE_WORDS: _Words = ("rules", "remove-extra-permissions", _rule_text)
_BINDING_WORDS: _Words = ("subjects", "remove-extra-subjects", _subject_text)

VERB = Verb(
    name="reconcile",
    usage="auth reconcile -f FILENAME",
    summary="Makes roles and bindings grant what manifests say.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        DRY_RUN,
        Flag("remove-extra-permissions", bool, words="Take away other permissions of roles."),
        Flag("remove-extra-subjects", bool, words="Take away other subjects of bindings."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/auth reconcile.go; k8s.io/component-helpers auth/rbac/reconciliation",
    unrecorded="no recording shows it",
)
