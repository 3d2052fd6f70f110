"""Liveness asks a dependency: when that is slow for a minute, all replicas are restarted together."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from env_core.apiserver.request import Options
from env_core.cluster import Cluster
from env_core.faults import _probes
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._words import (
    deployments,
    pass_time,
    patch_container,
    restart,
    restarted,
    rolled_out,
    undone,
    waits,
)
from env_core.programs._service_starting import is_on
from env_core.scenarios._app import UPSTREAM, Base, Need, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_READINESS: Final = "READINESS_DEPENDENCIES"
_LIVENESS: Final = "LIVENESS_DEPENDENCIES"
_STORES: Final = ("DB_HOST", "REDIS_HOST")
_WAITS_S: Final = (150, 300, 600)
_OUTAGES_S: Final = (60, 80, 110)
_SOON: Final = Options(grace_period_seconds=5)


def _setting(place: Workload) -> Need | None:
    """Return the variable that lets readiness ask dependencies, None where it does not."""
    return next(
        (need for need in place.needs if need.variable == _READINESS and need.value == "true" and need.name),
        None,
    )


def _dependency(base: Base, place: Workload) -> Workload | None:
    """Return the store that a workload depends on."""
    for need in place.needs:
        if need.kind == UPSTREAM and need.variable in _STORES and need.target in base.workloads:
            return base.workloads[need.target]
    return None


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in deployments(base)
        if _setting(base.workloads[role]) and _dependency(base, base.workloads[role])
    )


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        **waits(stream, _WAITS_S),
        "outage_s": str(stream.choice(_OUTAGES_S) + stream.below(15)),
        "since_s": str(20 + stream.below(120)),
    }


def _store_of(case: Case) -> Workload:
    found = _dependency(case.base, case.place)
    assert found is not None, "places have a store"
    return found


def _map_of(case: Case) -> str:
    found = _setting(case.place)
    assert found is not None, "places have the setting"
    return found.name


def _suffer(case: Case, cluster: Cluster) -> None:
    """Let the store hang for a minute or two, until somebody deletes its pod."""
    pass_time(cluster, case)
    store = _store_of(case)
    pods = [
        pod["metadata"]["name"]
        for pod in cluster.store.list("pods", store.namespace)
        if store.labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]
    for name in pods:
        cluster.kubelets.hang(store.namespace, name, store.container)
    cluster.advance(int(case.params["outage_s"]) * 1_000)
    for name in pods:
        cluster.client(COLLEAGUE).delete("pods", store.namespace, name, _SOON)
    cluster.advance(int(case.params["since_s"]) * 1_000)


def _inject_setting(case: Case, cluster: Cluster) -> None:
    data = {"data": {_LIVENESS: "true"}}
    cluster.client(COLLEAGUE).patch("configmaps", case.namespace, _map_of(case), data)
    restart(cluster, case.place)
    _suffer(case, cluster)


def _inject_path(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {_probes.LIVENESS: {"httpGet": {"path": case.place.ready_path}}})
    _suffer(case, cluster)


def asks_alone(case: Case) -> Check:
    """The workload's processes answer for themselves where liveness asks them."""

    def fails(view: View) -> str:
        pods = view.pods_of(case.namespace, case.name)
        for pod in pods:
            if is_on(view.env_of(pod, case.place.container), _LIVENESS):
                return f"{_LIVENESS} is set in pod {pod['metadata']['name']}"
        return "" if pods else f"{case.name} has no pod"

    return Check(f"{case.name} answers for itself", fails)


def _patch_map(case: Case, value: str | None) -> str:
    body = json.dumps({"data": {_LIVENESS: value}})
    return f"kubectl -n {case.namespace} patch configmap {_map_of(case)} --type=merge -p '{body}'"


def _restart_store(case: Case) -> str:
    store = _store_of(case)
    kind = store.resource.partition(".")[0].removesuffix("s")
    return f"kubectl -n {store.namespace} rollout restart {kind}/{store.name}"


