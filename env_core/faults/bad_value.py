"""A value in a workload's ConfigMap is wrong: its new pods end at once, or ask a server that is not there, or give up too soon."""

from __future__ import annotations

from env_core.cluster import Cluster
from env_core.faults._config import (
    CONFIG,
    HALF_REPAIRS,
    asked_addresses,
    drawn_need,
    full_address,
    key_written,
    logged,
    map_holds,
    map_replaced,
    mistaken,
    need_of,
    pods_crash,
    starts_as_intended,
    takers,
    variable_set,
    with_asked_addresses,
    write_key,
)
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._words import (
    pass_time,
    recreated,
    restart,
    restarted,
    rolled_out,
    undone,
    waits,
)
from env_core.scenarios._app import SETTING, Base, Need, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks.entries import some_fail

_WAITS_S = (120, 400, 900)
_NUMBERS = ("{}s", "{} # raised", "~{}", "{}.", "x{}", "{}m")
_TIMEOUT = "UPSTREAM_TIMEOUT_MS"
_TOO_SOON = ("1", "2")
"""What somebody writes who takes milliseconds for seconds."""
_SHORTEST, _LONGEST = 0.25, 10
"""What a time-out may be, as multiples of what it was."""


def _is_number(place: Workload, need: Need) -> bool:
    return need.kind == SETTING and need.source == CONFIG and need.value.isdigit() and bool(place.ready_path)


def _is_timeout(_place: Workload, need: Need) -> bool:
    return need.variable == _TIMEOUT and need.source == CONFIG


def _params_of_address(stream: Stream, base: Base, place: Workload) -> Params:
    need = stream.choice(asked_addresses(base, place))
    return {"variable": need.variable, "value": mistaken(stream, need), **waits(stream, _WAITS_S)}


def _params_of_number(stream: Stream, _base: Base, place: Workload) -> Params:
    need = drawn_need(stream, place, _is_number)
    return {
        "variable": need.variable,
        "value": stream.choice(_NUMBERS).format(need.value),
        **waits(stream, _WAITS_S),
    }


def _params_of_timeout(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {"variable": _TIMEOUT, "value": stream.choice(_TOO_SOON), **waits(stream, _WAITS_S)}


def _inject(case: Case, cluster: Cluster) -> None:
    write_key(cluster, case, case.params["value"])
    cluster.advance(20_000)
    restart(cluster, case.place)
    pass_time(cluster, case)


def _shown(case: Case) -> Evidence:
    return Evidence(
        command=f"kubectl -n {case.namespace} get configmap {need_of(case).name} -o yaml",
        shows=case.params["value"],
    )


def _diagnosis(case: Case) -> Diagnosis:
    return Diagnosis(
        kind="ConfigMap", namespace=case.namespace, name=need_of(case).name, mechanism=Mechanism.WRONG_CONFIG
    )


def _lasts_long_enough(case: Case, value: str) -> bool:
    """Whether a time-out lets answers come and is still one."""
    right = int(need_of(case).value)
    return value.isdigit() and right * _SHORTEST <= int(value) <= right * _LONGEST


_RIGHT = (
    lambda case: (key_written(case, need_of(case).value), restarted(case)),
    lambda case: (map_replaced(case, need_of(case).value), recreated(case)),
)
_OTHERS = (
    Decoy(script=lambda case: (variable_set(case, need_of(case).value),)),
    Decoy(script=lambda case: (undone(case),)),
    Decoy(script=lambda case: (restarted(case),)),
    *HALF_REPAIRS,
)

FAMILY = Family(
    id="CF-02",
    tier=1,
    summary="A value in a workload's configuration is wrong.",
    partners=("WC-02", "WC-03", "NW-03"),
    source="tests/golden/programs/app-* (malformed variables, failed calls); FAULTS CF-02",
    faults=(
        Fault(
            id="unparsable",
            sign=Sign.RELEASE,
            places=lambda base: takers(base, _is_number),
            params=_params_of_number,
            inject=_inject,
            symptoms=lambda case: (pods_crash(case),),
            evidence=lambda case: (_shown(case), logged(case, case.params["value"])),
            repaired_when=lambda case: (map_holds(case), starts_as_intended(case), rolled_out(case)),
            allowed=lambda case: (
                case.allow(f"data.{need_of(case).key}", resource=CONFIG, name=need_of(case).name),
            ),
            repairs=_RIGHT,
            decoys=(*_OTHERS, Decoy(script=lambda case: (key_written(case, "0"), restarted(case)))),
            diagnosis=_diagnosis,
        ),
        Fault(
            id="wrong-address",
            sign=Sign.ERRORS,
            level=2,
            places=with_asked_addresses,
            params=_params_of_address,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (_shown(case),),
            repaired_when=lambda case: (map_holds(case), starts_as_intended(case), rolled_out(case)),
            allowed=lambda case: (
                case.allow(f"data.{need_of(case).key}", resource=CONFIG, name=need_of(case).name),
            ),
            repairs=(*_RIGHT, lambda case: (key_written(case, full_address(case)), restarted(case))),
            decoys=(*_OTHERS, Decoy(script=lambda case: (key_written(case, need_of(case).value),))),
            diagnosis=_diagnosis,
        ),
        Fault(
            id="unit-slip",
            sign=Sign.ERRORS,
            level=3,
            places=lambda base: tuple(
                role for role in takers(base, _is_timeout) if base.entries_through(role)
            ),
            params=_params_of_timeout,
            inject=_inject,
            symptoms=lambda case: (some_fail(case.entries),),
            evidence=lambda case: (_shown(case),),
            repaired_when=lambda case: (
                map_holds(case, lambda value: _lasts_long_enough(case, value)),
                starts_as_intended(case, lambda value: _lasts_long_enough(case, value)),
                rolled_out(case),
            ),
            allowed=lambda case: (
                case.allow(f"data.{need_of(case).key}", resource=CONFIG, name=need_of(case).name),
            ),
            repairs=(*_RIGHT, lambda case: (key_written(case, "5000"), restarted(case))),
            decoys=(*_OTHERS, Decoy(script=lambda case: (key_written(case, "600000"), restarted(case)))),
            diagnosis=_diagnosis,
        ),
    ),
)
