"""The attacher of the cluster's own disks (disk.csi.example.net): attaches what an attachment asks for, and detaches it.

Source: not recorded; kubernetes-csi/external-attacher pkg/controller/csi_handler.go (finalizer, status).
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.controllers.volumeprovisioner import DRIVER
from env_core.objects import meta
from env_core.objects.attachments import ATTACHMENTS, is_attached

_FINALIZER: Final = f"external-attacher/{DRIVER.replace('.', '-')}"
_ATTACH_MS: Final = 1_400
_DETACH_MS: Final = 1_100


def _reconcile(component: Component, key: Key) -> Requeue | None:
    attachment = component.cache.get(ATTACHMENTS, "", key.name)
    started = component.table("started")
    if attachment is None or attachment["spec"]["attacher"] != DRIVER:
        started.pop(key)
        return None
    is_ending = meta.is_terminating(attachment)
    finalizers = meta.finalizers(attachment)
    if not is_ending and _FINALIZER not in finalizers:
        attachment = component.api.update(
            ATTACHMENTS, "", meta.with_finalizers(attachment, [*finalizers, _FINALIZER])
        )
    if is_attached(attachment) is not is_ending:
        started.pop(key)
        return None
    took_ms = _DETACH_MS if is_ending else _ATTACH_MS
    now_ms = component.now_ms
    begun: int | None = started.get(key)
    if begun is None:
        started[key] = now_ms
        return Requeue(took_ms)
    if now_ms < begun + took_ms:
        return Requeue(begun + took_ms - now_ms)
    started.pop(key)
    if is_ending:
        left = [each for each in finalizers if each != _FINALIZER]
        component.api.update(ATTACHMENTS, "", meta.with_finalizers(attachment, left))
    else:
        component.api.update_status(ATTACHMENTS, "", {**attachment, "status": {"attached": True}})
    return None


CONTROLLER = Controller(
    name="volume-attacher",
    user="system:serviceaccount:kube-system:disk-csi-controller",
    component=f"{DRIVER}_disk-csi-attacher",
    watches=((ATTACHMENTS, own_key),),
    reconcile=retrying(_reconcile),
    source="kubernetes-csi/external-attacher; not recorded",
)
