"""`kubectl create clusterrolebinding`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.own_flags import with_own_flags
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, create_generated, name_argument
from env_core.kubectl.verbs.create._subjects import SUBJECT_FLAGS, binding, subjects_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    obj = binding(
        "ClusterRoleBinding", {"name": name}, "ClusterRole", args.text("clusterrole"), subjects_of(args)
    )
    return create_generated(
        ctx,
        args,
        "clusterrolebindings.rbac.authorization.k8s.io",
        obj,
        "failed to create clusterrolebinding: ",
        is_namespaced=False,
    )


VERB = Verb(
    name="clusterrolebinding",
    usage=(
        "create clusterrolebinding NAME --clusterrole=NAME [--user=username] [--group=groupname] "
        "[--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
    ),
    summary="Creates a cluster role binding.",
    flags=(
        *GENERATOR_FLAGS,
        *SUBJECT_FLAGS,
        Flag("clusterrole", str, is_required=True, words="Cluster role to bind to."),
    ),
    run=with_own_flags(_run),
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/create create_clusterrolebinding.go",
)
