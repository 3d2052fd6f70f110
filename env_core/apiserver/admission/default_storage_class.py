"""DefaultStorageClass: a claim that names no class gets the one marked as default."""

from __future__ import annotations

from env_core.apiserver.admission._default_class import default_class
from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

CLASSES = "storageclasses.storage.k8s.io"
_MARKS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    spec = body.get("spec") or {}
    if spec.get("storageClassName") is not None:
        return body
    if CLASS_ANNOTATION in (body["metadata"].get("annotations") or {}):
        return body
    chosen = default_class(attributes.store, CLASSES, _MARKS)
    if chosen is None:
        return body
    return {**body, "spec": {**spec, "storageClassName": chosen["metadata"]["name"]}}


ADMISSION = Admission(
    name="DefaultStorageClass",
    order=200,
    operations=("CREATE",),
    resources=("persistentvolumeclaims",),
    mutate=_mutate,
    source="k8s.io/kubernetes plugin/pkg/admission/storage/storageclass/setdefault",
)
