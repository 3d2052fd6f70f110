"""A claim asks for a storage class that is not there: it is never bound, and its pod is never placed."""

from __future__ import annotations

from typing import Final

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.faults._model import Case, Decoy, Diagnosis, Evidence, Family, Fault, Params, Script, Sign
from env_core.faults._storage import (
    CLAIM_DECOYS,
    CLAIMS,
    CLASSES,
    applied,
    claim_is_wrong,
    claim_pends,
    keeps_data_on_claim,
    manifest_of,
    move_claim,
    original_claim,
    other_volume,
    remade,
    with_claims,
)
from env_core.faults._words import pass_time, pods_pend, rolled_out, waits
from env_core.objects import meta
from env_core.scenarios._app import Base, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.data import writes_outlast_pods
from env_core.verify.scope import Allowed
from env_core.world import Object

_SLIPS: Final = ("{}-ssd", "{}-rwo", "{}-retain", "premium-{}", "{}s", "csi-{}")
_WAITS_S: Final = (90, 300, 800)
_DRIVER: Final = "disk.csi.example.net"


def _class(base: Base, place: Workload) -> str:
    return str(original_claim(base, place)["spec"]["storageClassName"])


def _params(stream: Stream, base: Base, place: Workload) -> Params:
    return {
        "class": stream.choice(_SLIPS).format(_class(base, place)),
        **waits(stream, _WAITS_S),
    }


def _misspell(case: Case, cluster: Cluster) -> None:
    move_claim(case, cluster, manifest_of(original_claim(case.base, case.place), case.params["class"]))
    pass_time(cluster, case)


def _on_class_of_its_own(base: Base) -> tuple[str, ...]:
    """Return the roles whose claims do not name the default class: nobody would remove that."""
    return tuple(role for role in with_claims(base) if _class(base, base.workloads[role]) != "standard")


def _remove(case: Case, cluster: Cluster) -> None:
    name = case.params["class"]
    cluster.client().delete(CLASSES, "", name)
    cluster.advance(45_000)
    move_claim(case, cluster, manifest_of(original_claim(case.base, case.place), name))
    pass_time(cluster, case)


def _removal_params(stream: Stream, base: Base, place: Workload) -> Params:
    return {"class": _class(base, place), **waits(stream, _WAITS_S)}


def _restored(case: Case) -> Object:
    found = case.base.cluster.store.get(CLASSES, "", case.params["class"])
    assert found is not None
    kept = ("provisioner", "parameters", "reclaimPolicy", "allowVolumeExpansion", "volumeBindingMode")
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": meta.name(found)},
        **{key: found[key] for key in kept if key in found},
    }


def _goals(case: Case) -> tuple[Check, ...]:
    lasts = (writes_outlast_pods(case.place.database),) if case.place.protocol else ()
    return (keeps_data_on_claim(case), rolled_out(case), *lasts)


def _allowed(case: Case) -> tuple[Allowed, ...]:
    claim = case.place.claims[0]
    return (
        *(case.allow(path, resource=CLAIMS, name=claim) for path in ("identity", "-", "spec")),
        case.allow("+", resource=CLAIMS, name="*"),
        case.allow("spec.template.spec.volumes"),
    )


def _also_class(case: Case) -> tuple[Allowed, ...]:
    name = case.params["class"]
    parts = ("identity", "-", "parameters", "reclaimPolicy", "allowVolumeExpansion", "volumeBindingMode")
    return tuple(
        Allowed(resource=CLASSES, namespace="", name=name, path=path) for path in (*parts, "metadata")
    )


def _second_claim(case: Case, class_name: str | None) -> Script:
    claim = original_claim(case.base, case.place)
    name = f"{meta.name(claim)}-2"
    return (
        applied(manifest_of(claim, class_name, name)),
        other_volume(case, {"persistentVolumeClaim": {"claimName": name}}),
    )


def _evidence(case: Case) -> tuple[Evidence, ...]:
    return (
        Evidence(command=f"kubectl -n {case.namespace} get pvc", shows=case.params["class"]),
        Evidence(
            command=f"kubectl -n {case.namespace} describe pvc {case.place.claims[0]}",
            shows=f'storageclass.storage.k8s.io "{case.params["class"]}" not found',
        ),
    )


_DECOYS: Final = (
    *CLAIM_DECOYS,
    Decoy(
        script=lambda case: (
            f"kubectl -n {case.namespace} patch pvc {case.place.claims[0]} "
            """-p '{"spec":{"storageClassName":"standard"}}'""",
        )
    ),
)


FAMILY = Family(
    id="ST-01",
    tier=1,
    summary="A claim names a storage class that does not exist.",
    partners=("ST-02", "RS-05", "SN-01"),
    source="tests/golden/l2/flows (pvc-), tests/golden/l2/kubectl (describe pvc); FAULTS ST-01",
    faults=(
        Fault(
            id="slip-of-class",
            sign=Sign.PODS,
            places=with_claims,
            params=_params,
            inject=_misspell,
            symptoms=lambda case: (claim_pends(case), pods_pend(case)),
            evidence=_evidence,
            repaired_when=_goals,
            allowed=_allowed,
            repairs=(
                lambda case: remade(case, _class(case.base, case.place)),
                lambda case: _second_claim(case, None),
            ),
            decoys=(
                *_DECOYS,
                Decoy(
                    script=lambda case: (
                        applied(
                            {
                                "apiVersion": "storage.k8s.io/v1",
                                "kind": "StorageClass",
                                "metadata": {"name": case.params["class"]},
                                "provisioner": _DRIVER,
                            }
                        ),
                    )
                ),
            ),
            diagnosis=claim_is_wrong,
            level=2,
        ),
        Fault(
            id="class-removed",
            sign=Sign.PODS,
            places=_on_class_of_its_own,
            params=_removal_params,
            inject=_remove,
            symptoms=lambda case: (claim_pends(case), pods_pend(case)),
            evidence=_evidence,
            repaired_when=_goals,
            allowed=lambda case: (*_allowed(case), *_also_class(case)),
            repairs=(
                lambda case: (
                    applied(_restored(case)),
                    f"kubectl -n {case.namespace} rollout status deployment/{case.name} --timeout=60s",
                ),
                lambda case: remade(case, "standard"),
            ),
            decoys=_DECOYS,
            diagnosis=lambda case: Diagnosis(
                kind="StorageClass", namespace="", name=case.params["class"], mechanism=Mechanism.STORAGE
            ),
            level=3,
        ),
    ),
)
