"""A process hangs and its liveness probe sees to it: by the time that somebody looks, the cluster is mending itself."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._model import Case, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import behind_services, pods_unready
from env_core.faults.healthy_control import NOTHING, needless_changes
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.view import View

_NOTICED_MS = 120_000


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if base.workloads[role].health_path)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {"pod": str(stream.below(place.replicas))}


def _hang(case: Case, cluster: Cluster) -> None:
    pods = View(cluster).pods_of(case.namespace, case.name)
    pod = pods[int(case.params["pod"]) % len(pods)]
    cluster.kubelets.hang(case.namespace, pod["metadata"]["name"], case.place.container)
    cluster.advance_until(lambda: not pods_unready(case).fails(View(cluster)), _NOTICED_MS)


def _look(case: Case) -> str:
    return f"kubectl -n {case.namespace} get pods"


FAMILY = Family(
    id="CX-06",
    tier=2,
    summary="A hung process that the cluster restarts by itself.",
    partners=("CX-05", "PR-04"),
    source="FAULTS CX-06; tests/golden/kubelet/timelines (liveness)",
    faults=(
        Fault(
            id="hung-once",
            sign=Sign.PODS,
            places=_places,
            params=_params,
            inject=_hang,
            symptoms=lambda case: (pods_unready(case),),
            evidence=lambda case: (Evidence(command=case.warnings, shows="probe failed"),),
            repaired_when=lambda _case: (),
            allowed=lambda _case: (),
            repairs=(
                lambda case: (_look(case), "sleep 60", "sleep 60", _look(case)),
                lambda case: (
                    f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=120s",
                    "sleep 30",
                    "sleep 60",
                    _look(case),
                ),
            ),
            decoys=needless_changes(),
            diagnosis=lambda _case: NOTHING,
            level=2,
            is_control=True,
        ),
    ),
)
