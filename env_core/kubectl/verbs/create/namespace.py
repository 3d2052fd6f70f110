"""`kubectl create namespace`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS, create_generated, name_argument
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name_argument(args)}}
    return create_generated(ctx, args, "namespaces", obj, is_namespaced=False)


VERB = Verb(
    name="namespace",
    usage="create namespace NAME [--dry-run=server|client|none]",
    aliases=("ns",),
    summary="Creates a namespace.",
    flags=GENERATOR_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_namespace.go",
)
