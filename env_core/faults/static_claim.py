"""A claim for a volume that was prepared by hand does not fit it: no volume matches, and its pod is never placed."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.controllers.volumeprovisioner import DRIVER
from env_core.faults._model import Case, Decoy, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._storage import (
    CLAIM_DECOYS,
    CLAIMS,
    VOLUMES,
    applied,
    claim_is_wrong,
    claim_pends,
    claim_size,
    keeps_data_on_claim,
    manifest_of,
    move_claim,
    original_claim,
    stopped_and,
    with_claims,
)
from env_core.faults._words import pods_pend, rolled_out, waits
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.data import writes_outlast_pods
from env_core.verify.scope import Allowed
from env_core.verify.view import View
from env_core.world import Object

_WAITS_S: Final = (90, 300, 800)
_KEYS: Final = ("disk", "volume", "storage-id")
_SHELVES: Final = ("rack-2", "shelf-7", "pool-b", "array-1")
_GIB: Final = 1 << 30


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    shelf = stream.choice(_SHELVES)
    return {
        "volume": f"{place.claims[0]}-{shelf}",
        "foreign": f"{stream.choice(('media', 'ledger', 'telemetry'))}-{shelf}",
        "key": stream.choice(_KEYS),
        "label": f"{place.name}-{shelf}",
        "asked": f"{place.name}-{stream.choice([each for each in _SHELVES if each != shelf])}",
        "more": str(claim_size(base, place) // _GIB + stream.choice((2, 5, 10))),
        **waits(stream, _WAITS_S),
    }


def _disk(name: str, size_gib: int, labels: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": f"{size_gib}Gi"},
            "csi": {"driver": DRIVER, "fsType": "ext4", "volumeHandle": f"static-{name}"},
            "persistentVolumeReclaimPolicy": "Retain",
        },
    }


def _claim(case: Case, label: str, size_gib: int, volume: str = "") -> Object:
    found = manifest_of(original_claim(case.base, case.place), "", size=f"{size_gib}Gi")
    found["spec"]["selector"] = {"matchLabels": {case.params["key"]: label}}
    if volume:
        found["spec"]["volumeName"] = volume
    return found


def _size_gib(case: Case) -> int:
    return claim_size(case.base, case.place) // _GIB


def _prepare(case: Case, cluster: Cluster, claim: Object) -> None:
    """Let the platform's owners prepare two disks, and a colleague claim one of them."""
    params, size = case.params, _size_gib(case)
    owners = cluster.client()
    owners.create(VOLUMES, "", _disk(params["volume"], size, {params["key"]: params["label"]}))
    owners.create(VOLUMES, "", _disk(params["foreign"], 4 * size, {params["key"]: params["foreign"]}))
    cluster.advance(30_000)
    move_claim(case, cluster, claim)
    cluster.advance(int(params["wait_s"]) * 1_000)


def _inject_label(case: Case, cluster: Cluster) -> None:
    _prepare(case, cluster, _claim(case, case.params["asked"], _size_gib(case)))


def _inject_size(case: Case, cluster: Cluster) -> None:
    _prepare(case, cluster, _claim(case, case.params["label"], int(case.params["more"])))


def has_the_prepared_volume(case: Case) -> Check:
    """The workload's claim is bound to the volume that was prepared for it, or to the one that it always had."""

    def fails(view: View) -> str:
        claim = view.get(CLAIMS, case.namespace, case.place.claims[0])
        if claim is None or claim.get("status", {}).get("phase") != "Bound":
            return f"claim {case.place.claims[0]} is not bound"
        own = original_claim(case.base, case.place)["spec"]["volumeName"]
        bound = claim["spec"]["volumeName"]
        if bound not in (case.params["volume"], own):
            return f"claim {case.place.claims[0]} has volume {bound}"
        return ""

    return Check(f"{case.name} has the volume that was prepared for it", fails)


def _goals(case: Case) -> tuple[Check, ...]:
    lasts = (writes_outlast_pods(case.place.database),) if case.place.protocol else ()
    return (has_the_prepared_volume(case), keeps_data_on_claim(case), rolled_out(case), *lasts)


def _allowed(case: Case) -> tuple[Allowed, ...]:
    return (
        *(case.allow(path, resource=CLAIMS, name=case.place.claims[0]) for path in ("identity", "-", "spec")),
        *(
            Allowed(resource=VOLUMES, namespace="", name=case.params[name], path="+")
            for name in ("volume", "foreign")
        ),
    )


def _claimed(case: Case, claim: Object) -> Script:
    delete = f"kubectl -n {case.namespace} delete pvc {case.place.claims[0]}"
    status = f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=90s"
    return (*stopped_and(case, delete, applied(claim)), status)


def _relabel(case: Case, volume: str, label: str) -> Script:
    return (
        f"kubectl label pv {volume} {case.params['key']}={label} --overwrite",
        f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=90s",
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    return (
        Evidence(
            command=f"kubectl -n {case.namespace} describe pvc {case.place.claims[0]}",
            shows="no persistent volumes available for this claim and no storage class is set",
        ),
        Evidence(command="kubectl get pv --show-labels", shows=case.params["volume"]),
    )


def _on_default_class(case: Case) -> Script:
    return _claimed(case, manifest_of(original_claim(case.base, case.place), "standard"))


_DECOYS: Final = (
    *CLAIM_DECOYS,
    Decoy(script=_on_default_class),
)


FAMILY = Family(
    id="ST-02",
    tier=1,
    summary="A claim asks for what the volume prepared for it is not.",
    partners=("ST-01", "ST-03", "RS-05"),
    source="tests/golden/l2/flows (pvc-); FAULTS ST-02",
    faults=(
        Fault(
            id="other-label",
            sign=Sign.PODS,
            places=with_claims,
            params=_params,
            inject=_inject_label,
            symptoms=lambda case: (claim_pends(case), pods_pend(case)),
            evidence=_evidence,
            repaired_when=_goals,
            allowed=_allowed,
            repairs=(
                lambda case: _claimed(case, _claim(case, case.params["label"], _size_gib(case))),
                lambda case: _relabel(case, case.params["volume"], case.params["asked"]),
            ),
            decoys=(
                *_DECOYS,
                Decoy(script=lambda case: _relabel(case, case.params["foreign"], case.params["asked"])),
            ),
            diagnosis=claim_is_wrong,
            level=3,
        ),
        Fault(
            id="more-than-there-is",
            sign=Sign.PODS,
            places=with_claims,
            params=_params,
            inject=_inject_size,
            symptoms=lambda case: (claim_pends(case), pods_pend(case)),
            evidence=_evidence,
            repaired_when=_goals,
            allowed=_allowed,
            repairs=(
                lambda case: _claimed(case, _claim(case, case.params["label"], _size_gib(case))),
                lambda case: _claimed(
                    case, _claim(case, case.params["label"], _size_gib(case), case.params["volume"])
                ),
            ),
            decoys=(
                *_DECOYS,
                Decoy(script=lambda case: _relabel(case, case.params["foreign"], case.params["label"])),
            ),
            diagnosis=claim_is_wrong,
            level=3,
        ),
    ),
)
