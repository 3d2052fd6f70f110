"""`kubectl edit`: objects in the editor that the environment names."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.edit_session import NORMAL, Session
from env_core.kubectl.editing import editor_of
from env_core.kubectl.last_applied import saved
from env_core.kubectl.resolve import select
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import FILE_FLAGS, PRINT_FLAGS, Args, Flag, Verb, field_manager
from env_core.kubectl.writes import SAVE_CONFIG, SUBRESOURCE, VALIDATE, validation_of
from env_core.world import Output


def _run(ctx: Context, args: Args) -> Output:
    infos, errors = select(ctx, args, args.positional, allows_no_selector=True).load(ctx)
    raise_all(errors)
    if args.text("subresource"):
        infos = [info.fetch(ctx, args.text("subresource")) for info in infos]
    if not infos:
        raise Failure("edit cancelled, no objects found")
    return Session(
        ctx,
        args,
        editor_of(ctx),
        NORMAL,
        validation_of(args),
        lambda obj: saved(obj, is_wanted=args.is_set("save-config")) if args.is_set("save-config") else obj,
    ).run(list(infos))


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
    unrecorded="the refusal where the environment names no editor: the real command opens vi",
)
