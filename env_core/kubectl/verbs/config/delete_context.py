"""`kubectl config delete-context`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.help import help_text
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import delete_entry
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) != 1:
        args.screen.out(help_text(args.verb, args.path))
        return args.screen.done()
    delete_entry(ctx, args, "contexts", "context", args.positional[0])
    return args.screen.done()


VERB = Verb(
    name="delete-context",
    usage="config delete-context NAME",
    summary="Removes a context.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config delete_context.go",
    needs_config=False,
)
