"""`kubectl config get-contexts`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.output.table import align
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import NO_HEADERS, Args, Flag, Verb
from env_core.kubectl.verbs.config._editing import config_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    chosen = args.text("output")
    if chosen not in ("", "name"):
        raise Failure(
            f"--output {chosen} is not available in kubectl config get-contexts; resetting to default output format"
        )
    config = config_of(ctx, args)
    known = config.contexts
    shown = sorted(name for name in args.positional or known if name in known)
    errors: list[Exception] = [
        Failure(f"context {name} not found") for name in args.positional if name not in known
    ]
    if chosen == "name":
        args.screen.out("".join(f"{name}\n" for name in shown))
    else:
        rows = []
        for name in shown:
            mark = "*" if name == config.current_context else " "
            rows.append([mark, name, *(known[name].get(key, "") for key in ("cluster", "user", "namespace"))])
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
