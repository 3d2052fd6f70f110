"""`kubectl create serviceaccount`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    metadata = metadata_of(ctx, name_argument(args))
    obj = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    return create_generated(ctx, args, "serviceaccounts", obj, "failed to create serviceaccount: ")


VERB = Verb(
    name="serviceaccount",
    usage="create serviceaccount NAME [--dry-run=server|client|none]",
    aliases=("sa",),
    summary="Creates a service account.",
    flags=GENERATOR_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_serviceaccount.go",
)
