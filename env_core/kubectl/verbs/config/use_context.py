"""`kubectl config use-context`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.help import help_text
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._kubeconfig import context_name
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if len(words) != 1:
        args.screen.out(help_text(args.verb, args.path))
        raise Failure(f"Unexpected args: [{' '.join(words)}]")
    if words[0] != context_name(ctx):
        raise Failure(f"no context exists with the name: {quoted(words[0])}")
    args.screen.out(f"Switched to context {quoted(words[0])}.\n")
    return args.screen.done()


VERB = Verb(
    name="use-context",
    usage="config use-context CONTEXT_NAME",
    summary="Makes a context the current one.",
    aliases=("use",),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config use_context.go",
    needs_config=False,
)
