"""`kubectl uncordon`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.verb import DRY_RUN, SELECTOR, Args, Verb
from env_core.kubectl.verbs._nodes import run_cordon
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    return run_cordon(ctx, args, dry_run_of(ctx, args), is_wanted=False)


VERB = Verb(
    name="uncordon",
    usage="uncordon NODE",
    summary="Lets new pods come to a node again.",
    flags=(DRY_RUN, SELECTOR),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/drain",
)
