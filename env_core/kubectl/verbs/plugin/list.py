"""`kubectl plugin list`: there are none."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.world import Output


def _run(_ctx: Context, _args: Args) -> Output:
    raise Failure("error: unable to find any kubectl plugins in your PATH\n")


VERB = Verb(
    name="list",
    usage="plugin list [flags]",
    summary="Lists plugins on the PATH.",
    flags=(Flag("name-only", bool, words="Print names without paths."),),
    run=_run,
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/plugin",
)
