"""An autoscaler does not know how much its workload is used: it scales neither up nor down."""

from __future__ import annotations

import json

from env_core.apiserver.request import STRATEGIC_PATCH
from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._resources import keeps_requests, resources_of, set_resources
from env_core.faults._scaling import (
    SCALERS,
    autoscaler,
    autoscaler_of,
    give_autoscaler,
    is_blind,
    scaler_name,
    scales,
    wave,
)
from env_core.faults._words import behind_services, pass_time, restarted, rolled_out, stopped, undone
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE, DELIVERY
from env_core.sim.rng import Stream
from env_core.verify.changes import ADDED
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.view import View

_WAITS_S = (120, 300, 700)


def _wait(stream: Stream) -> str:
    return str(stream.choice(_WAITS_S) + stream.below(60))


def _scaler_added(case: Case, name: str) -> Allowed:
    return case.allow(ADDED, SCALERS, name)


def _is_scalable(place: Workload) -> bool:
    """Whether more replicas of a workload mean more of its work: not of stores."""
    is_store = place.image.startswith("redis:") or bool(place.claims)
    return place.resource == "deployments.apps" and not is_store


# A container without a request


def _requesting(base: Base) -> tuple[str, ...]:
    """Roles where nothing puts a request in the place of a missing one."""
    return tuple(
        role
        for role, place in base.workloads.items()
        if _is_scalable(place)
        and base.entries_through(role)
        and "cpu" in (resources_of(base, place).get("requests") or {})
        and not any(
            "cpu" in (row.get("defaultRequest") or row.get("default") or {})
            for each in base.cluster.store.list("limitranges", place.namespace)
            for row in each["spec"]["limits"]
        )
    )


def _drop_request(case: Case, cluster: Cluster) -> None:
    give_autoscaler(case, cluster)
    nothing = {"requests": {"cpu": None}, "limits": {"cpu": None}}
    container = {"name": case.place.container, "resources": nothing}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    cluster.client(DELIVERY).patch(case.place.resource, case.namespace, case.name, patch, STRATEGIC_PATCH)
    pass_time(cluster, case)


def _request_again(case: Case, per_cent: int = 100) -> str:
    before = resources_of(case.base, case.place)
    text = before["requests"]["cpu"]
    millis = int(text.removesuffix("m")) * per_cent // 100 if text.endswith("m") else int(text) * 1_000
    limits = {"limits": {"cpu": before["limits"]["cpu"]}} if "cpu" in (before.get("limits") or {}) else {}
    return set_resources(case, {"requests": {"cpu": f"{millis}m"}, **limits})


def _delete_scaler(case: Case) -> str:
    return f"kubectl -n {case.namespace} delete hpa {scaler_name(case)}"


def _fixed(case: Case) -> str:
    return f"kubectl -n {case.namespace} scale deployment/{case.name} --replicas={case.place.replicas + 2}"


def _by_value(case: Case) -> str:
    target = {"type": "AverageValue", "averageValue": "100m"}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    body = json.dumps({"spec": {"metrics": metrics}})
    return f"kubectl -n {case.namespace} patch hpa {scaler_name(case)} --type=merge -p '{body}'"


# Two autoscalers of one workload


def _neighbours(base: Base, place: Workload) -> tuple[Workload, ...]:
    return tuple(
        other
        for other in base.workloads.values()
        if _is_scalable(other)
        and other.namespace == place.namespace
        and other.name != place.name
        and not autoscaler_of(base, other)
        and other.service
    )


def _paired(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in behind_services(base)
        if _is_scalable(base.workloads[role]) and _neighbours(base, base.workloads[role])
    )


def _second(stream: Stream, base: Base, place: Workload) -> Params:
    other = stream.choice(_neighbours(base, place))
    return {"other": other.role, "name": f"{other.name}-hpa", "wait_s": _wait(stream)}


def _add_second(case: Case, cluster: Cluster) -> None:
    give_autoscaler(case, cluster)
    cluster.advance(40_000)
    other = case.base.workloads[case.params["other"]]
    body = autoscaler(other, case.params["name"], case.name)
    cluster.client(COLLEAGUE).create(SCALERS, case.namespace, body)
    pass_time(cluster, case)


