"""`kubectl create service loadbalancer`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS
from env_core.kubectl.verbs.create.service._service import TCP, run_service
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    return run_service(ctx, args, "LoadBalancer")


VERB = Verb(
    name="loadbalancer",
    usage="create service loadbalancer NAME [--tcp=port:targetPort] [--dry-run=server|client|none]",
    summary="Creates a LoadBalancer service.",
    flags=(*GENERATOR_FLAGS, TCP),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_service.go",
)
