"""The readiness probe asks for a path that the program does not serve: pods run, and none is ready."""

from __future__ import annotations

import json

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    behind_services,
    container_of,
    has_ready_path,
    own_pods_answer,
    owner_of,
    pass_time,
    patch_container,
    pods_unready,
    restarted,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_PATHS = ("/healthcheck", "/api/health", "/status/ready", "/_ready", "/actuator/ready")
_WAITS_S = (120, 400, 900)


def _places(base: Base) -> tuple[str, ...]:
    return tuple(role for role in behind_services(base) if has_ready_path(base.workloads[role]))


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    paths = [path for path in _PATHS if path not in (place.ready_path, place.health_path)]
    return {"path": stream.choice(paths), **waits(stream, _WAITS_S)}


def _inject(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {"readinessProbe": {"httpGet": {"path": case.params["path"]}}})
    pass_time(cluster, case)


def probes_readiness(case: Case) -> Check:
    """The readiness probe asks the program's own path, as often and as strictly as it did."""

    def fails(view: View) -> str:
        before = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
        assert before is not None
        was = container_of(before, case.place.container)["readinessProbe"]
        probe = container_of(owner_of(view, case), case.place.container).get("readinessProbe") or {}
        if (probe.get("httpGet") or {}).get("path") not in (case.place.ready_path, case.place.health_path):
            return f"the readiness probe of {case.name} does not ask {case.place.ready_path}"
        for field in ("periodSeconds", "failureThreshold", "timeoutSeconds"):
            if probe[field] > 2 * was[field]:
                return f"the readiness probe of {case.name} has {field} {probe[field]}"
        return ""

    return Check(f"readiness of {case.name} is probed", fails)


def _probe(case: Case, path: str) -> str:
    container = {"name": case.place.container, "readinessProbe": {"httpGet": {"path": path}}}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch deployment {case.name} -p '{body}'"


def _without_probe(case: Case) -> str:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    names = [entry["name"] for entry in owner["spec"]["template"]["spec"]["containers"]]
    path = f"/spec/template/spec/containers/{names.index(case.place.container)}/readinessProbe"
    return (
        f"kubectl -n {case.namespace} patch deployment {case.name} --type=json "
        f"""-p '[{{"op":"remove","path":"{path}"}}]'"""
    )


FAMILY = Family(
    id="PR-04",
    tier=1,
    summary="A readiness probe asks for a path that the program does not serve.",
    partners=("NW-01", "NW-03"),
    source="tests/golden/kubelet/timelines (probes); FAULTS PR-04",
    faults=(
        Fault(
            id="wrong-path",
            sign=Sign.RELEASE,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (pods_unready(case),),
            evidence=lambda case: (
                Evidence(command=f"kubectl -n {case.namespace} get events", shows="Readiness probe failed"),
                Evidence(
                    command=f"kubectl -n {case.namespace} describe deployment {case.name}",
                    shows=case.params["path"],
                ),
            ),
            repaired_when=lambda case: (probes_readiness(case), own_pods_answer(case)),
            allowed=lambda case: (case.allow(case.container("readinessProbe")),),
            repairs=(
                lambda case: (_probe(case, case.place.ready_path),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (_without_probe(case),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} patch service {case.place.service} "
                        """-p '{"spec":{"publishNotReadyAddresses":true}}'""",
                    )
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.PROBE
            ),
            level=2,
        ),
    ),
)
