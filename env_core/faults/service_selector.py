"""A Service selects no pod any more: its selector was changed, or the pods' label was."""

from __future__ import annotations

import json

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import behind_services, no_endpoints, own_pods_answer, pass_time, restarted
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks.entries import some_fail

_WORDS = ("{}-v2", "{}-green", "{}-canary", "{}svc", "new-{}")
_WAITS_S = (45, 180, 600)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    key = stream.choice(sorted(place.labels))
    return {
        "key": key,
        "value": stream.choice(_WORDS).format(place.labels[key]),
        "wait_s": str(stream.choice(_WAITS_S) + stream.below(45)),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    service = cluster.store.get("services", case.namespace, case.place.service)
    assert service is not None
    key = case.params["key"]
    if key not in service["spec"]["selector"]:
        key = sorted(service["spec"]["selector"])[0]
    patch = {"spec": {"selector": {key: case.params["value"]}}}
    cluster.client(COLLEAGUE).patch("services", case.namespace, case.place.service, patch)
    pass_time(cluster, case)


def _selector(case: Case) -> dict[str, str]:
    service = case.base.cluster.store.get("services", case.namespace, case.place.service)
    assert service is not None
    found: dict[str, str] = service["spec"]["selector"]
    return found


def _patch(case: Case, selector: dict[str, str]) -> str:
    body = json.dumps({"spec": {"selector": selector}})
    return f"kubectl -n {case.namespace} patch service {case.place.service} -p '{body}'"


def _set(case: Case) -> str:
    pairs = ",".join(f"{key}={value}" for key, value in sorted(_selector(case).items()))
    return f"kubectl -n {case.namespace} set selector service/{case.place.service} {pairs}"


def _key(case: Case) -> str:
    selector = _selector(case)
    return case.params["key"] if case.params["key"] in selector else sorted(selector)[0]


FAMILY = Family(
    id="NW-01",
    tier=1,
    summary="A Service's selector matches none of the pods that it is for.",
    partners=("PR-04", "NW-03", "NW-06"),
    source="tests/golden/l2/flows (endpoint slices); FAULTS NW-01",
    faults=(
        Fault(
            id="selector-drift",
            sign=Sign.ERRORS,
            places=behind_services,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (no_endpoints(case), some_fail(case.entries)),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe service {case.place.service}",
                    shows=case.params["value"],
                ),
                Evidence(command=f"kubectl -n {case.namespace} get endpointslices", shows="<unset>"),
            ),
            repaired_when=lambda case: (own_pods_answer(case),),
            allowed=lambda case: (
                case.allow("spec.selector", resource="services", name=case.place.service),
                case.allow(f"spec.template.metadata.labels.{_key(case)}"),
            ),
            repairs=(
                lambda case: (_patch(case, _selector(case)),),
                lambda case: (_set(case),),
            ),
            decoys=(
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} label pods --overwrite -l "
                        + ",".join(f"{key}={value}" for key, value in sorted(case.place.labels.items()))
                        + f" {_key(case)}={case.params['value']}",
                    )
                ),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete service {case.place.service}",
                        f"kubectl -n {case.namespace} expose deployment {case.name} --name={case.place.service} "
                        f"--port={case.place.service_port} --target-port={case.place.container_port}",
                    ),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Service",
                namespace=case.namespace,
                name=case.place.service,
                mechanism=Mechanism.SERVICE_WIRING,
            ),
            level=1,
        ),
    ),
)
