"""Image garbage collection: what a kubelet says when a full disk has no unused images that it could delete.

Source: k8s.io/kubernetes pkg/kubelet/images/image_gc_manager.go and kubelet.go (StartGarbageCollection), 1.37; texts and
times in tests/golden/kubelet/nodes.jsonl.gz (gc-pressure). Images that are there are taken to be in use.
"""

from __future__ import annotations

from typing import Final

from env_core.node import node_status
from env_core.node._host import Host
from env_core.node._records import NodeRecord

PERIOD_MS: Final = 300_000
HIGH_PERCENT: Final = 85
_GIB: Final = 1 << 30


def wake(host: Host, node: NodeRecord) -> None:
    """Ask for the next collection of a node."""
    from_ms = host.now_ms + 1
    host.wake(from_ms + (node.joined_ms - from_ms) % PERIOD_MS, "images", node.name)


def collect(host: Host, node: NodeRecord) -> None:
    """Look whether the disk is too full; the second failure in a row is told with the node's uid as well."""
    free = node.free.disk_bytes
    used = 100 - free * 100 // node.disk_bytes if free is not None else 0
    if used < HIGH_PERCENT:
        host.nodes[node.name] = node._replace(has_failed_gc=False)
        return
    text = (
        f"Insufficient free disk space on the node's image filesystem ({used}% of {node.disk_bytes / _GIB:.1f} GiB used). "
        "Failed to free sufficient space by deleting unused images (freed 0 bytes). Investigate disk usage, as it could "
        "be used by active images, logs, volumes, or other data."
    )
    node_status.event(host, node, "Warning", "FreeDiskSpaceFailed", text, has_uid=False)
    if node.has_failed_gc:
        node_status.event(host, node, "Warning", "ImageGCFailed", text)
    host.nodes[node.name] = node._replace(has_failed_gc=True)
    wake(host, node)
