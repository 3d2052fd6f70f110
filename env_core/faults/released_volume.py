"""A volume that was kept remembers the claim that is gone: the claim made again in its place never gets it."""

from __future__ import annotations

import json
from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._storage import (
    CLAIM_DECOYS,
    CLAIMS,
    VOLUMES,
    applied,
    claim_pends,
    data_kept,
    manifest_of,
    move_claim,
    original_claim,
    stopped_and,
    with_claims,
)
from env_core.faults._words import pass_time, pods_pend, rolled_out, waits
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.view import View

_WAITS_S: Final = (90, 300, 800)


def _volume(base: Base, place: Workload) -> str:
    return str(original_claim(base, place)["spec"]["volumeName"])


def _places(base: Base) -> tuple[str, ...]:
    """Return the roles whose volumes outlive their claims."""
    found = []
    for role in with_claims(base):
        volume = base.cluster.store.get(VOLUMES, "", _volume(base, base.workloads[role]))
        if volume is not None and volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain":
            found.append(role)
    return tuple(found)


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "volume": _volume(base, place),
        "class": str(original_claim(base, place)["spec"]["storageClassName"]),
        **waits(stream, _WAITS_S),
    }


def _inject(case: Case, cluster: Cluster) -> None:
    manifest = manifest_of(original_claim(case.base, case.place), case.params["class"])
    manifest["spec"]["volumeName"] = case.params["volume"]
    move_claim(case, cluster, manifest)
    pass_time(cluster, case)


def has_its_own_volume(case: Case) -> Check:
    """The workload's claim is bound to the volume on which its data are."""

    def fails(view: View) -> str:
        claim = view.get(CLAIMS, case.namespace, case.place.claims[0])
        if claim is None or claim.get("status", {}).get("phase") != "Bound":
            return f"claim {case.place.claims[0]} is not bound"
        bound = claim["spec"]["volumeName"]
        return "" if bound == case.params["volume"] else f"claim {case.place.claims[0]} has volume {bound}"

    return Check(f"{case.name} has its own volume", fails)


def _forget(case: Case) -> str:
    changes = [{"op": "remove", "path": f"/spec/claimRef/{field}"} for field in ("uid", "resourceVersion")]
    return f"kubectl patch pv {case.params['volume']} --type=json -p '{json.dumps(changes)}'"


def _status(case: Case) -> str:
    return f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=90s"


def _claimed_anew(case: Case, *between: str) -> Script:
    """Return the script that makes the claim again without a volume's name, and does something while it is gone."""
    claim = original_claim(case.base, case.place)
    return stopped_and(
        case,
        f"kubectl -n {case.namespace} delete pvc {case.place.claims[0]}",
        *between,
        applied(manifest_of(claim, case.params["class"])),
    )


FAMILY = Family(
    id="ST-03",
    tier=2,
    summary="A released volume is still reserved for a claim that was deleted.",
    partners=("ST-01", "ST-02", "RS-05"),
    source="tests/golden/l2/flows (pvc-), k8s.io/kubernetes pkg/controller/volume/persistentvolume; FAULTS ST-03",
    faults=(
        Fault(
            id="old-reservation",
            sign=Sign.PODS,
            places=_places,
            params=_params,
            inject=_inject,
            symptoms=lambda case: (claim_pends(case), pods_pend(case)),
            evidence=lambda case: (
                Evidence(
                    command=f"kubectl -n {case.namespace} describe pvc {case.place.claims[0]}",
                    shows="already bound to a different claim",
                ),
                Evidence(command="kubectl get pv", shows="Released"),
            ),
            repaired_when=lambda case: (has_its_own_volume(case), rolled_out(case), *data_kept(case)),
            allowed=lambda case: tuple(
                case.allow(path, resource=CLAIMS, name=case.place.claims[0])
                for path in ("identity", "-", "spec")
            ),
            repairs=(
                lambda case: (_forget(case), _status(case)),
                lambda case: (*_claimed_anew(case, _forget(case)), _status(case)),
            ),
            decoys=(
                *CLAIM_DECOYS,
                Decoy(script=_claimed_anew),
                Decoy(
                    script=lambda case: (
                        f"kubectl -n {case.namespace} patch pvc {case.place.claims[0]} "
                        """-p '{"spec":{"volumeName":null}}'""",
                    )
                ),
            ),
            diagnosis=lambda case: Diagnosis(
                kind="PersistentVolume", namespace="", name=case.params["volume"], mechanism=Mechanism.STORAGE
            ),
            level=4,
        ),
    ),
)
