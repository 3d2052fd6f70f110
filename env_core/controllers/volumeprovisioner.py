"""The CSI driver of the cluster's own disks (disk.csi.example.net): makes, enlarges and deletes volumes.

It acts for claims whose class names it and for nothing else; where a class names another provisioner, claims wait.

Source: not recorded; kubernetes-sigs/sig-storage-lib-external-provisioner controller/controller.go (events
Provisioning, ProvisioningSucceeded; annotations) and kubernetes-csi/external-resizer pkg/controller (Resizing).
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects import meta, quantity
from env_core.objects.problems import quoted
from env_core.objects.volume_claims import CLAIMS, CLASSES, SELECTED_NODE, VOLUMES, WAIT, class_name
from env_core.world import Object

DRIVER: Final = "disk.csi.example.net"
_ASKED: Final = "volume.kubernetes.io/storage-provisioner"
_BY: Final = "pv.kubernetes.io/provisioned-by"
_TOOK_MS: Final = 1_800
"""How long the storage system makes a disk."""


def _reconcile(component: Component, key: Key) -> Requeue | None:
    if key.namespace:
        claim = component.cache.get(CLAIMS, *key)
        return None if claim is None else _look_at_claim(component, claim)
    volume = component.cache.get(VOLUMES, "", key.name)
    if volume is not None and meta.annotation(volume, _BY) == DRIVER:
        _look_at_volume(component, volume)
    return None


def _look_at_claim(component: Component, claim: Object) -> Requeue | None:
    if meta.annotation(claim, _ASKED) != DRIVER or meta.is_terminating(claim):
        return None
    if claim["spec"].get("volumeName"):
        _enlarge(component, claim)
        return None
    storage_class = component.cache.get(CLASSES, "", class_name(claim))
    if storage_class is None or storage_class["provisioner"] != DRIVER:
        return None
    if storage_class.get("volumeBindingMode") == WAIT and SELECTED_NODE not in meta.annotations(claim):
        return None
    name = f"pvc-{meta.uid(claim)}"
    if component.cache.get(VOLUMES, "", name) is not None:
        return None
    started: int | None = component.table("started").get(meta.uid(claim))
    now_ms = component.now_ms
    if started is None:
        component.table("started")[meta.uid(claim)] = now_ms
        text = f"External provisioner is provisioning volume for claim {quoted(_place(claim))}"
        component.recorder.event(claim, "Normal", "Provisioning", text)
        return Requeue(_TOOK_MS)
    if now_ms < started + _TOOK_MS:
        return Requeue(started + _TOOK_MS - now_ms)
    component.api.create(VOLUMES, "", _volume(claim, storage_class, name))
    component.table("started").pop(meta.uid(claim))
    text = f"Successfully provisioned volume {name}"
    component.recorder.event(claim, "Normal", "ProvisioningSucceeded", text)
    return None


def _place(claim: Object) -> str:
    return f"{meta.namespace(claim)}/{meta.name(claim)}"


def _size(claim: Object) -> str:
    return str(claim["spec"]["resources"]["requests"]["storage"])


def _volume(claim: Object, storage_class: Object, name: str) -> Object:
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_BY: DRIVER}},
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": {"storage": _size(claim)},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "csi": {"driver": DRIVER, "fsType": "ext4", "volumeHandle": f"disk-{metadata['uid'][:13]}"},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": meta.name(storage_class),
            "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
        },
    }


def _enlarge(component: Component, claim: Object) -> None:
    """Give a claim that asks for more what it asks for, where its class allows that (the API saw to it)."""
    volume = component.cache.get(VOLUMES, "", claim["spec"]["volumeName"])
    status = claim.get("status") or {}
    if volume is None or status.get("phase") != "Bound":
        return
    wanted = _size(claim)
    if quantity.to_bytes(wanted) > quantity.to_bytes(volume["spec"]["capacity"]["storage"]):
        text = f"External resizer is resizing volume {meta.name(volume)}"
        component.recorder.event(claim, "Normal", "Resizing", text)
        spec = {**volume["spec"], "capacity": {"storage": wanted}}
        component.api.update(VOLUMES, "", {**volume, "spec": spec})
    has = (status.get("capacity") or {}).get("storage", "0")
    if quantity.to_bytes(wanted) > quantity.to_bytes(has):
        changed = {**claim, "status": {**status, "capacity": {"storage": wanted}}}
        component.api.update_status(CLAIMS, meta.namespace(claim), changed)
        component.recorder.event(
            claim, "Normal", "FileSystemResizeSuccessful", "MountVolume.NodeExpandVolume succeeded"
        )


def _look_at_volume(component: Component, volume: Object) -> None:
    status = volume.get("status") or {}
    policy = volume["spec"].get("persistentVolumeReclaimPolicy")
    if status.get("phase") == "Released" and policy == "Delete" and not meta.is_terminating(volume):
        component.api.delete(VOLUMES, "", meta.name(volume))


CONTROLLER = Controller(
    name="volume-provisioner",
    user="system:serviceaccount:kube-system:disk-csi-controller",
    component=f"{DRIVER}_disk-csi-controller",
    watches=((CLAIMS, own_key), (VOLUMES, own_key)),
    reconcile=retrying(_reconcile),
    source="kubernetes-sigs/sig-storage-lib-external-provisioner, kubernetes-csi/external-resizer; not recorded",
)
