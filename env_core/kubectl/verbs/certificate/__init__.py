"""`kubectl certificate`: the group of its sub-commands."""

from __future__ import annotations

import sys

from env_core.discovery import discover
from env_core.kubectl.context import Context
from env_core.kubectl.help import help_text
from env_core.kubectl.verb import Args, Verb
from env_core.world import Output


def _run(_ctx: Context, args: Args) -> Output:
    args.screen.out(help_text(args.verb, args.path))
    return args.screen.done()


VERB = Verb(
    name="certificate",
    usage="certificate SUBCOMMAND",
    summary="Approves or denies certificate signing requests.",
    subverbs={verb.name: verb for verb in discover(sys.modules[__name__], "VERB", Verb).values()},
    helps_on_stdout=True,
    run=_run,
    needs_config=False,
    source="k8s.io/kubectl pkg/cmd/certificates",
)
