"""The liveness probe asks at a path, port or in a scheme where nobody answers: healthy processes are restarted, over and over."""

from __future__ import annotations

from typing import Any

from env_core.cluster import Cluster
from env_core.faults import _probes
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import deployments, pass_time, patch_container, rolled_out, stopped, undone, waits
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream

_PATHS = ("/health/live", "/livez", "/actuator/health", "/api/ping", "/status")
_PORTS = (8081, 9090, 8086, 9102, 15020)
_WAITS_S = (200, 420, 900)


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in deployments(base)
        if _probes.asks_by_http(base, base.workloads[role], _probes.LIVENESS)
    )


def _answers_every_path(base: Base, place: Workload) -> bool:
    """Whether what the workload does not know is a page all the same, or passed on."""
    return any(entry.path == "/" and entry.through[0] == place.role for entry in base.entries) or (
        place.health_path != "/healthz"
    )


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    fields = ("port", "scheme") if _answers_every_path(base, place) else ("path", "port", "scheme")
    field = stream.choice(fields)
    ports = [str(port) for port in _PORTS if port != place.container_port]
    values = {"path": _PATHS, "port": tuple(ports), "scheme": ("HTTPS",)}
    return {
        "field": field,
        "value": stream.choice(values[field]),
        **waits(stream, _WAITS_S),
    }


def _wrong(case: Case) -> dict[str, Any]:
    field, value = case.params["field"], case.params["value"]
    return {field: int(value) if field == "port" else value}


def _inject(case: Case, cluster: Cluster) -> None:
    patch_container(cluster, case.place, {_probes.LIVENESS: {"httpGet": _wrong(case)}})
    pass_time(cluster, case)


def _right(case: Case) -> dict[str, Any]:
    was = _probes.probe_before(case.base, case.place, _probes.LIVENESS)["httpGet"]
    return {case.params["field"]: was[case.params["field"]]}


FAMILY = Family(
    id="PR-01",
    tier=1,
    summary="A liveness probe asks where the program does not answer.",
    partners=("RS-03", "PR-02", "PR-03", "WC-17"),
    source="tests/golden/kubelet/timelines and tests/golden/l0/probe_texts (liveness); FAULTS PR-01",
    faults=(
        Fault(
            id="wrong-target",
            sign=Sign.PODS,
            level=2,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (_probes.containers_restart(case),),
            evidence=lambda case: (
                Evidence(command=case.warnings, shows="Liveness probe failed"),
                Evidence(
                    command=f"kubectl -n {case.namespace} get deployment {case.name} -o yaml",
                    shows=case.params["value"],
                ),
            ),
            repaired_when=lambda case: (_probes.liveness_asks_health(case), rolled_out(case)),
            trials=lambda case: (_probes.is_left_alone(case), _probes.hangs(case)),
            allowed=lambda case: (case.allow(case.container(_probes.LIVENESS)),),
            repairs=(
                lambda case: (_probes.patch_probes(case, {_probes.LIVENESS: {"httpGet": _right(case)}}),),
                lambda case: (undone(case),),
                lambda case: (
                    _probes.patch_probes(
                        case,
                        {
                            _probes.LIVENESS: {
                                "httpGet": {**_right(case), "port": case.place.container_port},
                                "periodSeconds": 15,
                                "failureThreshold": 3,
                            }
                        },
                    ),
                ),
            ),
            decoys=(
                Decoy(script=lambda case: (_probes.patch_probes(case, {_probes.LIVENESS: None}),)),
                Decoy(
                    script=lambda case: (
                        _probes.patch_probes(case, {_probes.LIVENESS: {"failureThreshold": 1_000}}),
                    )
                ),
                # Always true, whatever the process does.
                Decoy(
                    script=lambda case: (
                        _probes.patch_probes(
                            case, {_probes.LIVENESS: {"httpGet": None, "exec": {"command": ["true"]}}}
                        ),
                    )
                ),
                # A hung process still accepts connections.
                Decoy(
                    script=lambda case: (
                        _probes.patch_probes(
                            case,
                            {
                                _probes.LIVENESS: {
                                    "httpGet": None,
                                    "tcpSocket": {"port": case.place.container_port},
                                }
                            },
                        ),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        _probes.patch_probes(case, {_probes.LIVENESS: {"httpGet": _right(case)}}),
                        stopped(case),
                    )
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.PROBE
            ),
        ),
    ),
)
