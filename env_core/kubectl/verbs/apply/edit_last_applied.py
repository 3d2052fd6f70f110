"""`kubectl apply edit-last-applied`: what was last applied, in the editor that the environment names."""

from __future__ import annotations

from env_core.kubectl._manifest_files import Stream, read_streams
from env_core.kubectl.context import Context
from env_core.kubectl.edit_session import APPLY, Session
from env_core.kubectl.editing import editor_of
from env_core.kubectl.last_applied import original_text
from env_core.kubectl.resolve import Info, select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import VALIDATE, validation_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    infos, errors = select(ctx, args, args.positional, allows_no_selector=True).load(ctx)
    raise_all(errors)
    kept: list[Info] = []
    for info in infos:
        text = original_text(info.found())
        if text is not None:
            found, problems = read_streams(ctx, [Stream("edited-file", text)])
            raise_all(problems[:1])
            kept.append(found[0])
    if not kept:
        raise Failure(
            "no last-applied-configuration annotation found on resources, to create the annotation, "
            "use command `kubectl apply set-last-applied --create-annotation`"
        )
    return Session(ctx, args, editor_of(ctx), APPLY, validation_of(args)).run(kept)


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
    unrecorded="the refusal where the environment names no editor: the real command opens vi",
)
