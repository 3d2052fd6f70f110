"""`kubectl config use-context`."""

from __future__ import annotations

from dataclasses import replace

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import config_of, only_word
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    name = only_word(args)
    if not name:
        raise Failure("empty context names are not allowed")
    config = config_of(ctx, args)
    if name not in config.contexts:
        raise Failure(f"no context exists with the name: {quoted(name)}")
    if name != config.current_context:
        store(ctx, replace(config, current_context=name))
    args.screen.out(f"Switched to context {quoted(name)}.\n")
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
