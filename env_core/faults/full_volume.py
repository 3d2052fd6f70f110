"""A database's journal grows past its volume: the server ends for want of space and cannot start again."""

from __future__ import annotations

import json
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Sign
from env_core.faults._storage import (
    CLAIMS,
    claim_size,
    data_kept,
    pods_end,
    stateful_databases,
    volume_never_fills,
)
from env_core.faults._words import container_of, owner_of, pass_time, patch_container, rolled_out, waits
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.checks.entries import some_fail
from env_core.verify.view import View

_BOUND: Final = "wal_keep_size="
_SIZES_GB: Final = (64, 80, 96, 128, 160)
_WAITS_S: Final = (60, 240, 500)
_LOOK_MS: Final = 300_000
_LOOKS_MAX: Final = 36
_GIB: Final = 1 << 30


def _params(stream: Stream, _base: Base, _place: Workload) -> Params:
    return {
        "bound": f"{stream.choice(_SIZES_GB)}GB",
        **waits(stream, _WAITS_S),
    }


def _args(case: Case) -> list[str]:
    owner = case.base.cluster.store.get(case.place.resource, case.namespace, case.name)
    assert owner is not None
    return list(container_of(owner, case.place.container).get("args") or ())


def _inject(case: Case, cluster: Cluster) -> None:
    arguments = [*_args(case), "-c", f"{_BOUND}{case.params['bound']}"]
    patch_container(cluster, case.place, {"args": arguments})
    has_ended = pods_end(case)
    cluster.advance(60_000)
    for _ in range(_LOOKS_MAX):
        if not has_ended.fails(View(cluster)):
            break
        cluster.advance(_LOOK_MS)
    pass_time(cluster, case)


def keeps_settings(case: Case) -> Check:
    """But for how much of its journal it keeps, the server is set as it was."""

    def fails(view: View) -> str:
        words = container_of(owner_of(view, case), case.place.container).get("args") or []
        own = [
            pair for pair in zip(words[::2], words[1::2]) if not pair[1].replace(" ", "").startswith(_BOUND)
        ]
        wanted = _args(case)
        if len(words) % 2 or own != list(zip(wanted[::2], wanted[1::2])):
            return f"{case.name} runs with {' '.join(words)}"
        return ""

    return Check(f"{case.name} keeps its settings", fails)


def _set_args(case: Case, *more: str) -> str:
    container = {"name": case.place.container, "args": [*_args(case), *more]}
    body = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
    return f"kubectl -n {case.namespace} patch statefulset {case.name} -p '{body}'"


def _expand(case: Case, size_gib: int) -> str:
    body = json.dumps({"spec": {"resources": {"requests": {"storage": f"{size_gib}Gi"}}}})
    return f"kubectl -n {case.namespace} patch pvc {case.place.claims[0]} -p '{body}'"


def _size_gib(case: Case) -> int:
    return claim_size(case.base, case.place) // _GIB


def _delete_pod(case: Case) -> str:
    return f"kubectl -n {case.namespace} delete pod {case.name}-0"


def _status(case: Case) -> str:
    return f"kubectl -n {case.namespace} rollout status statefulset/{case.name} --timeout=120s"


def _bound_gib(case: Case) -> int:
    return int(case.params["bound"].removesuffix("GB"))


FAMILY = Family(
    id="ST-06",
    tier=1,
    summary="A volume is full: the database on it ends and cannot start.",
    partners=("RS-01", "WC-02", "RO-10"),
    source="tests/golden/programs/postgres (postgres.diskfull); FAULTS ST-06",
    faults=(
        Fault(
            id="journal-kept",
            sign=Sign.ERRORS,
            places=stateful_databases,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (pods_end(case), some_fail(case.entries)),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} logs {case.name}-0",
                    shows="No space left on device",
                ),
                Evidence(
                    command=f"kubectl -n {case.namespace} get statefulset {case.name} -o yaml",
                    shows=f"{_BOUND}{case.params['bound']}",
                ),
            ),
            repaired_when=lambda case: (
                volume_never_fills(case),
                keeps_settings(case),
                rolled_out(case),
                *data_kept(case),
            ),
            allowed=lambda case: (
                case.allow(case.container("args")),
                case.allow("spec.resources", resource=CLAIMS, name=case.place.claims[0]),
            ),
            repairs=(
                lambda case: (
                    _expand(case, _size_gib(case) + 10),
                    _set_args(case),
                    _delete_pod(case),
                    _status(case),
                ),
                lambda case: (
                    _expand(case, _bound_gib(case) * 5 // 4),
                    _delete_pod(case),
                    _status(case),
                ),
                lambda case: (
                    _expand(case, _size_gib(case) * 2),
                    _set_args(case, "-c", f"{_BOUND}4GB"),
                    _delete_pod(case),
                    _status(case),
                ),
            ),
            decoys=(
                Decoy(script=lambda case: (_set_args(case), _delete_pod(case))),
                Decoy(script=lambda case: (_delete_pod(case),)),
                Decoy(
                    script=lambda case: (
                        _expand(case, _size_gib(case) + 10),
                        _delete_pod(case),
                        _status(case),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        _expand(case, _size_gib(case) * 2),
                        f"kubectl -n {case.namespace} patch statefulset {case.name} --type=json -p "
                        """'[{"op":"remove","path":"/spec/template/spec/containers/0/args"}]'""",
                        _delete_pod(case),
                        _status(case),
                    )
                ),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} delete pvc {case.place.claims[0]} --wait=false",
                        _delete_pod(case),
                        _status(case),
                    ),
                    is_harmful=True,
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="StatefulSet",
                namespace=case.namespace,
                name=case.name,
                mechanism=Mechanism.STORAGE_FULL,
            ),
            level=4,
        ),
    ),
)
