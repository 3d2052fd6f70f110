"""A Service sends to a port on which nothing listens: endpoints are there, and connections are refused."""

from __future__ import annotations

import json

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    behind_services,
    own_pods_answer,
    pass_time,
    port_reaches_program,
    restarted,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.checks.entries import some_fail

_PORTS = (8000, 8081, 8088, 3000, 5000, 9090)
_WAITS_S = (60, 240, 700)


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    ports = [port for port in _PORTS if port != place.container_port]
    return {"port": str(stream.choice(ports)), **waits(stream, _WAITS_S)}


def _ports(case: Case, target: int | str) -> str:
    service = case.base.cluster.store.get("services", case.namespace, case.place.service)
    assert service is not None
    first = service["spec"]["ports"][0]
    return json.dumps(
        {"spec": {"ports": [{"name": first.get("name"), "port": first["port"], "targetPort": target}]}}
        if first.get("name")
        else {"spec": {"ports": [{"port": first["port"], "targetPort": target}]}}
    )


def _patched(case: Case, target: int | str) -> str:
    return f"kubectl -n {case.namespace} patch service {case.place.service} -p '{_ports(case, target)}'"


def _inject(case: Case, cluster: Cluster) -> None:
    patch = [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": int(case.params["port"])}]
    cluster.client(COLLEAGUE).patch(
        "services", case.namespace, case.place.service, patch, "application/json-patch+json"
    )
    pass_time(cluster, case)


def _second_service(case: Case) -> str:
    return (
        f"kubectl -n {case.namespace} expose deployment {case.name} --name={case.place.service}-2 "
        f"--port={case.place.service_port} --target-port={case.place.container_port}"
    )


FAMILY = Family(
    id="NW-03",
    tier=1,
    summary="A Service's target port is not the one on which its pods listen.",
    partners=("NW-01", "WC-05", "NW-06"),
    source="tests/golden/programs/curl (refused connections); FAULTS NW-03",
    faults=(
        Fault(
            id="wrong-number",
            sign=Sign.ERRORS,
            level=2,
            places=behind_services,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} get service {case.place.service} -o yaml",
                    shows=f"targetPort: {case.params['port']}",
                ),
                Evidence(
                    command=f"kubectl -n {case.namespace} get endpointslices -l "
                    f"kubernetes.io/service-name={case.place.service}",
                    shows=case.params["port"],
                ),
            ),
            repaired_when=lambda case: (port_reaches_program(case), own_pods_answer(case)),
            allowed=lambda case: (
                case.allow("spec.ports", resource="services", name=case.place.service),
                case.allow(case.container("ports")),
            ),
            repairs=(
                lambda case: (_patched(case, case.place.container_port),),
                lambda case: (_patched(case, case.place.port_name or case.place.container_port),),
            ),
            decoys=(
                Decoy(script=lambda case: (_second_service(case),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} set selector service/{case.place.service} app=nobody",
                        _patched(case, case.place.container_port),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete service {case.place.service}",
                        _second_service(case),
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
        ),
    ),
)
