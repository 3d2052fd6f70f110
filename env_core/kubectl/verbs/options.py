"""`kubectl options`: the flags that every command has."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.help import options_text
from env_core.kubectl.verb import Args, Verb
from env_core.world import Output


def _run(_ctx: Context, args: Args) -> Output:
    args.screen.out(options_text())
    return args.screen.done()


VERB = Verb(
    name="options",
    usage="options",
    summary="Lists the flags of every command.",
    run=_run,
    source="k8s.io/kubectl pkg/cmd/options",
    helps=False,
    needs_config=False,
    unrecorded="The prose of the flags is our own.",
)