def _retarget(case: Case) -> str:
    other = case.base.workloads[case.params["other"]]
    return (
        f"kubectl -n {case.namespace} patch hpa {case.params['name']} "
        f"""-p '{{"spec":{{"scaleTargetRef":{{"name":"{other.name}"}}}}}}'"""
    )


def second_is_the_others(case: Case) -> Check:
    """The second autoscaler, where it is left, is as its author meant it for the other workload."""
    other = case.base.workloads[case.params["other"]]
    meant = autoscaler(other, case.params["name"])["spec"]

    def fails(view: View) -> str:
        scaler = view.get(SCALERS, case.namespace, case.params["name"])
        if scaler is None:
            return ""
        if scaler["spec"]["scaleTargetRef"]["name"] != other.name:
            return f"{case.params['name']} leads to {scaler['spec']['scaleTargetRef']['name']}"
        for field in ("minReplicas", "maxReplicas", "metrics"):
            if scaler["spec"].get(field) != meant[field]:
                return f"{case.params['name']} has other {field}"
        return ""

    return Check(f"{case.params['name']} scales {other.name}", fails)


def _larger_elsewhere(case: Case) -> str:
    other = case.base.workloads[case.params["other"]]
    spec = {"minReplicas": 1, "maxReplicas": 30, "scaleTargetRef": {"name": other.name}}
    return f"kubectl -n {case.namespace} patch hpa {case.params['name']} -p '{json.dumps({'spec': spec})}'"


_RESTART = Decoy(script=lambda case: (restarted(case),))

FAMILY = Family(
    id="RO-05",
    tier=1,
    summary="An autoscaler cannot tell how much its workload is used.",
    partners=("CP-06", "AD-01", "RO-06"),
    source="tests/golden/l2/flows (hpa-*); FAULTS RO-05",
    faults=(
        Fault(
            id="no-request",
            sign=Sign.DOUBT,
            level=3,
            places=_requesting,
            params=lambda stream, _base, _place: {"wait_s": _wait(stream)},
            inject=_drop_request,
            symptoms=lambda case: (is_blind(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe hpa {scaler_name(case)}",
                    shows=f"missing request for cpu in container {case.place.container}",
                ),
            ),
            repaired_when=lambda case: (scales(case), keeps_requests(case, "cpu"), rolled_out(case)),
            allowed=lambda case: (
                case.allow(case.container("resources")),
                _scaler_added(case, scaler_name(case)),
            ),
            trials=lambda case: (wave(case),),
            repairs=(
                lambda case: (_request_again(case),),
                lambda case: (_request_again(case, 120),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_fixed(case),)),
                Decoy(script=lambda case: (_delete_scaler(case), _fixed(case))),
                Decoy(script=lambda case: (_by_value(case),)),
                Decoy(
                    script=lambda case: (
                        _request_again(case),
                        f"kubectl -n {case.namespace} delete hpa {scaler_name(case)}",
                        stopped(case),
                    )
                ),
                _RESTART,
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.AUTOSCALING
            ),
        ),
        Fault(
            id="second-autoscaler",
            sign=Sign.DOUBT,
            level=3,
            places=_paired,
            params=_second,
            inject=_add_second,
            symptoms=lambda case: (is_blind(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe hpa {scaler_name(case)}",
                    shows="are controlled by more than one HPA",
                ),
                Evidence(command=f"kubectl -n {case.namespace} get hpa", shows=case.params["name"]),
            ),
            repaired_when=lambda case: (scales(case), second_is_the_others(case)),
            allowed=lambda case: (
                _scaler_added(case, scaler_name(case)),
                _scaler_added(case, case.params["name"]),
            ),
            trials=lambda case: (wave(case),),
            repairs=(
                lambda case: (_retarget(case),),
                lambda case: (f"kubectl -n {case.namespace} delete hpa {case.params['name']}",),
            ),
            decoys=(
                Decoy(script=lambda case: (_fixed(case),)),
                Decoy(script=lambda case: (_delete_scaler(case),)),
                Decoy(script=lambda case: (_by_value(case),)),
                Decoy(script=lambda case: (_larger_elsewhere(case),)),
                _RESTART,
            ),
            diagnosis=lambda case: Diagnosis(
                kind="HorizontalPodAutoscaler",
                namespace=case.namespace,
                name=case.params["name"],
                mechanism=Mechanism.AUTOSCALING,
            ),
        ),
    ),
)
