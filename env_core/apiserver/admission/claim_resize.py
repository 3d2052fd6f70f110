"""PersistentVolumeClaimResize: only claims of a class that allows expansion may ask for more."""

from __future__ import annotations

from env_core.apiserver.admission._refusal import refusal
from env_core.apiserver.admission.default_storage_class import CLASS_ANNOTATION, CLASSES
from env_core.apiserver.plugin import Admission, Attributes
from env_core.objects import quantity
from env_core.world import Object


def _validate(attributes: Attributes) -> None:
    body, old = attributes.object, attributes.old
    assert body is not None
    assert old is not None
    if _storage(body) <= _storage(old):
        return
    if old.get("status", {}).get("phase") != "Bound":
        raise refusal(attributes, "Only bound persistent volume claims can be expanded")
    name = _class_of(body)
    chosen = attributes.store.get(CLASSES, "", name) if name and name == _class_of(old) else None
    if chosen is None or not chosen.get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
            "must support resize"
        )
        raise refusal(attributes, why)


def _storage(claim: Object) -> int:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return quantity.to_bytes(requests.get("storage", "0"))


def _class_of(claim: Object) -> str:
    annotated = (claim["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    return annotated or claim["spec"].get("storageClassName") or ""


ADMISSION = Admission(
    name="PersistentVolumeClaimResize",
    order=230,
    operations=("UPDATE",),
    resources=("persistentvolumeclaims",),
    validate=_validate,
    source="tests/golden/l2/flows/pvc-delete-policy.json.gz, pvc-expand.json.gz",
)
