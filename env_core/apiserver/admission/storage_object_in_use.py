"""StorageObjectInUseProtection: claims and volumes get a finalizer that keeps them while they are used."""

from __future__ import annotations

from env_core.apiserver.plugin import Admission, Attributes
from env_core.world import Object

_FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
}


def _mutate(attributes: Attributes) -> Object:
    body = attributes.object
    assert body is not None
    wanted = _FINALIZERS[attributes.kind.resource]
    metadata = body["metadata"]
    finalizers = metadata.get("finalizers") or []
    if wanted in finalizers:
        return body
    return {**body, "metadata": {**metadata, "finalizers": [*finalizers, wanted]}}


ADMISSION = Admission(
    name="StorageObjectInUseProtection",
    order=210,
    operations=("CREATE",),
    resources=tuple(_FINALIZERS),
    mutate=_mutate,
    source="tests/golden/l2/flows/pvc-wffc.json.gz",
)