def _right_path(case: Case) -> str:
    return _probes.patch_probes(case, {_probes.LIVENESS: {"httpGet": {"path": case.place.health_path}}})


def _scaled(case: Case, replicas: int) -> str:
    return f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas={replicas}"


def _set_env(case: Case) -> str:
    return f"kubectl -n {case.namespace} set env deployment/{case.name} -c {case.place.container} {_LIVENESS}=false"


def _fixed(case: Case) -> Script:
    return (_patch_map(case, "false"), restarted(case))


_DECOYS = (
    Decoy(script=lambda case: (restarted(case),)),
    Decoy(script=lambda case: (_restart_store(case),)),
    Decoy(script=lambda case: (_scaled(case, case.place.replicas + 2),)),
    Decoy(script=lambda case: (_probes.patch_probes(case, {_probes.LIVENESS: None}),)),
    Decoy(script=lambda case: (_probes.patch_probes(case, {_probes.LIVENESS: {"failureThreshold": 60}}),)),
    # A hung process still accepts connections.
    Decoy(
        script=lambda case: (
            _probes.patch_probes(
                case,
                {_probes.LIVENESS: {"httpGet": None, "tcpSocket": {"port": case.place.container_port}}},
            ),
        )
    ),
)
_DEEP_SETTING = Fault(
    id="deep-setting",
    sign=Sign.PODS,
    level=3,
    places=_places,
    params=_params,
    inject=_inject_setting,
    symptoms=lambda case: (_probes.containers_restart(case),),
    evidence=lambda case: (
        Evidence(command=case.warnings, shows="Liveness probe failed"),
        Evidence(
            command=f"kubectl -n {case.namespace} get configmap {_map_of(case)} -o yaml", shows=_LIVENESS
        ),
    ),
    repaired_when=lambda case: (
        asks_alone(case),
        _probes.liveness_asks_health(case),
        rolled_out(case),
    ),
    trials=lambda case: (_probes.misses(case, _store_of(case)), _probes.hangs(case)),
    allowed=lambda case: (
        case.allow(f"data.{_LIVENESS}", resource="configmaps", name=_map_of(case)),
        case.allow(case.container(f"env[{_LIVENESS}]")),
    ),
    repairs=(
        _fixed,
        lambda case: (_set_env(case),),
        lambda case: (_patch_map(case, None), restarted(case)),
    ),
    decoys=(
        # Who has been started keeps what he has read.
        Decoy(script=lambda case: (_patch_map(case, "false"),)),
        *_DECOYS,
        Decoy(script=lambda case: (*_fixed(case), _scaled(case, 0))),
    ),
    diagnosis=lambda case: Diagnosis(
        kind="ConfigMap", namespace=case.namespace, name=_map_of(case), mechanism=Mechanism.PROBE
    ),
)
FAMILY = Family(
    id="PR-03",
    tier=1,
    summary="A liveness probe fails when a dependency does.",
    partners=("PR-01", "PR-02", "AP-01"),
    source="tests/golden/kubelet/timelines (liveness); FAULTS PR-03",
    faults=(
        _DEEP_SETTING,
        replace(
            _DEEP_SETTING,
            id="deep-path",
            inject=_inject_path,
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="Liveness probe failed"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} "
                    "-o jsonpath={.spec.template.spec.containers[*].livenessProbe.httpGet.path}",
                    shows=case.place.ready_path,
                ),
            ),
            repaired_when=lambda case: (_probes.liveness_asks_health(case), rolled_out(case)),
            allowed=lambda case: (case.allow(case.container(_probes.LIVENESS)),),
            repairs=(
                lambda case: (_right_path(case),),
                lambda case: (undone(case),),
            ),
            decoys=(*_DECOYS, Decoy(script=lambda case: (_right_path(case), _scaled(case, 0)))),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.PROBE
            ),
        ),
    ),
)
