"""`kubectl config get-users`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import config_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    args.screen.out("".join(f"{name}\n" for name in ("NAME", *sorted(config_of(ctx, args).users))))
    return args.screen.done()


VERB = Verb(
    name="get-users",
    usage="config get-users [flags]",
    summary="Lists users.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config get_users.go",
    needs_config=False,
)
