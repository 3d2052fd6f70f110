"""Nobody asks whether a pod can serve: it gets requests before it listens, and when it has fallen silent."""

from __future__ import annotations

from typing import Any, Final

from env_core.faults import _probes, _releases
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import behind_services, restarted, rolled_out, stopped, undone, waits
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream

_NOTES: Final = ("fewer probes", "shorten the pod template", "quicker roll-outs")
_WAITS_S: Final = (120, 400, 900)


def _places(base: Base) -> tuple[str, ...]:
    return tuple(
        role
        for role in behind_services(base)
        if _releases.rolls_unnoticed(base, base.workloads[role])
        and _probes.asks_by_http(base, base.workloads[role], _probes.READINESS)
        and not _probes.probe_before(base, base.workloads[role], _probes.STARTUP)
    )


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "note": stream.choice(_NOTES),
        **waits(stream, _WAITS_S),
    }


def _asking(case: Case, **fields: Any) -> str:
    """Return the command line that puts the readiness probe of the healthy world back, with other fields."""
    was = _probes.probe_before(case.base, case.place, _probes.READINESS)
    return _probes.patch_probes(case, {_probes.READINESS: {**was, **fields}})


def _with_scale(case: Case) -> tuple[str, ...]:
    return (
        _asking(case),
        stopped(case),
    )


FAMILY = Family(
    id="PR-06",
    tier=1,
    summary="A workload has no readiness probe, so that pods which cannot serve get requests.",
    partners=("NW-20", "WC-17", "RO-02", "NW-02"),
    source="tests/golden/kubelet/timelines (probes), tests/golden/l2/flows (endpoint slices); FAULTS PR-06",
    faults=(
        Fault(
            id="no-probe",
            sign=Sign.DOUBT,
            level=3,
            places=_places,
            params=_params,
            inject=lambda case, cluster: _releases.tidy_up(case, cluster, {_probes.READINESS: None}),
            symptoms=lambda case: (_releases.fails_while_rolled(case),),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} rollout history deployment/{case.name}",
                    shows=case.params["note"],
                ),
            ),
            repaired_when=lambda case: (_probes.readiness_asks_service(case), rolled_out(case)),
            trials=lambda case: (_releases.rolled_under_traffic(case), _probes.falls_silent(case)),
            allowed=lambda case: (case.allow(case.container(_probes.READINESS)),),
            repairs=(
                lambda case: (_asking(case),),
                lambda case: (_releases.undo_to_healthy(case),),
                lambda case: (_asking(case, periodSeconds=3, failureThreshold=3),),
            ),
            decoys=(
                Decoy(script=lambda case: (restarted(case),)),
                # What accepts connections may still not answer.
                Decoy(
                    script=lambda case: (
                        _asking(case, httpGet=None, tcpSocket={"port": case.place.container_port}),
                    )
                ),
                # It asks, and believes no answer for minutes.
                Decoy(script=lambda case: (_asking(case, periodSeconds=60),)),
                Decoy(script=lambda case: (undone(case),)),
                Decoy(script=_with_scale),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment", namespace=case.namespace, name=case.name, mechanism=Mechanism.PROBE
            ),
        ),
    ),
)
