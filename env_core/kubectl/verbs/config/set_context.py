"""`kubectl config set-context`: makes a context, or changes one."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.kubeconfig import CONTEXT_FIELDS, store
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.config._editing import config_of, unexpected
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) > 1:
        raise unexpected(args)
    name = args.positional[0] if args.positional else ""
    if not name and not args.is_set("current"):
        raise Failure("you must specify a non-empty context name or --current")
    if name and args.is_set("current"):
        raise Failure("you cannot specify both a context name and --current")
    config = config_of(ctx, args)
    name = name or config.current_context
    if not name:
        raise Failure("no current context is set")
    before = config.contexts.get(name)
    changed = {field: args.text(field) for field in CONTEXT_FIELDS if field in args.given}
    store(ctx, config.with_entry("contexts", name, {**(before or {}), **changed}))
    args.screen.out(f"Context {quoted(name)} {'created' if before is None else 'modified'}.\n")
    return args.screen.done()


VERB = Verb(
    name="set-context",
    usage=(
        "config set-context [NAME | --current] [--cluster=cluster_nickname] [--user=user_nickname] "
        "[--namespace=namespace]"
    ),
    summary="Changes a context.",
    flags=(
        Flag("cluster", str, words="Cluster of the context."),
        Flag("current", bool, words="Change the current context."),
        Flag("namespace", str, shorthand="n", words="Namespace of the context."),
        Flag("user", str, words="User of the context."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config set_context.go",
    needs_config=False,
)
