"""A workload lacks a variable without which its program ends: new pods crash, and old ones serve for the time being."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._config import (
    CONFIG,
    HALF_REPAIRS,
    drawn_need,
    is_credential,
    keeps_secret,
    key_written,
    logged,
    need_of,
    pods_crash,
    starts_as_intended,
    takers,
    variable_referred,
    variable_set,
    write_key,
)
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Family, Fault, Params, Sign
from env_core.faults._words import (
    deleted,
    pass_time,
    patch_container,
    recreated,
    restart,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Need, Workload
from env_core.sim.rng import Stream

_WAITS_S = (150, 400, 900)


def _is_referred(place: Workload, need: Need) -> bool:
    return need.is_required and is_credential(place, need) and bool(place.ready_path)


def _is_in_map(_place: Workload, need: Need) -> bool:
    return need.is_required and need.source == CONFIG


def _params_of_reference(stream: Stream, _base: Base, place: Workload) -> Params:
    return {"variable": drawn_need(stream, place, _is_referred).variable, **waits(stream, _WAITS_S)}


def _params_of_key(stream: Stream, _base: Base, place: Workload) -> Params:
    return {"variable": drawn_need(stream, place, _is_in_map).variable, **waits(stream, _WAITS_S)}


def _drop_reference(case: Case, cluster: Cluster) -> None:
    gone = {"name": case.params["variable"], "$patch": "delete"}
    patch_container(cluster, case.place, {"env": [gone]})
    pass_time(cluster, case)


def _drop_key(case: Case, cluster: Cluster) -> None:
    write_key(cluster, case, None)
    cluster.advance(int(case.params["wait_s"]) * 500)
    restart(cluster, case.place)
    pass_time(cluster, case)


FAMILY = Family(
    id="WC-02",
    tier=1,
    summary="A variable that a program requires is not set.",
    partners=("WC-01", "CF-02", "CF-03"),
    source="tests/golden/programs/app-* (missing variables), tests/golden/kubelet/timelines; FAULTS WC-02",
    faults=(
        Fault(
            id="dropped-reference",
            sign=Sign.RELEASE,
            places=lambda base: takers(base, _is_referred),
            params=_params_of_reference,
            inject=_drop_reference,
            symptoms=lambda case: (pods_crash(case),),
            evidence=lambda case: (logged(case, case.params["variable"]),),
            repaired_when=lambda case: (starts_as_intended(case), keeps_secret(case), rolled_out(case)),
            allowed=lambda case: (case.allow(case.container(f"env[{case.params['variable']}]")),),
            repairs=(
                lambda case: (variable_referred(case),),
                lambda case: (undone(case),),
            ),
            decoys=(
                Decoy(script=lambda case: (variable_set(case, need_of(case).value),)),
                Decoy(script=lambda case: (variable_set(case, "changeme"),)),
                Decoy(script=lambda case: (restarted(case),)),
                Decoy(
                    script=lambda case: (
                        variable_referred(case),
                        stopped(case),
                    )
                ),
                Decoy(
                    script=lambda case: (deleted(case),),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="Deployment",
                namespace=case.namespace,
                name=case.name,
                mechanism=Mechanism.MISSING_CONFIG,
            ),
        ),
        Fault(
            id="lost-key",
            sign=Sign.RELEASE,
            level=2,
            places=lambda base: takers(base, _is_in_map),
            params=_params_of_key,
            inject=_drop_key,
            symptoms=lambda case: (pods_crash(case),),
            evidence=lambda case: (logged(case, case.params["variable"]),),
            repaired_when=lambda case: (starts_as_intended(case), rolled_out(case)),
            allowed=lambda case: (
                case.allow(f"data.{need_of(case).key}", resource=CONFIG, name=need_of(case).name),
                case.allow(case.container(f"env[{case.params['variable']}]")),
            ),
            repairs=(
                lambda case: (key_written(case, need_of(case).value), restarted(case)),
                lambda case: (key_written(case, need_of(case).value), recreated(case)),
                lambda case: (variable_set(case, need_of(case).value),),
            ),
            decoys=(
                Decoy(script=lambda case: (undone(case),)),
                Decoy(script=lambda case: (variable_set(case, "http://localhost:8080"),)),
                Decoy(script=lambda case: (restarted(case),)),
                *HALF_REPAIRS,
            ),
            diagnosis=lambda case: Diagnosis(
                kind="ConfigMap",
                namespace=case.namespace,
                name=need_of(case).name,
                mechanism=Mechanism.MISSING_CONFIG,
            ),
        ),
    ),
)
