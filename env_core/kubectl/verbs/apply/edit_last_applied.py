"""`kubectl apply edit-last-applied`: needs an editor, which this terminal has not."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.editing import no_editor
from env_core.kubectl.resolve import select
from env_core.kubectl.screen import raise_all
from env_core.kubectl.verb import FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import VALIDATE
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    _, errors = select(ctx, args, args.positional).load(ctx)
    raise_all(errors)
    raise no_editor()


VERB = Verb(
    name="edit-last-applied",
    usage="apply edit-last-applied (RESOURCE/NAME | -f FILENAME)",
    summary="Opens what was last applied in an editor.",
    flags=(
        *PRINT_FLAGS,
        *FILE_FLAGS,
        VALIDATE,
        field_manager("kubectl-client-side-apply"),
        Flag("windows-line-endings", bool, words="Write the file with CRLF."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/apply apply_edit_last_applied.go",
    unrecorded="the refusal: the real command opens an editor",
)
