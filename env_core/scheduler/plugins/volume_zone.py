"""VolumeZone: a bound volume that is labelled with a zone or region is used only there."""

from __future__ import annotations

from typing import Any

from env_core.objects.volume_claims import CLAIMS, VOLUMES
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Cycle, Plugin, Rejection
from env_core.scheduler._volumes import claim_names

_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
_REJECTED = Rejection(("node(s) had no available volume zone",), is_final=True)
_SEPARATOR = "__"


def _prepare(cycle: Cycle) -> Any:
    if not cycle.pod.spec.get("volumes"):
        return SKIP
    wanted: list[tuple[str, frozenset[str]]] = []
    for name, _ in claim_names(cycle.pod):
        claim = cycle.store.get(CLAIMS, cycle.pod.namespace, name)
        volume_name = claim["spec"].get("volumeName") if claim is not None else None
        volume = cycle.store.get(VOLUMES, "", volume_name) if volume_name else None
        labels = (volume["metadata"].get("labels") or {}) if volume is not None else {}
        wanted += [(key, frozenset(labels[key].split(_SEPARATOR))) for key in _LABELS if key in labels]
    return wanted or SKIP


def _filter(_cycle: Cycle, wanted: Any, node: NodeInfo) -> Rejection | None:
    if not any(label in node.labels for label in _LABELS):
        return None
    return None if all(node.labels.get(key) in values for key, values in wanted) else _REJECTED


PLUGIN = Plugin(
    name="VolumeZone",
    order=100,
    prepare=_prepare,
    filter=_filter,
    watches=("nodes", CLAIMS, VOLUMES),
    source="k8s.io/kubernetes pkg/scheduler/framework/plugins/volumezone",
)
