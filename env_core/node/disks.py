"""Which volumes for data a container has mounted, what tells each of them from all others, and which are attached yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.node._host import Host
from env_core.node._records import ATTACHING, PodRecord
from env_core.node.environment import expand
from env_core.node.volumes import persistent_volume
from env_core.objects.attachments import (
    ATTACHMENTS,
    DRIVERS,
    attachment_name,
    claim_names,
    claim_of,
    needs_attachment,
)
from env_core.objects.attachments import is_attached as is_done
from env_core.objects.volume_claims import size_bytes
from env_core.programs import Run
from env_core.programs._disks import Place, place_of, scratch_of
from env_core.programs._model import Mount
from env_core.world import Object

WATCHED: Final = ATTACHMENTS
"""What kubelets look at for the sake of pods that wait for a volume."""
_NOTHING: Final[Mapping[str, Mount]] = {}
_REPORTED_MS: Final = 1_900
"""From an attachment to the node's status that tells the kubelet of it (csi-attach-ok)."""


def mounts(
    host: Host, record: PodRecord, pod: Object, container: Object, env: Mapping[str, str]
) -> Mapping[str, Mount]:
    """Return the volumes that a container may write to, by mount path."""
    asked = container.get("volumeMounts")
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()} if asked else {}
    found = {}
    for mount in asked or ():
        volume = volumes.get(mount["name"])
        if volume is None or mount.get("readOnly"):
            continue
        below = mount.get("subPath") or expand(mount.get("subPathExpr") or "", env)
        claim, identity = _identity(host, record, volume)
        if identity:
            found[mount["mountPath"]] = Mount(identity, claim, below.strip("/"))
    return found or _NOTHING


def _identity(host: Host, record: PodRecord, volume: Object) -> tuple[str, str]:
    """Return the claim that leads to a volume, and the volume's id; "" and "" when it holds no data."""
    if "emptyDir" in volume:
        return "", scratch_of(record.uid, volume["name"])
    if "hostPath" in volume:
        return "", f"host {record.node} {volume['hostPath']['path'].rstrip('/')}"
    claim = claim_of(record.name, volume)
    found = persistent_volume(host, record.namespace, claim) if claim else None
    if found is None:
        return "", ""
    return f"{record.namespace}/{claim}", volume_id(found)


def is_attached(host: Host, record: PodRecord, pod: Object) -> bool:
    """Whether every volume that must be attached to the pod's node is."""
    for name in claim_names(pod):
        found = persistent_volume(host, record.namespace, name)
        source = found["spec"].get("csi") if found is not None else None
        if source is None or not needs_attachment(host.store.get(DRIVERS, "", source["driver"])):
            continue
        attachment = attachment_name(source["driver"], source["volumeHandle"], record.node)
        if not is_done(host.store.get(ATTACHMENTS, "", attachment)):
            return False
    return True


def wake_waiting(host: Host, attachment: Object) -> None:
    """Let the pods of a node that wait for a volume look again, after its attachment was written."""
    node = attachment["spec"]["nodeName"]
    for record in host.pods.values():
        if record.stage == ATTACHING and record.node == node:
            host.wake(host.now_ms + _REPORTED_MS, "step", record.uid)


def watch(host: Host, run: Run) -> None:
    """Ask for a look at the moment at which what a run writes fills its volume."""
    fills = run.launch.fills
    if fills is None:
        return
    place = place_of(run.container, fills.path)
    level, size = host.runtime.disks.level(place.volume), _size(host, place)
    full_ms = level.reaches_ms(size) if level is not None and size is not None else None
    if full_ms is not None:
        key = ("disk", run.container.pod_uid, run.container.name)
        host.wake(max(full_ms, host.now_ms + 1), *key)


def look(host: Host, record: PodRecord, container: str) -> None:
    """See whether the volume that a container fills is full, and let its program meet that."""
    run = host.runtime.run(record.uid, container)
    if run is None or run.launch.fills is None or not run.is_running(host.now_ms):
        return
    place = place_of(run.container, run.launch.fills.path)
    size = _size(host, place)
    if size is None or host.runtime.used_bytes(place.volume, host.now_ms) < size:
        watch(host, run)
        return
    program = host.images.program_called(run.program)
    if program is None or program.filled is None:
        return
    told = program.filled(run.container, host.now_ms)
    host.runtime.log(run, told.log)
    if told.code is not None:
        host.runtime.end(run, host.now_ms, told.code, "Error")
        host.wake(host.now_ms, "run", record.uid, container)


def _size(host: Host, place: Place) -> int | None:
    namespace, _, name = place.claim.partition("/")
    return size_bytes(host.store.get("persistentvolumeclaims", namespace, name)) if place.claim else None


def volume_id(volume: Object) -> str:
    """Return what a PersistentVolume stands for: its disk in the storage system, where it has one."""
    csi = volume["spec"].get("csi")
    return f"disk {csi['driver']} {csi['volumeHandle']}" if csi else f"volume {volume['metadata']['uid']}"
