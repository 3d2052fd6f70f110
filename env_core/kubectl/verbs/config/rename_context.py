"""`kubectl config rename-context`."""

from __future__ import annotations

from dataclasses import replace

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import config_of, unexpected
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) != 2:
        raise unexpected(args)
    old, new = args.positional
    if not new:
        raise Failure("You must specify a new non-empty context name")
    config = config_of(ctx, args)
    if old not in config.contexts:
        raise Failure(f"cannot rename the context {quoted(old)}, it's not in {ctx.kubeconfig_path}")
    if new in config.contexts:
        raise Failure(
            f"cannot rename the context {quoted(old)}, the context {quoted(new)} already exists in "
            f"{ctx.kubeconfig_path}"
        )
    renamed = config.with_entry("contexts", new, config.contexts[old]).with_entry("contexts", old, None)
    if config.current_context == old:
        renamed = replace(renamed, current_context=new)
    store(ctx, renamed)
    args.screen.out(f"Context {quoted(old)} renamed to {quoted(new)}.\n")
    return args.screen.done()


VERB = Verb(
    name="rename-context",
    usage="config rename-context CONTEXT_NAME NEW_NAME",
    summary="Renames a context.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config rename_context.go",
    needs_config=False,
)
