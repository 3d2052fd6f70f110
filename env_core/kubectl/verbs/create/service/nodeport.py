"""`kubectl create service nodeport`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS
from env_core.kubectl.verbs.create.service._service import TCP, run_service
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    return run_service(ctx, args, "NodePort")


VERB = Verb(
    name="nodeport",
    usage="create service nodeport NAME [--tcp=port:targetPort] [--dry-run=server|client|none]",
    summary="Creates a NodePort service.",
    flags=(*GENERATOR_FLAGS, TCP, Flag("node-port", int, words="Port on every node.")),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_service.go",
)
