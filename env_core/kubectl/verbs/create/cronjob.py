"""`kubectl create cronjob`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.verb import Args, Flag, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    container: Object = {"name": name, "image": args.text("image")}
    if len(args.positional) > 1:
        container["command"] = list(args.positional[1:])
    pod = {"containers": [container], "restartPolicy": args.text("restart") or "OnFailure"}
    obj = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata_of(ctx, name),
        "spec": {
            "schedule": args.text("schedule"),
            "jobTemplate": {"metadata": {"name": name}, "spec": {"template": {"spec": pod}}},
        },
    }
    return create_generated(ctx, args, "cronjobs.batch", obj, "failed to create cronjob: ")


VERB = Verb(
    name="cronjob",
    usage="create cronjob NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...] [flags]",
    aliases=("cj",),
    summary="Creates a cron job.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("image", str, is_required=True, words="Image of the container."),
        Flag("restart", str, words="OnFailure or Never."),
        Flag("schedule", str, is_required=True, words="When to run, in cron's format."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_cronjob.go",
)
