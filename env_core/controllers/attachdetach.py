"""Attaches volumes to the nodes of the pods that use them, one node at a time where the volume allows no more.

Source: k8s.io/kubernetes pkg/controller/volume/attachdetach (reconciler.go, reportMultiAttachError) and
pkg/volume/csi/csi_attacher.go; tests/golden/kubelet/timelines (csi-attach-ok, csi-multi-attach, vol-csi-pv-attach).
Not recorded: what is said of a volume that no pod uses any more, and the moment of a detach.
"""

from __future__ import annotations

from typing import Final

from env_core.apiserver.component import Component
from env_core.controllers._model import Controller, Key, Requeue, own_key
from env_core.controllers._retry import retrying
from env_core.objects import meta
from env_core.objects.attachments import (
    ATTACHMENTS,
    DRIVERS,
    attachment_name,
    claim_names,
    is_attached,
    needs_attachment,
)
from env_core.objects.conditions import pod_phase
from env_core.objects.problems import quoted
from env_core.objects.volume_claims import CLAIMS, VOLUMES
from env_core.world import Object

PODS: Final = "pods"
_TIMEOUT_MS: Final = 120_000
"""How long an attachment may take (vol-csi-pv-attach)."""
_SHARED_MODES: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})


def _volumes_of_pod(pod: Object, component: Component) -> list[Key]:
    found = []
    for name in claim_names(pod):
        claim = component.cache.get(CLAIMS, meta.namespace(pod), name)
        volume = claim["spec"].get("volumeName") if claim is not None else None
        if volume:
            found.append(Key("", volume))
    return found


def _volume_of_attachment(attachment: Object, _component: Component) -> tuple[Key, ...]:
    name = attachment["spec"]["source"].get("persistentVolumeName")
    return (Key("", name),) if name else ()


def _reconcile(component: Component, key: Key) -> Requeue | None:
    volume = component.cache.get(VOLUMES, "", key.name)
    attachments = [
        each
        for each in component.cache.list(ATTACHMENTS)
        if each["spec"]["source"].get("persistentVolumeName") == key.name
    ]
    users = _users(component, volume) if volume is not None else {}
    for each in attachments:
        if each["spec"]["nodeName"] not in users and not meta.is_terminating(each):
            component.api.delete(ATTACHMENTS, "", meta.name(each))
    if volume is None:
        return None
    waits = [_attach(component, volume, node, pods, attachments, users) for node, pods in users.items()]
    left = [each for each in waits if each]
    return Requeue(min(left)) if left else None


def _users(component: Component, volume: Object) -> dict[str, list[Object]]:
    """Return the pods that use a volume, by node; none of a volume that needs no attachment."""
    source, reference = volume["spec"].get("csi"), volume["spec"].get("claimRef")
    if source is None or reference is None:
        return {}
    if not needs_attachment(component.cache.get(DRIVERS, "", source["driver"])):
        return {}
    found: dict[str, list[Object]] = {}
    for pod in component.cache.list(PODS, reference.get("namespace", "")):
        node = pod["spec"].get("nodeName")
        if node and reference["name"] in claim_names(pod) and pod_phase(pod) not in ("Succeeded", "Failed"):
            found.setdefault(node, []).append(pod)
    return found


def _attach(
    component: Component,
    volume: Object,
    node: str,
    pods: list[Object],
    attachments: list[Object],
    users: dict[str, list[Object]],
) -> int:
    """Bring a volume nearer to a node; return after how long to look again, 0 for not."""
    name = meta.name(volume)
    reported, announced = component.table("reported"), component.table("announced")
    here = next((each for each in attachments if each["spec"]["nodeName"] == node), None)
    if here is None:
        elsewhere = [each["spec"]["nodeName"] for each in attachments]
        if elsewhere and not _SHARED_MODES & set(volume["spec"].get("accessModes") or ()):
            if (name, node) not in reported:
                reported[(name, node)] = True
                _report(component, volume, pods, [pod for other in elsewhere for pod in users.get(other, ())])
            return 0
        reported.pop((name, node))
        component.api.create(ATTACHMENTS, "", _attachment(volume, node))
        return 0
    if meta.is_terminating(here):
        return 0
    error = ((here.get("status") or {}).get("attachError") or {}).get("message", "")
    if is_attached(here):
        if announced.get((name, node)) != meta.uid(here):
            announced[(name, node)] = meta.uid(here)
            text = f"AttachVolume.Attach succeeded for volume {quoted(name)} "
            _tell(component, pods, "Normal", "SuccessfulAttachVolume", text)
        return 0
    if error:
        return _failed(component, volume, node, pods, error)
    left_ms = meta.creation_ms(here) + _TIMEOUT_MS - component.now_ms
    if left_ms > 0:
        return left_ms
    driver = volume["spec"]["csi"]["driver"]
    why = (
        f"timed out waiting for external-attacher of {driver} CSI driver to attach volume "
        f"{volume['spec']['csi']['volumeHandle']}"
    )
    return _failed(component, volume, node, pods, why)


def _failed(component: Component, volume: Object, node: str, pods: list[Object], why: str) -> int:
    failed = component.table("failed")
    name = meta.name(volume)
    if failed.get((name, node)) != why:
        failed[(name, node)] = why
        text = f"AttachVolume.Attach failed for volume {quoted(name)} : {why}"
        _tell(component, pods, "Warning", "FailedAttachVolume", text)
    return 0


def _report(component: Component, volume: Object, pods: list[Object], others: list[Object]) -> None:
    """Say once for each pod who keeps its volume."""
    for pod in pods:
        near = [meta.name(each) for each in others if meta.namespace(each) == meta.namespace(pod)]
        why = (
            f"Volume is already used by pod(s) {', '.join(near)}"
            if near
            else "Volume is already exclusively attached to one node and can't be attached to another"
        )
        text = f"Waiting for detach for volume {quoted(meta.name(volume))} {why}"
        component.recorder.event(pod, "Warning", "FailedAttachVolume", text)


def _tell(component: Component, pods: list[Object], kind: str, reason: str, text: str) -> None:
    for pod in pods:
        component.recorder.event(pod, kind, reason, text)


def _attachment(volume: Object, node: str) -> Object:
    source = volume["spec"]["csi"]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": attachment_name(source["driver"], source["volumeHandle"], node)},
        "spec": {
            "attacher": source["driver"],
            "nodeName": node,
            "source": {"persistentVolumeName": meta.name(volume)},
        },
    }


CONTROLLER = Controller(
    name="attachdetach",
    watches=((PODS, _volumes_of_pod), (ATTACHMENTS, _volume_of_attachment), (VOLUMES, own_key)),
    reconcile=retrying(_reconcile),
    source="k8s.io/kubernetes pkg/controller/volume/attachdetach, 1.37; tests/golden/kubelet/timelines",
)
