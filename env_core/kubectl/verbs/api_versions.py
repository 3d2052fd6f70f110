"""`kubectl api-versions`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import usage_failure
from env_core.kubectl.verb import Args, Verb
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if args.positional:
        raise usage_failure(args.path, f"unexpected arguments: [{' '.join(args.positional)}]")
    for version in ctx.discovery.fresh().api_versions():
        args.screen.out(f"{version}\n")
    return args.screen.done()


VERB = Verb(
    name="api-versions",
    usage="api-versions",
    summary="Lists the API versions of the server.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/apiresources apiversions.go",
)
