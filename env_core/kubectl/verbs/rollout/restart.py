"""`kubectl rollout restart`: new pods from the same template."""

from __future__ import annotations

from env_core.kubectl.context import Context
from env_core.kubectl.resolve import Info
from env_core.kubectl.screen import Failure
from env_core.kubectl.verb import Args, Verb
from env_core.kubectl.verbs.rollout._arguments import WRITE_FLAGS, patch_each
from env_core.kubectl.verbs.rollout._history import KINDS
from env_core.sim.timefmt import rfc3339
from env_core.world import Object, Output

_RESTARTED = "kubectl.kubernetes.io/restartedAt"
_TOO_SOON = "if restart has already been triggered within the past second, please wait before attempting to trigger another"


def _run(ctx: Context, args: Args) -> Output:
    return patch_each(ctx, args, _change, "restarted", _TOO_SOON)


def _change(ctx: Context, info: Info) -> Object:
    if info.kind.kind not in KINDS:
        raise Failure("restarting is not supported")
    spec = info.found().get("spec") or {}
    if info.kind.kind == "Deployment" and spec.get("paused"):
        raise Failure("can't restart paused deployment (run rollout resume first)")
    now = rfc3339(ctx.clock.now_ms)
    annotations = ((spec.get("template") or {}).get("metadata") or {}).get("annotations") or {}
    if annotations.get(_RESTARTED) == now:
        return {}
    return {"spec": {"template": {"metadata": {"annotations": {_RESTARTED: now}}}}}


VERB = Verb(
    name="restart",
    usage="rollout restart RESOURCE",
    summary="Replaces the pods of a workload.",
    flags=WRITE_FLAGS,
    run=_run,
    source="k8s.io/kubectl pkg/cmd/rollout rollout_restart.go",
)
