"""A volume of one writer under a rolling update: the new pod waits for the old one, which waits for the new one."""

from __future__ import annotations

import json
from typing import Final

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._storage import (
    CLAIMS,
    applied,
    data_kept,
    keeps_data_on_claim,
    one_writer_at_a_time,
    other_volume,
    rolls,
    with_claims,
)
from env_core.faults._words import pass_time, restarted, rolled_out, stopped, waits
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.sim.timefmt import rfc3339
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.trials import Trial, drain
from env_core.verify.view import View
from env_core.world import Object

_WAITS_S: Final = (120, 400, 900)
_ROLLS_MAX: Final = 4


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "surge": stream.choice(("1", "25%", "100%")),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": _surge(case), "maxUnavailable": 0}}
    patch = {"spec": {"strategy": rolling}}
    cluster.client(COLLEAGUE).patch(case.place.resource, case.namespace, case.name, patch, STRATEGIC_PATCH)
    # Releases go through for as long as both pods happen to share a node.
    for _ in range(_ROLLS_MAX):
        cluster.advance(35_000)
        stamp = {"kubectl.kubernetes.io/restartedAt": rfc3339(cluster.now_ms)}
        body = {"spec": {"template": {"metadata": {"annotations": stamp}}}}
        cluster.client(DELIVERY).patch(case.place.resource, case.namespace, case.name, body, STRATEGIC_PATCH)
        cluster.advance(40_000)
        if not waits_for_volume(case).fails(View(cluster)):
            break
    pass_time(cluster, case)


def _surge(case: Case) -> int | str:
    surge = case.params["surge"]
    return int(surge) if surge.isdigit() else surge


def waits_for_volume(case: Case) -> Check:
    """A pod of the workload has a node and no container, and another one runs."""

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        waiting = [
            status["state"]["waiting"].get("reason")
            for pod in pods
            for status in pod.get("status", {}).get("containerStatuses") or ()
            if "waiting" in status.get("state", {})
        ]
        if len(pods) > 1 and "ContainerCreating" in waiting:
            return ""
        return f"no pod of {case.name} waits beside another"

    return Check("a pod waits for its volume", fails)


def _strategy(case: Case, strategy: Object) -> str:
    body = json.dumps({"spec": {"strategy": strategy}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _status(case: Case) -> str:
    return f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=90s"


def _goals(case: Case) -> tuple[Check, ...]:
    return (
        keeps_data_on_claim(case),
        one_writer_at_a_time(case),
        rolled_out(case),
        *data_kept(case),
    )


def _trials(case: Case) -> tuple[Trial, ...]:
    pods = [
        pod
        for pod in case.base.cluster.store.list("pods", case.namespace)
        if case.place.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]
    return (rolls(case, 2), drain(pods[0]["spec"]["nodeName"]))


def _allowed(case: Case) -> tuple[Allowed, ...]:
    return (case.allow("spec.strategy"),)


def _new_claim(case: Case) -> Script:
    name = case.place.claims[0]
    spec = case.base.cluster.store.get(CLAIMS, case.namespace, name)
    assert spec is not None
    manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"{name}-new", "namespace": case.namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": spec["spec"]["resources"]},
    }
    return (applied(manifest), other_volume(case, {"persistentVolumeClaim": {"claimName": f"{name}-new"}}))


FAMILY = Family(
    id="ST-05",
    tier=1,
    summary="A Deployment with a volume of one writer is rolled so that old and new pods must overlap.",
    partners=("CF-01", "ST-08", "IM-08"),
    source="tests/golden/kubelet/timelines (csi-multi-attach); FAULTS ST-05",
    faults=(
        Fault(
            id="rolling-update",
            sign=Sign.RELEASE,
            places=with_claims,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (waits_for_volume(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="Volume is already used by pod(s)"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows="type: RollingUpdate",
                ),
            ),
            repaired_when=_goals,
            allowed=_allowed,
            repairs=(
                lambda case: (_strategy(case, {"type": "Recreate", "rollingUpdate": None}), _status(case)),
                lambda case: (
                    _strategy(case, {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
                    _status(case),
                ),
            ),
            decoys=(
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} get rs -o name | grep {case.name} | "
                        f"xargs -n1 kubectl -n {case.namespace} delete",
                    )
                ),
                Decoy(
                    script=lambda case: (
                        stopped(case),
                        f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=60s",
                        f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas=1",
                        _status(case),
                    )
                ),
                Decoy(script=lambda case: (other_volume(case, {"emptyDir": {}}), _status(case))),
                Decoy(script=_new_claim),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete pvc {case.place.claims[0]} --wait=false",
                        f"kubectl -n {case.namespace} delete pods --all",
                    ),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.ROLLOUT
            ),
            trials=_trials,
            level=3,
        ),
    ),
)
