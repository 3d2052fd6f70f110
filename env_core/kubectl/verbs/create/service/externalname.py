"""`kubectl create service externalname`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import GENERATOR_FLAGS
from env_core.kubectl.verbs.create.service._service import TCP, run_service
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    return run_service(ctx, args, "ExternalName")


VERB = Verb(
    name="externalname",
    usage="create service externalname NAME --external-name external.name [--dry-run=server|client|none]",
    summary="Creates an ExternalName service.",
    flags=(
        *GENERATOR_FLAGS,
        TCP,
        Flag("external-name", str, is_required=True, words="The name that the service stands for."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_service.go",
)
