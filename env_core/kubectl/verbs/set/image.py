"""`kubectl set image`: images of containers."""

from __future__ import annotations

from functools import partial

from env_core.kubectl.context import Context
from env_core.kubectl.dry_run import dry_run_of
from env_core.kubectl.pairs import read_pairs, split_pairs
from env_core.kubectl.screen import Failure, raise_all
from env_core.kubectl.verb import FILE_FLAGS, SELECTOR, Args, Verb
from env_core.kubectl.verbs.set._updates import (
    SET_FLAGS,
    changes_of,
    check_local,
    send_changes,
    targets_of,
    with_containers,
    with_pod_spec,
)
from env_core.kubectl.writes import result_printer_of
from env_core.objects.problems import quoted
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    dry_run = dry_run_of(ctx, args)
    printer = result_printer_of(ctx, args, dry_run, is_typed=True)("image updated")
    resources, pairs = split_pairs(args.positional, "image")
    images, _ = read_pairs(pairs, "image", allows_removal=False)
    infos = targets_of(ctx, args, resources)
    _check(args, resources, images)
    check_local(args, dry_run)
    errors: list[Exception] = []

    def update(spec: Object) -> Object:
        for name, image in images.items():
            spec, count = with_containers(spec, partial(_is_meant, name), partial(_with_image, image))
            if not count:
                errors.append(Failure(f"error: unable to find container named {quoted(name)}"))
        return spec

    changes = changes_of(infos, lambda info: with_pod_spec(info, update))
    send_changes(
        ctx, args, changes, printer, dry_run, "failed to patch image update to pod template: ", errors
    )
    return args.screen.done()


def _is_meant(name: str, container: Object) -> bool:
    return name in ("*", container["name"])


def _with_image(image: str, container: Object) -> Object:
    changed = {**container, "image": image}
    if not image:
        del changed["image"]
    return changed


def _check(args: Args, resources: list[str], images: dict[str, str]) -> None:
    problems: list[Exception] = []
    if args.is_set("all") and args.text("selector"):
        problems.append(Failure("cannot set --all and --selector at the same time"))
    if not resources and not args.items("filename") and not args.text("kustomize"):
        problems.append(
            Failure("one or more resources must be specified as <resource> <name> or <resource>/<name>")
        )
    if not images:
        problems.append(Failure("at least one image update is required"))
    elif len(images) > 1 and "*" in images:
        problems.append(
            Failure(
                "all containers are already specified by *, but saw more than one container_name=container_image pairs"
            )
        )
    raise_all(problems)


VERB = Verb(
    name="image",
    usage=(
        "set image (-f FILENAME | TYPE NAME) CONTAINER_NAME_1=CONTAINER_IMAGE_1 ... CONTAINER_NAME_N=CONTAINER_IMAGE_N"
    ),
    summary="Changes images of containers.",
    flags=(*SET_FLAGS, *FILE_FLAGS, SELECTOR),
    run=_run,
    source="k8s.io/kubectl pkg/cmd/set set_image.go",
)
