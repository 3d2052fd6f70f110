"""Which volumes for data a container has mounted, and what tells each of them from all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from env_core.node._host import Host
from env_core.node._records import PodRecord
from env_core.node.environment import expand
from env_core.node.volumes import persistent_volume
from env_core.programs._disks import scratch_of
from env_core.programs._model import Mount
from env_core.world import Object

_NOTHING: Final[Mapping[str, Mount]] = {}


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
    claim = claim_name(record.name, volume)
    found = persistent_volume(host, record.namespace, claim) if claim else None
    if found is None:
        return "", ""
    return f"{record.namespace}/{claim}", volume_id(found)


def claim_name(pod: str, volume: Object) -> str:
    """Return the claim that a pod's volume names, or makes for itself; "" when it is none of a claim."""
    if "persistentVolumeClaim" in volume:
        return str(volume["persistentVolumeClaim"]["claimName"])
    return f"{pod}-{volume['name']}" if "ephemeral" in volume else ""


def volume_id(volume: Object) -> str:
    """Return what a PersistentVolume stands for: its disk in the storage system, where it has one."""
    csi = volume["spec"].get("csi")
    return f"disk {csi['driver']} {csi['volumeHandle']}" if csi else f"volume {volume['metadata']['uid']}"
