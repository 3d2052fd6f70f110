"""Another workload was released a little earlier: true, told to everybody, and beside the point."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._model import Case, Decoy, Params
from env_core.faults._words import patch_container
from env_core.modifiers._model import Modifier, bystanders
from env_core.scenarios._app import Workload
from env_core.sim.rng import Stream

_WAITS_S = (90, 180, 300)


def _released(case: Case) -> list[Workload]:
    return [entry for entry in bystanders(case) if entry.later_tags and not entry.claims]


def _params(stream: Stream, case: Case) -> Params | None:
    found = _released(case)
    if not found:
        return None
    other = stream.choice(found)
    wait_s = stream.choice(_WAITS_S) + stream.below(60)
    return {"role": other.role, "tag": stream.choice(other.later_tags), "wait_s": str(wait_s)}


def _release(case: Case, params: Params, cluster: Cluster) -> None:
    other = case.base.workloads[params["role"]]
    repository = other.image.rpartition(":")[0]
    patch_container(cluster, other, {"image": f"{repository}:{params['tag']}"})
    cluster.advance(int(params["wait_s"]) * 1_000)


def _told(case: Case, params: Params) -> str:
    other = case.base.workloads[params["role"]]
    return f"{other.name} was released as {params['tag']} shortly before the first complaint."


def _undone(case: Case, params: Params) -> tuple[Decoy, ...]:
    other = case.base.workloads[params["role"]]
    undo = f"kubectl -n {other.namespace} rollout undo deployment/{other.name}"
    return (Decoy(script=lambda _case: (undo,)),)


MODIFIER = Modifier(
    id="OE-07",
    summary="A truthful, innocent release of another workload at the same time.",
    source="FAULTS OE-07",
    params=_params,
    before=_release,
    hint=_told,
    decoys=_undone,
)
