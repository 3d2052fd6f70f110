"""ImageLocality: prefer nodes that have the pod's images already."""

from __future__ import annotations

from typing import Any

from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SCORE_MAX, SKIP, Cycle, Plugin

_MEGABYTE = 1024 * 1024
_LEAST = 23 * _MEGABYTE
_MOST_EACH = 1000 * _MEGABYTE


def _images(node: NodeInfo) -> dict[str, int]:
    return {
        name: image.get("sizeBytes") or 0
        for image in (node.node.get("status") or {}).get("images") or ()
        for name in image.get("names") or ()
    }


def _normal(name: str) -> str:
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _prepare_score(cycle: Cycle, nodes: list[NodeInfo]) -> Any:
    if not any((node.node.get("status") or {}).get("images") for node in nodes):
        return SKIP
    present = {node.name: _images(node) for node in cycle.nodes}
    spec = cycle.pod.spec
    names = [
        _normal(entry["image"])
        for group in ("initContainers", "containers")
        for entry in spec.get(group) or ()
        if entry.get("image")
    ]
    share = {
        name: sum(1 for images in present.values() if name in images) / len(present) for name in set(names)
    }
    return present, names, share


def _score(_cycle: Cycle, state: Any, node: NodeInfo) -> int:
    present, names, share = state
    images = present[node.name]
    total = sum(int(images[name] * share[name]) for name in names if name in images)
    most = _MOST_EACH * len(names)
    total = min(max(total, _LEAST), most)
    return SCORE_MAX * (total - _LEAST) // (most - _LEAST) if most > _LEAST else 0


PLUGIN = Plugin(
    name="ImageLocality",
    order=140,
    prepare_score=_prepare_score,
    score=_score,
    source="tests/golden/l0/scheduling.jsonl.gz, id image-locality",
)
