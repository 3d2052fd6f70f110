"""`kubectl create job`: from an image, or from a cron job."""

from __future__ import annotations

from env_core.kubectl import pods
from env_core.kubectl.context import Context
from env_core.kubectl.resolve import select
from env_core.kubectl.screen import Failure, raise_all
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
    image, origin, command = args.text("image"), args.text("from"), list(args.positional[1:])
    if bool(image) == bool(origin):
        raise Failure("either --image or --from must be specified")
    if command and origin:
        raise Failure("cannot specify --from and command")
    obj = _of_image(ctx, name, image, command) if image else _of_cron_job(ctx, args, name, origin)
    return create_generated(ctx, args, "jobs.batch", obj, "failed to create job: ")


def _of_image(ctx: Context, name: str, image: str, command: list[str]) -> Object:
    container: Object = {"name": name, "image": image}
    if command:
        container["command"] = command
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata_of(ctx, name),
        "spec": {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}},
    }


def _of_cron_job(ctx: Context, args: Args, name: str, origin: str) -> Object:
    infos, errors = select(ctx, args, [origin]).load(ctx)
    raise_all(errors)
    if len(infos) != 1:
        raise Failure("from must be an existing cronjob")
    pods.refuse_custom(infos[0])
    if infos[0].kind.kind != "CronJob":
        raise Failure(f"unknown object type {pods.go_type(infos[0])}")
    cron_job = infos[0].found()
    template = cron_job["spec"]["jobTemplate"]
    given = template.get("metadata") or {}
    metadata = metadata_of(ctx, name)
    metadata["annotations"] = {
        "cronjob.kubernetes.io/instantiate": "manual",
        **(given.get("annotations") or {}),
    }
    if given.get("labels"):
        metadata["labels"] = given["labels"]
    metadata["ownerReferences"] = [
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "name": cron_job["metadata"]["name"],
            "uid": cron_job["metadata"]["uid"],
            "controller": True,
        }
    ]
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}


VERB = Verb(
    name="job",
    usage="create job NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]",
    summary="Creates a job.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("from", str, words="Cron job to take the template of."),
        Flag("image", str, words="Image of the container."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_job.go",
)
