"""`kubectl config set-context`: the namespace of the current context can be changed."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.config._kubeconfig import PATH, context_name
from env_core.objects.problems import quoted
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    words = args.positional
    if len(words) > 1:
        raise Failure(f"Unexpected args: [{' '.join(words)}]")
    name = words[0] if words else ""
    if args.is_set("current"):
        if name:
            raise Failure("you cannot specify both a context name and --current")
        name = context_name(ctx)
    if not name:
        raise Failure("you must specify a non-empty context name or --current")
    if name != context_name(ctx):
        raise Failure(f"open {PATH}.lock: permission denied")
    if args.text("cluster") not in ("", ctx.cluster) or args.text("user") not in ("", ctx.user):
        raise Failure(f"open {PATH}.lock: permission denied")
    if "namespace" in args.given:
        ctx.namespace = args.text("namespace") or "default"
    args.screen.out(f"Context {quoted(name)} modified.\n")
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
    unrecorded="Contexts, clusters and users cannot be added: the kubeconfig of the terminal is read-only.",
)
