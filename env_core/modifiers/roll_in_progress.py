"""Another workload is being rolled when somebody pages: it looks unwell, and ends well by itself."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._model import Case, Decoy, Params
from env_core.modifiers._model import Modifier, bystanders
from env_core.scenarios.platform import DELIVERY
from env_core.sim.rng import Stream
from env_core.sim.timefmt import rfc3339


def _params(stream: Stream, case: Case) -> Params | None:
    found = [entry for entry in bystanders(case) if entry.replicas > 1 and not entry.claims]
    return {"role": stream.choice(found).role} if found else None


def _rolls(case: Case, params: Params, cluster: Cluster) -> None:
    other = case.base.workloads[params["role"]]
    stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
    patch = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
    cluster.client(DELIVERY).patch(other.resource, other.namespace, other.name, patch)
    cluster.advance(1_500)


def _meddled(case: Case, params: Params) -> tuple[Decoy, ...]:
    other = case.base.workloads[params["role"]]
    pause = f"kubectl -n {other.namespace} rollout pause deployment/{other.name}"
    return (Decoy(script=lambda _case: (pause,)),)


MODIFIER = Modifier(
    id="CX-06",
    summary="A roll of another workload that is under way and ends well by itself.",
    source="FAULTS CX-06",
    params=_params,
    after=_rolls,
    decoys=_meddled,
)
