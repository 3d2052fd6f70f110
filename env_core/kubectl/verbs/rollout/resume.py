"""`kubectl rollout resume`: rollouts go on."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.rollout._arguments import WRITE_FLAGS, patch_each
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    return patch_each(ctx, args, _change, "resumed", "not paused")


def _change(_ctx: Context, info: Info) -> Object:
    if info.kind.kind != "Deployment":
        raise Failure("resuming is not supported")
    if not (info.found().get("spec") or {}).get("paused"):
        raise Failure("is not paused")
    return {"spec": {"paused": None}}


VERB = Verb(
    name="resume",
    usage="rollout resume RESOURCE",
    summary="Lets the rollouts of a deployment go on.",
    flags=WRITE_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/rollout rollout_resume.go",
)
