"""`kubectl rollout pause`: no rollouts until `resume`."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.rollout._arguments import WRITE_FLAGS, patch_each
from env_core.world import Object, Output


def _run(ctx: Context, args: Args) -> Output:
    return patch_each(ctx, args, _change, "paused", "already paused")


def _change(_ctx: Context, info: Info) -> Object:
    if info.kind.kind != "Deployment":
        raise Failure("pausing is not supported")
    if (info.found().get("spec") or {}).get("paused"):
        raise Failure("is already paused")
    return {"spec": {"paused": True}}


VERB = Verb(
    name="pause",
    usage="rollout pause RESOURCE",
    summary="Stops the rollouts of a deployment.",
    flags=WRITE_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/rollout rollout_pause.go",
)
