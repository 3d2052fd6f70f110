"""A pod's claims: which are bound, which wait for a node, and which volumes a node could give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from env_core.apiserver.store import Store
from env_core.objects.node_matching import selector_matches
from env_core.objects.volume_claims import CLASSES, SELECTED_NODE, VOLUMES, WAIT, best_volume, class_name
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


class Match(NamedTuple):
    """What a claim would get on a node: a volume that exists, or (None) one to be provisioned."""

    claim: Object
    volume: Object | None


def claim_names(pod: PodInfo) -> Iterator[tuple[str, bool]]:
    """Yield the names of the claims that a pod mounts, and whether they belong to the pod itself."""
    for volume in pod.spec.get("volumes") or ():
        claimed = volume.get("persistentVolumeClaim")
        if claimed is not None:
            yield claimed.get("claimName") or "", False
        elif volume.get("ephemeral") is not None:
            yield f"{pod.name}-{volume['name']}", True


def waits_for_node(claim: Object, store: Store) -> bool:
    """Whether a claim without volume is bound only when its pod has a node."""
    name = class_name(claim)
    chosen = store.get(CLASSES, "", name) if name else None
    return chosen is not None and chosen.get("volumeBindingMode") == WAIT


def fits_node(volume: Object, node: NodeInfo) -> bool:
    """Say whether a volume can be used from a node."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return required is None or selector_matches(required, node.name, node.labels)


def matches_on(node: NodeInfo, claims: list[Object], store: Store) -> list[Match] | None:
    """Return what claims that wait for a node would get there, None if one would get nothing."""
    taken: set[str] = set()
    found: list[Match] = []
    for claim in claims:
        free = [each for each in store.list(VOLUMES) if each["metadata"]["name"] not in taken]
        volume = best_volume(claim, free, lambda each: fits_node(each, node))
        if volume is not None:
            taken.add(volume["metadata"]["name"])
        elif not _can_provision(node, claim, store):
            return None
        found.append(Match(claim, volume))
    return found


def _can_provision(node: NodeInfo, claim: Object, store: Store) -> bool:
    selected = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
    if selected and selected != node.name:
        return False
    chosen = store.get(CLASSES, "", class_name(claim))
    if chosen is None or chosen.get("provisioner") in (None, "", _NO_PROVISIONER):
        return False
    topologies = chosen.get("allowedTopologies")
    return not topologies or any(_in_topology(term, node.labels) for term in topologies)


def _in_topology(term: Object, labels: Mapping[str, str]) -> bool:
    return all(
        labels.get(entry.get("key", "")) in (entry.get("values") or ())
        for entry in term.get("matchLabelExpressions") or ()
    )
