"""A program listens on one port, and its workload declares another: pods run, and connections are refused."""

from __future__ import annotations

import json
from collections.abc import Sequence

from env_core.cluster import Cluster
from env_core.faults._config import logged, some_unready
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._sidecar_port import UNPROBED
from env_core.faults._words import (
    behind_services,
    container_of,
    own_pods_answer,
    owner_of,
    pass_time,
    patch_container,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.view import View
from env_core.world import Object

_PORTS = (8000, 8081, 8088, 3000, 3001, 5000, 9090)
_WAITS_S = (120, 400, 900)
_VARIABLE = "PORT"
_POLICIES = "networkpolicies.networking.k8s.io"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def _places(base: Base) -> tuple[str, ...]:
    """Return the roles of services of ours whose callers are all in their own namespace."""
    found = base.workloads
    return tuple(
        role
        for role in behind_services(base)
        if found[role].health_path == "/healthz" and not found[role].is_shared
    )


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    ports = [port for port in _PORTS if port != place.container_port]
    return {"variable": _VARIABLE, "port": str(stream.choice(ports)), **waits(stream, _WAITS_S)}


def _original(case: Case) -> Object:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    return container_of(owner, case.place.container)


def _declared(case: Case, port: int) -> Object:
    """Return the fields of the container that declare a port, in the manner of its owners."""
    container = _original(case)
    fields: Object = {
        "ports": [
            {"containerPort": case.place.container_port, "$patch": "delete"},
            {"name": case.place.port_name, "containerPort": port, "protocol": "TCP"},
        ]
    }
    for name in _PROBES:
        probe = container.get(name)
        if probe and probe["httpGet"]["port"] == case.place.container_port:
            fields[name] = {"httpGet": {"port": port}}
    return fields


def _move_program(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {"env": [{"name": _VARIABLE, "value": case.params["port"]}]})
    pass_time(cluster, case)


def _move_declaration(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, _declared(case, int(case.params["port"])))
    pass_time(cluster, case)


# Goals


def service_leads_to_program(case: Case) -> Check:
    """The Service leads, by number or by name, to a port that every pod of the workload has opened."""

    def fails(view: View) -> str:
        service = view.get("services", case.namespace, case.place.service)
        if service is None:
            return f"service {case.place.service} is gone"
        target = service["spec"]["ports"][0].get("targetPort")
        declared = container_of(owner_of(view, case), case.place.container).get("ports") or ()
        port = {entry.get("name"): entry["containerPort"] for entry in declared}.get(target, target)
        if port not in [entry["containerPort"] for entry in declared]:
            return f"{case.name} does not declare {port}"
        for pod in view.ready_pods_of(case.namespace, case.name):
            if not view.listens_on(pod, case.place.container, int(port)):
                return f"nothing listens on {port} in {pod['metadata']['name']}"
        return ""

    return Check(f"service {case.place.service} leads to the program", fails)


def callers_stay(case: Case) -> Check:
    """The policy in front of the workload lets in whom it let in, and nobody else, by one port."""

    def fails(view: View) -> str:
        was = case.base.cluster.store.get(_POLICIES, case.namespace, _policy(case))
        found = view.get(_POLICIES, case.namespace, _policy(case))
        assert was is not None
        if found is None:
            return f"policy {_policy(case)} is gone"
        callers = [rule.get("from") for rule in found["spec"].get("ingress") or ()]
        if any(each != was["spec"]["ingress"][0]["from"] for each in callers):
            return f"policy {_policy(case)} lets others in"
        if any(not rule.get("ports") for rule in found["spec"].get("ingress") or ()):
            return f"policy {_policy(case)} opens every port"
        return ""

    return Check(f"callers of {case.name} are the same", fails)


# Command lines


def _patched(case: Case, what: str, operations: Sequence[tuple[str, object]]) -> str:
    body = json.dumps([{"op": "replace", "path": path, "value": value} for path, value in operations])
    return f"kubectl -n {case.namespace} patch {what} --type=json -p '{body}'"


def _policy(case: Case) -> str:
    """Return the name of the network policy that lets callers in by the port's number, "" where there is none."""
    name = f"allow-to-{case.name}"
    found = case.base.cluster.store.get(_POLICIES, case.namespace, name)
    return name if found else ""


def _let_in(case: Case, port: int) -> Script:
    """Return the command lines that lead callers to a port of the program."""
    service = case.base.cluster.store.get("services", case.namespace, case.place.service)
    assert service is not None
    found: list[str] = []
    if service["spec"]["ports"][0]["targetPort"] == case.place.container_port:
        found.append(_patched(case, f"service {case.place.service}", [("/spec/ports/0/targetPort", port)]))
    if _policy(case):
        found.append(
            _patched(case, f"networkpolicy {_policy(case)}", [("/spec/ingress/0/ports/0/port", port)])
        )
    return tuple(found)


def _port_set(case: Case, port: int) -> str:
    return f"kubectl -n {case.namespace} set env deployment/{case.name} -c {case.place.container} {_VARIABLE}={port}"


def _declaration_patched(case: Case, port: int) -> str:
    body = json.dumps(
        {
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": case.place.container, **_declared(case, port)}]}
                }
            }
        }
    )
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _second_service(case: Case) -> str:
    return (
        f"kubectl -n {case.namespace} expose deployment {case.name} --name={case.place.service}-2 "
        f"--port={case.place.service_port} --target-port={case.params['port']}"
    )


