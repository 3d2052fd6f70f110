"""A Secret's value was encoded wrongly: it reads like the password, and the server refuses it."""

from __future__ import annotations

import json
from functools import partial

from env_core.cluster import Cluster
from env_core.faults._config import (
    SECRET,
    drawn_need,
    encoded,
    is_of_store,
    keeps_secret,
    logged,
    need_of,
    some_unready,
    starts_as_intended,
    store_named,
    takers,
    variable_set,
)
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._words import (
    deleted,
    pass_time,
    recreated,
    restart,
    restarted,
    rolled_out,
    stopped,
    undone,
    waits,
)
from env_core.scenarios._app import Base, Workload
from env_core.scenarios.platform import COLLEAGUE
from env_core.sim.rng import Stream
from env_core.verify.changes import IDENTITY
from env_core.verify.checks import Check
from env_core.verify.view import View

_WAITS_S = (120, 400, 900)
NEWLINE = "newline"
TWICE = "twice"


def _params(stream: Stream, _base: Base, place: Workload) -> Params:
    return {"variable": drawn_need(stream, place, is_of_store).variable, **waits(stream, _WAITS_S)}


def _mistake(case: Case, kind: str) -> str:
    value = need_of(case).value
    return encoded(f"{value}\n" if kind == NEWLINE else encoded(value))


def _inject(kind: str, case: Case, cluster: Cluster) -> None:
    need = need_of(case)
    patch = {"data": {need.key: _mistake(case, kind)}}
    cluster.client(COLLEAGUE).patch(SECRET, case.namespace, need.name, patch)
    cluster.advance(30_000)
    restart(cluster, case.place)
    pass_time(cluster, case)


def bytes_equal(case: Case) -> Check:
    """The Secret holds the credential, byte for byte."""
    need = need_of(case)

    def fails(view: View) -> str:
        found = view.get(SECRET, case.namespace, need.name)
        if found is None:
            return f"Secret {need.name} is gone"
        is_right = (found.get("data") or {}).get(need.key) == encoded(need.value)
        return "" if is_right else f"Secret {need.name} holds another {need.key}"

    return Check(f"{need.name} holds the bytes of {need.key}", fails)


def _patched(case: Case) -> str:
    body = json.dumps({"data": {need_of(case).key: encoded(need_of(case).value)}})
    return f"kubectl -n {case.namespace} patch secret {need_of(case).name} -p '{body}'"


def _applied(case: Case) -> str:
    need = need_of(case)
    return (
        f"kubectl -n {case.namespace} create secret generic {need.name} --from-literal={need.key}='{need.value}' "
        f"--dry-run=client -o yaml | kubectl apply -f -"
    )


def _store_taught(case: Case) -> Script:
    """Let the server take the wrong bytes, too."""
    where = f"kubectl -n {case.namespace} rollout"
    return f"{where} restart {store_named(case)}", f"{where} status {store_named(case)}", restarted(case)


def _fault(kind: str, level: int, fault_id: str) -> Fault:
    return Fault(
        id=fault_id,
        sign=Sign.RELEASE,
        level=level,
        places=lambda base: takers(base, is_of_store),
        params=_params,
        inject=partial(_inject, kind),
        symptoms=lambda case: (some_unready(case),),
        evidence=lambda case: (
            logged(case, "password"),
            Evidence(
                command=f"kubectl -n {case.namespace} get secret {need_of(case).name} -o yaml",
                shows=_mistake(case, kind),
            ),
        ),
        repaired_when=lambda case: (
            bytes_equal(case),
            starts_as_intended(case),
            keeps_secret(case),
            rolled_out(case),
        ),
        allowed=lambda case: (
            case.allow(f"data.{need_of(case).key}", resource=SECRET, name=need_of(case).name),
            case.allow(IDENTITY, resource=SECRET, name=need_of(case).name),
        ),
        repairs=(
            lambda case: (_patched(case), restarted(case)),
            lambda case: (_applied(case), recreated(case)),
        ),
        decoys=(
            Decoy(script=lambda case: (variable_set(case, need_of(case).value),)),
            Decoy(script=lambda case: (undone(case),)),
            Decoy(script=lambda case: (_patched(case), stopped(case))),
            Decoy(script=lambda case: (restarted(case),)),
            Decoy(script=_store_taught),
            Decoy(
                script=lambda case: (f"kubectl -n {case.namespace} delete {store_named(case)}",),
                is_harmful=True,
            ),
            Decoy(script=lambda case: (deleted(case),), is_harmful=True),
        ),
        diagnosis=lambda case: Diagnosis(
            kind="Secret", namespace=case.namespace, name=need_of(case).name, mechanism=Mechanism.CREDENTIAL
        ),
    )


FAMILY = Family(
    id="CF-03",
    tier=1,
    summary="A Secret holds a value with a newline at its end, or one that was encoded twice.",
    partners=("CF-04", "WC-02", "CF-02"),
    source="tests/golden/programs/client-libs, postgres (refused passwords); FAULTS CF-03",
    faults=(_fault(TWICE, 2, "encoded-twice"), _fault(NEWLINE, 3, "trailing-newline")),
)
