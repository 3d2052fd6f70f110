"""`kubectl edit`: needs an editor, which this terminal has not."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.editing import no_editor
from env_core.kubectl.resolve import select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import SAVE_CONFIG, SUBRESOURCE, VALIDATE
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    infos, errors = select(ctx, args, args.positional, allows_no_selector=True).load(ctx)
    raise_all(errors)
    if not infos:
        raise Failure("edit cancelled, no objects found")
    raise no_editor()


VERB = Verb(
    name="edit",
    usage="edit (RESOURCE/NAME | -f FILENAME)",
    summary="Opens objects in an editor.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        SAVE_CONFIG,
        SUBRESOURCE,
        VALIDATE,
        field_manager("kubectl-edit"),
        Flag("output-patch", bool, words="Print the patch."),
        Flag("windows-line-endings", bool, words="Write the file with CRLF."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/edit",
    unrecorded="the refusal: the real command opens an editor",
)
