"""`kubectl config current-context`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import config_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    current = config_of(ctx, args).current_context
    if not current:
        raise Failure("current-context is not set")
    args.screen.out(f"{current}\n")
    return args.screen.done()


VERB = Verb(
    name="current-context",
    usage="config current-context [flags]",
    summary="Names the current context.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config current_context.go",
    needs_config=False,
)
