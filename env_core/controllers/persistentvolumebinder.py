"""Binds claims and volumes, asks for volumes to be provisioned, and reclaims those whose claim is gone.

No provisioner runs in the cluster: where a class names an external one, claims wait for a volume that someone makes.

Source: k8s.io/kubernetes pkg/controller/volume/persistentvolume pv_controller.go; tests/golden/l2/flows (sts-pvc, pvc-).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from env_core.apiserver.component import Component
from env_core.apiserver.errors import StatusError
from env_core.controllers import _volume_writes as writes
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._pods import PODS, is_finished
from env_core.controllers._retry import retrying
from env_core.controllers.pvcprotection import claims_of
from env_core.objects import meta
from env_core.objects.problems import quoted
from env_core.objects.volume_claims import (
    BIND_COMPLETED,
    CLAIMS,
    CLASSES,
    SELECTED_NODE,
    VOLUMES,
    WAIT,
    best_volume,
    class_name,
    is_reserved_for,
    mismatch,
)
from env_core.world import Object

RESYNC_MS = 15_000
"""How often claims that are not bound, and volumes that cannot be reclaimed, are looked at again."""
PROVISIONER = "volume.kubernetes.io/storage-provisioner"
OLD_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_IN_TREE = "kubernetes.io/"
_may_delete_path = re.compile("/tmp/.+").match
_LOST = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
_LOST_REFERENCE = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
_MISBOUND = "Two claims are bound to the same volume, this one is bound incorrectly"
_NO_CLASS = "no persistent volumes available for this claim and no storage class is set"


def _of_claim(claim: Object, component: Component) -> Iterable[Key]:
    """Return the claim's key, and that of the volume that it has."""
    volume = claim["spec"].get("volumeName")
    return (*own_key(claim, component), *((Key("", volume),) if volume else ()))


def _of_volume(volume: Object, component: Component) -> Iterable[Key]:
    """Return the volume's key, and that of the claim that it is for: other claims wait for the next round."""
    reference = volume["spec"].get("claimRef")
    own = own_key(volume, component)
    return (*own, Key(reference["namespace"], reference["name"])) if reference else own


def _reconcile(component: Component, key: Key) -> Requeue | None:
    if not key.namespace:
        volume = component.cache.get(VOLUMES, "", key.name)
        return None if volume is None else _look_at_volume(component, volume)
    claim = component.cache.get(CLAIMS, *key)
    if claim is None:
        return None
    if BIND_COMPLETED in meta.annotations(claim):
        _look_at_bound(component, claim)
        return None
    _look_at_unbound(component, claim)
    changed = component.cache.get(CLAIMS, *key)
    is_done = changed is None or BIND_COMPLETED in meta.annotations(changed)
    return None if is_done else next_round(component)


def next_round(component: Component) -> Requeue:
    """Return the next time at which everything is looked at again."""
    return Requeue(RESYNC_MS - component.now_ms % RESYNC_MS)


def _warn(component: Component, about: Object, reason: str, message: str) -> None:
    component.recorder.event(about, "Warning", reason, message)


# Claims


def _look_at_bound(component: Component, claim: Object) -> None:
    name = claim["spec"].get("volumeName")
    if not name:
        _lose(component, claim, "ClaimLost", _LOST_REFERENCE)
        return
    volume = component.cache.get(VOLUMES, "", name)
    if volume is None:
        _lose(component, claim, "ClaimLost", _LOST)
        return
    reference = volume["spec"].get("claimRef")
    if reference is not None and reference.get("uid") != meta.uid(claim):
        _lose(component, claim, "ClaimMisbound", _MISBOUND)
        return
    writes.bind(component, volume, claim)


def _lose(component: Component, claim: Object, reason: str, message: str) -> None:
    if (claim.get("status") or {}).get("phase") != "Lost":
        _warn(component, writes.with_claim_phase(component, claim, "Lost"), reason, message)


def _look_at_unbound(component: Component, claim: Object) -> None:
    name = claim["spec"].get("volumeName")
    if name:
        _bind_requested(component, claim, name)
        return
    storage_class = component.cache.get(CLASSES, "", class_name(claim)) if class_name(claim) else None
    waits = storage_class is not None and storage_class.get("volumeBindingMode") == WAIT
    volumes = component.cache.list(VOLUMES)
    if waits:
        volumes = [volume for volume in volumes if is_reserved_for(volume["spec"].get("claimRef"), claim)]
    volume = best_volume(claim, volumes)
    if volume is not None:
        writes.bind(component, volume, claim)
        return
    if waits and SELECTED_NODE not in meta.annotations(claim):
        component.recorder.event(claim, "Normal", *_waiting(component, claim))
    elif class_name(claim):
        _provision(component, claim, storage_class)
        return
    else:
        component.recorder.event(claim, "Normal", "FailedBinding", _NO_CLASS)
    writes.with_claim_phase(component, claim, "Pending")


