"""`kubectl create rolebinding`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.own_flags import with_own_flags
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.kubectl.verbs.create._subjects import SUBJECT_FLAGS, binding, subjects_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    role, cluster_role = args.text("role"), args.text("clusterrole")
    if bool(role) == bool(cluster_role):
        raise Failure("exactly one of clusterrole or role must be specified")
    role_kind = "Role" if role else "ClusterRole"
    obj = binding("RoleBinding", metadata_of(ctx, name), role_kind, role or cluster_role, subjects_of(args))
    return create_generated(
        ctx, args, "rolebindings.rbac.authorization.k8s.io", obj, "failed to create rolebinding: "
    )


VERB = Verb(
    name="rolebinding",
    usage=(
        "create rolebinding NAME --clusterrole=NAME|--role=NAME [--user=username] [--group=groupname] "
        "[--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
    ),
    summary="Creates a role binding.",
    flags=(
        *GENERATOR_FLAGS,
        *SUBJECT_FLAGS,
        Flag("clusterrole", str, words="Cluster role to bind to."),
        Flag("role", str, words="Role to bind to."),
    ),
    run=with_own_flags(_run),
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/create create_rolebinding.go",
)
