"""`kubectl config delete-user`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import usage_failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.config._editing import delete_entry
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    if len(args.positional) != 1:
        raise usage_failure(args.path, "user to delete is required")
    delete_entry(ctx, args, "users", "user", args.positional[0])
    return args.screen.done()


VERB = Verb(
    name="delete-user",
    usage="config delete-user NAME",
    summary="Removes a user.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/config delete_user.go",
    needs_config=False,
)
