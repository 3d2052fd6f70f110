"""`kubectl config get-contexts`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.output.table import align
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import NO_HEADERS, Args, Flag, Verb
from env_core.kubectl.verbs.config._kubeconfig import context_name
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    chosen = args.text("output")
    if chosen not in ("", "name"):
        raise Failure(
            f"--output {chosen} is not available in kubectl config get-contexts; resetting to default output format"
        )
    known = context_name(ctx)
    wanted = args.positional or (known,)
    errors: list[Exception] = [Failure(f"context {name} not found") for name in wanted if name != known]
    if chosen == "name":
        args.screen.out("".join(f"{name}\n" for name in wanted if name == known))
    else:
        rows = [["*", known, ctx.cluster, ctx.user, ctx.namespace] for name in wanted if name == known]
        if not args.is_set("no-headers"):
            rows.insert(0, ["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"])
        args.screen.out(align(rows))
    raise_all(errors)
    return args.screen.done()


VERB = Verb(
    name="get-contexts",
    usage="config get-contexts [(-o|--output=)name)]",
    summary="Lists contexts.",
    flags=(NO_HEADERS, Flag("output", str, shorthand="o", words="name, for names only.")),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config get_contexts.go",
    needs_config=False,
)