def _without_probes(case: Case) -> str:
    fields: Object = dict.fromkeys(_PROBES)
    body = json.dumps(
        {"spec": {"template": {"spec": {"containers": [{"name": case.place.container, **fields}]}}}}
    )
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _opened(case: Case) -> Script:
    """Let everybody in where a policy says who may come."""
    if not _policy(case):
        return (_second_service(case),)
    opened = _patched(case, f"networkpolicy {_policy(case)}", [("/spec/ingress", [{}])])
    return (
        opened,
        _port_set(case, case.place.container_port),
        _declaration_patched(case, case.place.container_port),
    )


def _goals(case: Case) -> tuple[Check, ...]:
    found = (service_leads_to_program(case), own_pods_answer(case), rolled_out(case))
    return (*found, callers_stay(case)) if _policy(case) else found


def _allowed(case: Case) -> tuple[Allowed, ...]:
    found = [
        case.allow(case.container(f"env[{_VARIABLE}]")),
        case.allow(case.container("ports")),
        *(case.allow(case.container(f"{probe}.httpGet.port")) for probe in _PROBES),
        case.allow("spec.ports.*.targetPort", resource="services", name=case.place.service),
    ]
    if _policy(case):
        found.append(case.allow("spec.ingress", resource=_POLICIES, name=_policy(case)))
    return tuple(found)


def _diagnosis(case: Case) -> Diagnosis:
    return Diagnosis(
        kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.WRONG_CONFIG
    )


_DECOYS = (
    Decoy(script=lambda case: (restarted(case),)),
    Decoy(script=lambda case: (_without_probes(case),)),
    Decoy(script=lambda case: (_second_service(case),)),
    Decoy(script=lambda case: (undone(case), stopped(case))),
    Decoy(script=_opened),
    Decoy(
        script=lambda case: (
            f"kubectl -n {case.namespace} delete service {case.place.service}",
            _second_service(case),
        ),
        is_harmful=True,
    ),
)

FAMILY = Family(
    id="WC-05",
    tier=1,
    summary="A program listens on another port than its workload declares.",
    partners=("NW-03", "PR-04", "WC-03"),
    source="tests/golden/kubelet/timelines (probes), tests/golden/programs/curl (refused connections); FAULTS WC-05",
    faults=(
        Fault(
            id="moved-program",
            sign=Sign.RELEASE,
            level=2,
            places=_places,
            params=_params,
            inject=_move_program,
            symptoms=lambda case: (some_unready(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="connection refused"),
                logged(case, case.params["port"]),
            ),
            repaired_when=_goals,
            allowed=_allowed,
            repairs=(
                lambda case: (_port_set(case, case.place.container_port),),
                lambda case: (
                    *_let_in(case, int(case.params["port"])),
                    _declaration_patched(case, int(case.params["port"])),
                ),
                lambda case: (undone(case),),
            ),
            decoys=_DECOYS,
            diagnosis=_diagnosis,
        ),
        Fault(
            id="moved-declaration",
            sign=Sign.RELEASE,
            level=2,
            places=_places,
            params=_params,
            inject=_move_declaration,
            symptoms=lambda case: (some_unready(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="connection refused"),
                logged(case, str(case.place.container_port)),
            ),
            repaired_when=_goals,
            allowed=_allowed,
            repairs=(
                lambda case: (undone(case),),
                lambda case: (
                    *_let_in(case, int(case.params["port"])),
                    _port_set(case, int(case.params["port"])),
                ),
            ),
            decoys=_DECOYS,
            diagnosis=_diagnosis,
        ),
        UNPROBED,
    ),
)
