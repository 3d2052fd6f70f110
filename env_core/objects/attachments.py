"""Attachments of volumes to nodes: what they are called, and which volumes need one.

Source: k8s.io/kubernetes pkg/volume/csi/csi_attacher.go (getAttachmentName).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from env_core.world import Object

ATTACHMENTS: Final = "volumeattachments.storage.k8s.io"
DRIVERS: Final = "csidrivers.storage.k8s.io"


def attachment_name(driver: str, handle: str, node: str) -> str:
    """Return the name of the attachment of a disk to a node."""
    return f"csi-{hashlib.sha256(f'{handle}{driver}{node}'.encode()).hexdigest()}"


def needs_attachment(driver: Object | None) -> bool:
    """Whether a driver's volumes are attached before they are mounted; those of a driver without an object are not."""
    return driver is not None and driver["spec"].get("attachRequired", True) is True


def is_attached(attachment: Object | None) -> bool:
    """Whether an attachment is there and done."""
    return attachment is not None and bool((attachment.get("status") or {}).get("attached"))


def claim_of(pod: str, volume: Object) -> str:
    """Return the claim that a volume of a pod names, or makes for itself; "" when it is none of a claim."""
    if "persistentVolumeClaim" in volume:
        return str(volume["persistentVolumeClaim"]["claimName"])
    return f"{pod}-{volume['name']}" if "ephemeral" in volume else ""


def claim_names(pod: Object) -> Iterator[str]:
    """Yield the names of the claims that a pod uses."""
    for volume in pod["spec"].get("volumes") or ():
        name = claim_of(pod["metadata"]["name"], volume)
        if name:
            yield name
