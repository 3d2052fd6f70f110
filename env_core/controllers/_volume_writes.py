"""Writes of the volume controller: binding a claim and a volume to each other, their phases.

Source: k8s.io/kubernetes pkg/controller/volume/persistentvolume pv_controller.go; tests/golden/l2/flows (sts-pvc, pvc-).
"""

from __future__ import annotations

from env_core.apiserver.component import Component
from env_core.objects import meta
from env_core.objects.volume_claims import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CLAIMS,
    VOLUMES,
    is_reserved_for,
)
from env_core.world import Object

_BOUND = "Bound"


def bind(component: Component, volume: Object, claim: Object) -> None:
    """Bind a volume and a claim to each other and mark both so; what is done already is not written again.

    Raises:
        StatusError: if the API refuses.
    """
    volume = _with_claim(component, volume, claim)
    volume = with_volume_phase(component, volume, _BOUND)
    claim = _with_volume(component, claim, meta.name(volume))
    with_claim_phase(component, claim, _BOUND, volume)


def _with_claim(component: Component, volume: Object, claim: Object) -> Object:
    reserved = volume["spec"].get("claimRef")
    changed = volume
    if not is_reserved_for(reserved, claim):
        changed = meta.with_annotations(changed, {BOUND_BY_CONTROLLER: "yes"})
    if not is_reserved_for(reserved, claim) or not (reserved or {}).get("uid"):
        metadata = claim["metadata"]
        reference = {
            "kind": "PersistentVolumeClaim",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "apiVersion": "v1",
            "resourceVersion": metadata["resourceVersion"],
        }
        changed = {**changed, "spec": {**changed["spec"], "claimRef": reference}}
    return volume if changed is volume else component.api.update(VOLUMES, "", changed)


def _with_volume(component: Component, claim: Object, name: str) -> Object:
    changed = claim
    if claim["spec"].get("volumeName") != name:
        changed = {**changed, "spec": {**changed["spec"], "volumeName": name}}
        changed = meta.with_annotations(changed, {BOUND_BY_CONTROLLER: "yes"})
    if BIND_COMPLETED not in meta.annotations(claim):
        changed = meta.with_annotations(changed, {BIND_COMPLETED: "yes"})
    return claim if changed is claim else component.api.update(CLAIMS, meta.namespace(claim), changed)


def unbind(component: Component, volume: Object) -> None:
    """Take a volume from the claim that it was given to; what a user reserved stays reserved.

    Raises:
        StatusError: if the API refuses.
    """
    spec = dict(volume["spec"])
    changed = volume
    if BOUND_BY_CONTROLLER in meta.annotations(volume):
        del spec["claimRef"]
        changed = meta.with_annotations(changed, {BOUND_BY_CONTROLLER: None})
    else:
        spec["claimRef"] = {key: value for key, value in spec["claimRef"].items() if key != "uid"}
    changed = component.api.update(VOLUMES, "", {**changed, "spec": spec})
    with_volume_phase(component, changed, "Available")


def with_volume_phase(component: Component, volume: Object, phase: str, message: str = "") -> Object:
    """Return the volume in a phase, written if it was in another.

    Raises:
        StatusError: if the API refuses.
    """
    status = volume.get("status") or {}
    if status.get("phase") == phase:
        return volume
    changed = {**status, "phase": phase}
    changed.pop("message", None)
    if message:
        changed["message"] = message
    return component.api.update_status(VOLUMES, "", {**volume, "status": changed})


def with_claim_phase(component: Component, claim: Object, phase: str, volume: Object | None = None) -> Object:
    """Return the claim in a phase with its volume's size and modes, written if anything changes.

    Raises:
        StatusError: if the API refuses.
    """
    status = claim.get("status") or {}
    changed = {**status, "phase": phase}
    if volume is None:
        changed.pop("accessModes", None)
        changed.pop("capacity", None)
    else:
        changed["accessModes"] = volume["spec"].get("accessModes") or []
        if status.get("phase") != phase:
            changed["capacity"] = volume["spec"].get("capacity") or {}
    if changed == status:
        return claim
    return component.api.update_status(CLAIMS, meta.namespace(claim), {**claim, "status": changed})
