"""A pod's claims: which are bound, which wait for a node, and which volumes a node could give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from env_core.apiserver.store import Store
from env_core.objects import quantity, selectors
from env_core.objects.node_matching import selector_matches
from env_core.scheduler._nodeinfo import NodeInfo
from env_core.scheduler._podinfo import PodInfo
from env_core.world import Object

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"
CLASSES = "storageclasses.storage.k8s.io"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_NO_PROVISIONER = "kubernetes.io/no-provisioner"
_WAIT = "WaitForFirstConsumer"


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


def class_name(obj: Object) -> str:
    """Return the storage class that a claim or volume names, "" for none."""
    annotated = (obj["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
    return annotated or obj["spec"].get("storageClassName") or ""


def is_bound(claim: Object) -> bool:
    """Whether the claim has its volume for good."""
    annotations = claim["metadata"].get("annotations") or {}
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations


def waits_for_node(claim: Object, store: Store) -> bool:
    """Whether a claim without volume is bound only when its pod has a node."""
    name = class_name(claim)
    chosen = store.get(CLASSES, "", name) if name else None
    return chosen is not None and chosen.get("volumeBindingMode") == _WAIT


def fits_node(volume: Object, node: NodeInfo) -> bool:
    """Say whether a volume can be used from a node."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return required is None or selector_matches(required, node.name, node.labels)


def matches_on(node: NodeInfo, claims: list[Object], store: Store) -> list[Match] | None:
    """Return what claims that wait for a node would get there, None if one would get nothing."""
    taken: set[str] = set()
    found: list[Match] = []
    for claim in claims:
        volume = _best_volume(node, claim, store, taken)
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


def _best_volume(node: NodeInfo, claim: Object, store: Store, taken: set[str]) -> Object | None:
    """Return the smallest free volume that satisfies the claim on the node; one reserved for it comes first."""
    spec = claim["spec"]
    wanted = quantity.to_bytes(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))
    selector = selectors.from_object(spec["selector"]) if spec.get("selector") else None
    best: tuple[int, Object] | None = None
    for volume in store.list(VOLUMES):
        name, offered = volume["metadata"]["name"], volume["spec"]
        if name in taken or "deletionTimestamp" in volume["metadata"] or not fits_node(volume, node):
            continue
        if (offered.get("volumeMode") or "Filesystem") != (spec.get("volumeMode") or "Filesystem"):
            continue
        size = quantity.to_bytes((offered.get("capacity") or {}).get("storage", "0"))
        if size < wanted or not set(spec.get("accessModes") or ()) <= set(offered.get("accessModes") or ()):
            continue
        reserved = offered.get("claimRef")
        if reserved is not None:
            if _is_for(reserved, claim):
                return volume
            continue
        if (volume.get("status") or {}).get("phase") != "Available" or class_name(volume) != class_name(
            claim
        ):
            continue
        if selector is not None and not selector.matches(volume["metadata"].get("labels") or {}):
            continue
        if best is None or size < best[0]:
            best = (size, volume)
    return None if best is None else best[1]


def _is_for(reference: Object, claim: Object) -> bool:
    metadata = claim["metadata"]
    if (reference.get("namespace"), reference.get("name")) != (metadata["namespace"], metadata["name"]):
        return False
    return reference.get("uid") in (None, "", metadata.get("uid"))
