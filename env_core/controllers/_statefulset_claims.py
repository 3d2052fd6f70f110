"""The claims of a StatefulSet's pods: made from templates, kept or given owners as the retention policy says.

Source: k8s.io/kubernetes pkg/controller/statefulset stateful_pod_control.go, stateful_set_utils.go;
tests/golden/l2/flows (sts-pvc, pvc-delete-policy).
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers._retry import TryAgain
from env_core.objects import meta
from env_core.objects.owners import controller_reference, owned_by
from env_core.world import Object

CLAIMS = "persistentvolumeclaims"
DELETE = "Delete"
_POD = {"apiVersion": "v1", "kind": "Pod"}


def claim_name(stateful_set: Object, template: Object, ordinal: int) -> str:
    """Return the name of the claim that a template gives to an ordinal."""
    return f"{template['metadata']['name']}-{meta.name(stateful_set)}-{ordinal}"


def _templates(stateful_set: Object) -> list[Object]:
    return stateful_set["spec"].get("volumeClaimTemplates") or []


def _claims(component: Component, stateful_set: Object, ordinal: int) -> list[Object]:
    """Return the claims of an ordinal that exist."""
    namespace = meta.namespace(stateful_set)
    names = [claim_name(stateful_set, template, ordinal) for template in _templates(stateful_set)]
    found = [component.cache.get(CLAIMS, namespace, name) for name in names]
    return [claim for claim in found if claim is not None]


def _policy(stateful_set: Object, key: str) -> bool:
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get(key) == DELETE)


def create_missing(component: Component, stateful_set: Object, pod_name: str, ordinal: int) -> None:
    """Create the claims of an ordinal that are missing, and say so.

    Raises:
        TryAgain: if some could not be created, or are being deleted.
    """
    namespace = meta.namespace(stateful_set)
    problems = []
    for template in _templates(stateful_set):
        name = claim_name(stateful_set, template, ordinal)
        found = component.cache.get(CLAIMS, namespace, name)
        if found is not None:
            if meta.is_terminating(found):
                problems.append(f"pvc {name} is being deleted")
            continue
        try:
            component.api.create(CLAIMS, namespace, _claim(stateful_set, template, name))
        except StatusError as error:
            problems.append(f"failed to create PVC {name}: {error.message}")
            if error.reason != "AlreadyExists":
                _record(component, stateful_set, name, pod_name, f"failed error: {error.message}")
            continue
        _record(component, stateful_set, name, pod_name, "success")
    if problems:
        raise TryAgain(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _claim(stateful_set: Object, template: Object, name: str) -> Object:
    said = template["metadata"]
    labels = {
        **(said.get("labels") or {}),
        **((stateful_set["spec"].get("selector") or {}).get("matchLabels") or {}),
    }
    metadata = {key: said[key] for key in ("annotations", "finalizers") if said.get(key)}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**metadata, "name": name, "namespace": meta.namespace(stateful_set), "labels": labels},
        "spec": template.get("spec") or {},
    }


def _record(component: Component, stateful_set: Object, claim: str, pod: str, outcome: str) -> None:
    is_fine = outcome == "success"
    text = f"Create Claim {claim}{'' if is_fine else ' for'} Pod {pod} in StatefulSet {meta.name(stateful_set)} {outcome}"
    kind, reason = ("Normal", "SuccessfulCreate") if is_fine else ("Warning", "FailedCreate")
    component.recorder.event(stateful_set, kind, reason, text)


def has_stale_claim(component: Component, stateful_set: Object, pod_name: str, ordinal: int) -> bool:
    """Say whether a claim still belongs to the pod that had the ordinal before, and goes with it."""
    if not _policy(stateful_set, "whenScaled"):
        return False
    return any(
        _is_reference_to(reference, _POD, pod_name)
        for claim in _claims(component, stateful_set, ordinal)
        for reference in meta.owner_references(claim)
    )


def is_retention_settled(
    component: Component, stateful_set: Object, pod: Object, ordinal: int, *, is_condemned: bool
) -> bool:
    """Say whether the owners of a pod's claims are what the retention policy asks for."""
    return all(
        _is_settled(claim, stateful_set, pod, is_condemned=is_condemned)
        for claim in _claims(component, stateful_set, ordinal)
    )


