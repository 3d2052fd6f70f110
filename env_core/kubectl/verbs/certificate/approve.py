"""`kubectl certificate approve`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.certificate._conditions import CERTIFICATE_FLAGS, run_condition
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    return run_condition(ctx, args, "Approved", "Denied", "approved")


VERB = Verb(
    name="approve",
    usage="certificate approve (-f FILENAME | NAME)",
    summary="Marks certificate signing requests as approved.",
    flags=CERTIFICATE_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/certificates",
)
