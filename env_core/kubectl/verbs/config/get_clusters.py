"""`kubectl config get-clusters`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    args.screen.out(f"NAME\n{ctx.cluster}\n")
    return args.screen.done()


VERB = Verb(
    name="get-clusters",
    usage="config get-clusters",
    summary="Lists clusters.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config get_clusters.go",
    needs_config=False,
)
