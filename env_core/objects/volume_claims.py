"""Claims and volumes: which class they name, which belong together, which volume suits a claim best.

Source: k8s.io/component-helpers storage/volume pv_helpers.go (FindMatchingVolume, IsVolumeBoundToClaim).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from env_core.objects import quantity, selectors
from env_core.world import Object

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"
CLASSES = "storageclasses.storage.k8s.io"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
WAIT = "WaitForFirstConsumer"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def class_name(obj: Object) -> str:
    """Return the storage class that a claim or volume names, "" for none."""
    annotated = (obj["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
    return annotated or obj["spec"].get("storageClassName") or ""


def size_bytes(claim: Object | None) -> int | None:
    """Return the size of the file system on a claim's volume, None while it has none."""
    size = (((claim or {}).get("status") or {}).get("capacity") or {}).get("storage")
    return quantity.to_bytes(size) if size else None


def is_bound(claim: Object) -> bool:
    """Whether the claim has its volume for good."""
    annotations = claim["metadata"].get("annotations") or {}
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations


def is_reserved_for(reference: Object | None, claim: Object) -> bool:
    """Say whether a volume's claimRef is to a claim; one without uid is to whatever has the name."""
    metadata = claim["metadata"]
    if reference is None or (reference.get("namespace"), reference.get("name")) != (
        metadata["namespace"],
        metadata["name"],
    ):
        return False
    return reference.get("uid") in (None, "", metadata.get("uid"))


def mismatch(volume: Object, claim: Object) -> str:
    """Return why a volume does not suit a claim, in the words of the volume controller; "" if it does."""
    offered, spec = volume["spec"], claim["spec"]
    if "deletionTimestamp" in volume["metadata"]:
        return f'the volume is marked for deletion "{volume["metadata"]["name"]}"'
    wanted = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "0")
    if quantity.to_bytes((offered.get("capacity") or {}).get("storage", "0")) < quantity.to_bytes(wanted):
        return "requested PV is too small"
    if class_name(volume) != class_name(claim):
        return "storageClassName does not match"
    if (offered.get("volumeMode") or "Filesystem") != (spec.get("volumeMode") or "Filesystem"):
        return "incompatible volumeMode"
    if not set(spec.get("accessModes") or ()) <= set(offered.get("accessModes") or ()):
        return "incompatible accessMode"
    return ""


def best_volume(
    claim: Object, volumes: Iterable[Object], fits: Callable[[Object], bool] | None = None
) -> Object | None:
    """Return the smallest free volume that suits the claim; one reserved for it comes first.

    `fits` narrows the choice (to what a node can use). Without it, volumes wait for no node: a claim that does is
    only given what is reserved for it.
    """
    selector = selectors.from_object(claim["spec"]["selector"]) if claim["spec"].get("selector") else None
    best: tuple[int, Object] | None = None
    for volume in volumes:
        if fits is not None and not fits(volume):
            continue
        reserved = volume["spec"].get("claimRef")
        if reserved is not None:
            if is_reserved_for(reserved, claim) and mismatch(volume, claim) in ("", _OTHER_CLASS):
                return volume
            continue
        if (volume.get("status") or {}).get("phase") != "Available" or mismatch(volume, claim):
            continue
        if selector is not None and not selector.matches(volume["metadata"].get("labels") or {}):
            continue
        size = quantity.to_bytes((volume["spec"].get("capacity") or {}).get("storage", "0"))
        if best is None or size < best[0]:
            best = (size, volume)
    return None if best is None else best[1]


_OTHER_CLASS = "storageClassName does not match"
