"""`kubectl set subject`: more subjects for role bindings."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.own_flags import with_own_flags
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import FILE_FLAGS, SELECTOR, Args, Array, Flag, Verb
from env_core.kubectl.verbs.set._updates import (
    SET_FLAGS,
    changes_of,
    check_local,
    send_changes,
    targets_of,
)
from env_core.kubectl.writes import result_printer_of
from env_core.world import Object, Output

_RBAC = "rbac.authorization.k8s.io"


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("subjects updated")
    infos = targets_of(ctx, args, args.positional)
    check_local(args, dry_run)
    if args.is_set("all") and args.text("selector"):
        raise Failure("cannot set --all and --selector at the same time")
    if not any(args.items(flag) for flag in ("user", "group", "serviceaccount")):
        raise Failure("you must specify at least one value of user, group or serviceaccount")
    subjects = _subjects(ctx, args, infos)

    def change(info: Info) -> Object | None:
        if info.kind.kind not in ("RoleBinding", "ClusterRoleBinding"):
            raise Failure("setting subjects is only supported for RoleBinding/ClusterRoleBinding")
        obj = info.found()
        old = obj.get("subjects") or []
        new = [subject for subject in subjects if subject not in old]
        return {**obj, "subjects": [*old, *new]} if new else None

    changes = changes_of(infos, change)
    send_changes(ctx, args, changes, printer, dry_run, "failed to patch subjects to rolebinding: ", [])
    return args.screen.done()


def _subjects(ctx: Context, args: Args, infos: list[Info]) -> list[Object]:
    found: list[Object] = [
        {"kind": "User", "apiGroup": _RBAC, "name": user} for user in sorted(set(args.items("user")))
    ]
    found += [
        {"kind": "Group", "apiGroup": _RBAC, "name": group} for group in sorted(set(args.items("group")))
    ]
    for account in sorted(set(args.items("serviceaccount"))):
        parts = account.split(":")
        if len(parts) != 2 or not parts[1]:
            raise Failure("serviceaccount must be <namespace>:<name>")
        if not parts[0] and any(info.kind.kind == "ClusterRoleBinding" for info in infos):
            raise Failure("serviceaccount must be <namespace>:<name>, namespace must be specified")
        found.append({"kind": "ServiceAccount", "namespace": parts[0] or ctx.namespace, "name": parts[1]})
    return found


VERB = Verb(
    name="subject",
    usage=(
        "set subject (-f FILENAME | TYPE NAME) [--user=username] [--group=groupname] "
        "[--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
    ),
    summary="Adds subjects to role bindings.",
    flags=(
        *SET_FLAGS,
        *FILE_FLAGS,
        SELECTOR,
        Flag("group", Array, words="Group to bind."),
        Flag("serviceaccount", Array, words="NAMESPACE:NAME to bind."),
        Flag("user", Array, words="User to bind."),
    ),
    run=with_own_flags(_run),
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/set set_subject.go",
)
