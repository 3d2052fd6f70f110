"""VolumeBinding: a pod's claims must be bound, or be bindable on the node, and their volumes usable there."""

from __future__ import annotations

from typing import Any, NamedTuple

from env_core.objects.volume_claims import CLAIMS, CLASSES, VOLUMES, is_bound
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._plugin import SKIP, Change, Cycle, Impossible, Plugin, Rejection
from env_core.scheduler._podinfo import PodInfo
from env_core.scheduler._volumes import claim_names, fits_node, matches_on, waits_for_node
from env_core.world import Object

_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
_NOTHING = "node(s) didn't find available persistent volumes to bind"
_GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class PodClaims(NamedTuple):
    """A pod's claims, sorted out."""

    bound: list[Object]
    waiting: list[Object]


def sorted_claims(cycle: Cycle) -> PodClaims | None:
    """Return the claims of the pod, None if it has none.

    Raises:
        Impossible: if one is missing, going, lost, or cannot be bound by choosing a node.
    """
    claims: list[Object] = []
    pod = cycle.pod
    for name, is_own in claim_names(pod):
        claims.append(_claim(cycle, name, is_own=is_own))
    if not claims:
        return None
    found = PodClaims([], [])
    for claim in claims:
        if is_bound(claim):
            found.bound.append(claim)
        elif not claim["spec"].get("volumeName") and waits_for_node(claim, cycle.store):
            found.waiting.append(claim)
        else:
            raise Impossible("pod has unbound immediate PersistentVolumeClaims")
    return found


def _claim(cycle: Cycle, name: str, *, is_own: bool) -> Object:
    claim = cycle.store.get(CLAIMS, cycle.pod.namespace, name)
    if claim is None:
        if is_own:
            raise Impossible(
                f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            )
        raise Impossible(f'persistentvolumeclaim "{name}" not found')
    if (claim.get("status") or {}).get("phase") == "Lost":
        volume = claim["spec"].get("volumeName", "")
        raise Impossible(f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"')
    if "deletionTimestamp" in claim["metadata"]:
        raise Impossible(f'persistentvolumeclaim "{name}" is being deleted')
    return claim


def _prepare(cycle: Cycle) -> Any:
    if not cycle.pod.spec.get("volumes"):
        return SKIP
    return sorted_claims(cycle) or SKIP


def _filter(cycle: Cycle, claims: Any, node: NodeInfo) -> Rejection | None:
    reasons: list[str] = []
    for claim in claims.bound:
        volume = cycle.store.get(VOLUMES, "", claim["spec"]["volumeName"])
        if volume is None:
            return Rejection((_GONE,), is_final=True)
        if not fits_node(volume, node):
            reasons.append(_CONFLICT)
            break
    if claims.waiting and matches_on(node, claims.waiting, cycle.store) is None:
        reasons.append(_NOTHING)
    return Rejection(tuple(reasons), is_final=True) if reasons else None


def _helps(pod: PodInfo, change: Change) -> bool:
    if change.resource == CLAIMS:
        metadata = change.new["metadata"]
        return metadata.get("namespace") == pod.namespace and any(
            name == metadata["name"] for name, _ in claim_names(pod)
        )
    if change.resource == "nodes":
        if change.old is None:
            return True
        return (change.old["metadata"].get("labels") or {}) != (change.new["metadata"].get("labels") or {})
    return change.kind != "DELETED"


PLUGIN = Plugin(
    name="VolumeBinding",
    order=90,
    prepare=_prepare,
    filter=_filter,
    watches=("nodes", CLAIMS, VOLUMES, CLASSES),
    helps=_helps,
    source=(
        "tests/golden/l0/scheduling.jsonl.gz, ids pvc-*, pv-*; "
        "tests/golden/l2/flows/pvc-wffc.json.gz, sched-volume-affinity.json.gz"
    ),
)