def _bind_requested(component: Component, claim: Object, name: str) -> None:
    volume = component.cache.get(VOLUMES, "", name)
    if volume is not None:
        reference = volume["spec"].get("claimRef")
        problem = mismatch(volume, claim) if reference is None else ""
        if is_reserved_for(reference, claim) or (reference is None and not problem):
            writes.bind(component, volume, claim)
            return
        if problem:
            text = f"Cannot bind to requested volume {quoted(name)}: {problem}"
            _warn(component, claim, "VolumeMismatch", text)
        else:
            text = f"volume {quoted(name)} already bound to a different claim."
            _warn(component, claim, "FailedBinding", text)
    writes.with_claim_phase(component, claim, "Pending")


def _waiting(component: Component, claim: Object) -> tuple[str, str]:
    """Return reason and message about a claim that waits for a pod to be placed."""
    pods = [
        meta.name(pod)
        for pod in component.cache.list(PODS, meta.namespace(claim))
        if meta.name(claim) in claims_of(pod) and not is_finished(pod) and not pod["spec"].get("nodeName")
    ]
    if not pods:
        return "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
    word = "pods" if len(pods) > 1 else "pod"
    return "WaitForPodScheduled", f"waiting for {word} {','.join(pods)} to be scheduled"


def _provision(component: Component, claim: Object, storage_class: Object | None) -> None:
    """Ask for a volume: the class names who makes it."""
    if storage_class is None:
        text = f"storageclass.storage.k8s.io {quoted(class_name(claim))} not found"
        _warn(component, claim, "ProvisioningFailed", text)
        return
    provisioner = storage_class["provisioner"]
    if provisioner.startswith(_IN_TREE):
        _warn(component, claim, "ProvisioningFailed", f"no volume plugin matched name: {provisioner}")
        return
    notes = meta.annotations(claim)
    if any(notes.get(key) != provisioner for key in (PROVISIONER, OLD_PROVISIONER)):
        changed = meta.with_annotations(claim, {PROVISIONER: provisioner, OLD_PROVISIONER: provisioner})
        claim = component.api.update(CLAIMS, meta.namespace(claim), changed)
    text = (
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the "
        "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
        "correctly registered."
    )
    component.recorder.event(claim, "Normal", "ExternalProvisioning", text)


# Volumes


def _look_at_volume(component: Component, volume: Object) -> Requeue | None:
    reference = volume["spec"].get("claimRef")
    if reference is None or not reference.get("uid"):
        writes.with_volume_phase(component, volume, "Available")
        return None
    claim = component.cache.get(CLAIMS, reference["namespace"], reference["name"])
    if claim is None or meta.uid(claim) != reference["uid"]:
        return _reclaim(component, volume)
    if claim["spec"].get("volumeName") == meta.name(volume):
        writes.with_volume_phase(component, volume, "Bound")
    elif claim["spec"].get("volumeName"):
        is_spare = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        if is_spare and PROVISIONED_BY in meta.annotations(volume):
            return _reclaim(component, volume)
        writes.unbind(component, volume)
    return None


def _reclaim(component: Component, volume: Object) -> Requeue | None:
    """Release a volume whose claim is gone, and do with it what its policy says."""
    if (volume.get("status") or {}).get("phase") not in ("Released", "Failed"):
        volume = writes.with_volume_phase(component, volume, "Released")
    policy = volume["spec"].get("persistentVolumeReclaimPolicy")
    if policy == "Recycle":
        _fail(component, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
        return next_round(component)
    if policy != "Delete" or meta.is_terminating(volume):
        return None
    problem = _deletion_problem(volume)
    if problem is None:
        return None
    if problem:
        _fail(component, volume, "VolumeFailedDelete", problem)
        return next_round(component)
    try:
        component.api.delete(VOLUMES, "", meta.name(volume))
    except StatusError as error:
        if error.code != 404:
            raise
    return None


def _deletion_problem(volume: Object) -> str | None:
    """Return why a volume's storage cannot be deleted, "" if it can; None if others do that."""
    provisioner = meta.annotation(volume, PROVISIONED_BY)
    if provisioner and not provisioner.startswith(_IN_TREE):
        return None
    path = (volume["spec"].get("hostPath") or {}).get("path")
    if path is None:
        name = quoted(meta.name(volume))
        return f"Error getting deleter volume plugin for volume {name}: no deletable volume plugin matched"
    if _may_delete_path(path):
        return ""
    return f"host_path deleter only supports /tmp/.+ but received provided {path}"


def _fail(component: Component, volume: Object, reason: str, message: str) -> None:
    if (volume.get("status") or {}).get("phase") != "Failed":
        volume = writes.with_volume_phase(component, volume, "Failed", message)
        _warn(component, volume, reason, message)


CONTROLLER = Controller(
    name="persistent-volume-binder",
    identity="persistent-volume-binder",
    component="persistentvolume-controller",
    watches=((CLAIMS, _of_claim), (VOLUMES, _of_volume)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/volume/persistentvolume; tests/golden/l2/flows (sts-pvc, pvc-)",
)