def settle_retention(
    component: Component, stateful_set: Object, pod: Object, ordinal: int, *, is_condemned: bool
) -> None:
    """Give the claims of a pod the owners that the retention policy asks for.

    Raises:
        StatusError: if the API refuses.
    """
    for claim in _claims(component, stateful_set, ordinal):
        if _has_other_controller(claim, stateful_set, pod):
            text = (
                f"PersistentVolumeClaim {meta.name(claim)} has a conflicting OwnerReference that acts as a "
                "manging controller, the retention policy is ignored for this claim"
            )
            component.recorder.event(stateful_set, "Warning", "ConflictingController", text)
        if not _is_settled(claim, stateful_set, pod, is_condemned=is_condemned):
            changed = _with_owners(claim, stateful_set, pod, is_condemned=is_condemned)
            component.api.update(CLAIMS, meta.namespace(claim), changed)


def _is_reference_to(reference: Object, kind: Object, name: str) -> bool:
    return (reference["apiVersion"], reference["kind"], reference["name"]) == (
        kind["apiVersion"],
        kind["kind"],
        name,
    )


def _is_stale(claim: Object, owner: Object) -> bool:
    """Say whether the claim's owner of that name is an earlier object."""
    for reference in meta.owner_references(claim):
        if _is_reference_to(reference, owner, meta.name(owner)):
            return bool(reference["uid"] != meta.uid(owner))
    return False


def _has_other_controller(claim: Object, stateful_set: Object, pod: Object) -> bool:
    if not _policy(stateful_set, "whenScaled") and not _policy(stateful_set, "whenDeleted"):
        return False
    for reference in meta.owner_references(claim):
        for owner in (stateful_set, pod):
            if _is_reference_to(reference, owner, meta.name(owner)):
                if reference["uid"] != meta.uid(owner):
                    return True
                break
        else:
            if reference.get("controller"):
                return True
    return False


def _wanted_owners(stateful_set: Object, pod: Object, *, is_condemned: bool) -> list[Object]:
    is_scaled, is_deleted = _policy(stateful_set, "whenScaled"), _policy(stateful_set, "whenDeleted")
    if is_scaled and is_condemned:
        return [pod]
    return [stateful_set] if is_deleted else []


def _is_settled(claim: Object, stateful_set: Object, pod: Object, *, is_condemned: bool) -> bool:
    if _is_stale(claim, stateful_set) or _is_stale(claim, pod):
        return True
    uids = (meta.uid(stateful_set), meta.uid(pod))
    if _has_other_controller(claim, stateful_set, pod):
        return not any(uid and owned_by(claim, uid) for uid in uids)
    if any(
        reference["uid"] in uids and not reference.get("controller")
        for reference in meta.owner_references(claim)
    ):
        return False
    wanted = [meta.uid(owner) for owner in _wanted_owners(stateful_set, pod, is_condemned=is_condemned)]
    return all(owned_by(claim, uid) == (uid in wanted) for uid in uids if uid)


def _with_owners(claim: Object, stateful_set: Object, pod: Object, *, is_condemned: bool) -> Object:
    others = [
        reference
        for reference in meta.owner_references(claim)
        if not any(_is_reference_to(reference, owner, meta.name(owner)) for owner in (stateful_set, pod))
    ]
    wanted = (
        []
        if _has_other_controller(claim, stateful_set, pod)
        else _wanted_owners(stateful_set, pod, is_condemned=is_condemned)
    )
    references = [*others, *map(controller_reference, wanted)]
    return meta.with_metadata(claim, ownerReferences=references or None)
