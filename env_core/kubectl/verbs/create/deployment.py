"""`kubectl create deployment`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.name_suffix import name_suffix
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Flag, Int32, Slice, Verb
from env_core.kubectl.verbs.create._generator import (
    GENERATOR_FLAGS,
    create_generated,
    metadata_of,
    name_argument,
)
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    name = name_argument(args)
    images, command = args.items("image"), list(args.positional[1:])
    if len(images) > 1 and command:
        raise Failure("cannot specify multiple --image options and command")
    labels = {"app": name}
    containers = [_container(ctx, image, command) for image in images]
    if args.number("port") >= 0 and containers:
        containers[0]["ports"] = [{"containerPort": args.number("port")}]
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**metadata_of(ctx, name), "labels": labels},
        "spec": {
            "replicas": args.number("replicas"),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }
    return create_generated(ctx, args, "deployments.apps", obj, "failed to create deployment: ")


def _container(ctx: Context, image: str, command: list[str]) -> Object:
    name = image.rpartition("/")[2].partition(":")[0].partition("@")[0]
    if "_" in name or "." in name:
        name = name.replace("_", "-").replace(".", "-")
        name = f"{name}-{name_suffix(ctx, image)}"
    container: Object = {"name": name, "image": image}
    if command:
        container["command"] = command
    return container


VERB = Verb(
    name="deployment",
    usage="create deployment NAME --image=image -- [COMMAND] [args...]",
    aliases=("deploy",),
    summary="Creates a deployment.",
    flags=(
        *GENERATOR_FLAGS,
        Flag("image", Slice, is_required=True, words="Image of a container; may repeat."),
        Flag("port", Int32, default=-1, words="Port of the first container."),
        Flag("replicas", Int32, shorthand="r", default=1, words="Number of replicas."),
    ),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/create create_deployment.go",
)
