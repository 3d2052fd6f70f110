"""What differs between two moments of a whole cluster, field by field, without what controllers and clocks write.

Objects that the cluster itself makes and keeps (pods of a controller, replica sets of a Deployment, endpoint slices, leases,
events) are left out: they follow from the others. Of volumes that a class made, only how they are kept counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from env_core.apiserver.store import ObjectRef, Store
from env_core.cluster import Cluster
from env_core.verify._notes import declared_notes, declared_template_notes
from env_core.world import Object

ADDED: Final = "+"
GONE: Final = "-"
IDENTITY: Final = "identity"
"""The object was deleted and made again, whoever did so."""

_FOLLOWING: Final = frozenset(
    {
        "events",
        "events.events.k8s.io",
        "leases.coordination.k8s.io",
        "controllerrevisions.apps",
        "volumeattachments.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io",
        "ipaddresses.networking.k8s.io",
        "tokenreviews.authentication.k8s.io",
    }
)
_MAKERS: Final[Mapping[str, Mapping[str, str]]] = {
    "pods": {
        "ReplicaSet": "replicasets.apps",
        "StatefulSet": "statefulsets.apps",
        "DaemonSet": "daemonsets.apps",
        "Job": "jobs.batch",
        "ReplicationController": "replicationcontrollers",
    },
    "replicasets.apps": {"Deployment": "deployments.apps"},
    "jobs.batch": {"CronJob": "cronjobs.batch"},
    "persistentvolumeclaims": {"StatefulSet": "statefulsets.apps", "Pod": "pods"},
}
"""Whose controllers make what, by kind. A reference to anything else is only a claim: nobody would make it again."""
_SLICES: Final = "endpointslices.discovery.k8s.io"
_SLICE_MAKER: Final = "endpointslice.kubernetes.io/managed-by"
_SERVER_WRITES: Final = frozenset(
    {
        "resourceVersion",
        "generation",
        "managedFields",
        "creationTimestamp",
        "uid",
        "selfLink",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    }
)
_NODE_SPEC: Final = ("unschedulable", "taints")
_REACHABILITY: Final = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_CONDITIONS: Final = _REACHABILITY | {
    f"node.kubernetes.io/{condition}"
    for condition in (
        "disk-pressure",
        "memory-pressure",
        "network-unavailable",
        "pid-pressure",
        "unschedulable",
    )
}
"""Taints that the cluster takes off again when a node is well. Source: k8s.io/api/core/v1 well_known_taints.go."""
_PROVISIONED: Final = "pv.kubernetes.io/provisioned-by"
_VOLUME_SPEC: Final = ("persistentVolumeReclaimPolicy", "mountOptions", "nodeAffinity")
_LIST_KEYS: Final = ("name", "key", "mountPath", "containerPort", "topologyKey", "ip")


class Change(NamedTuple):
    """One difference. `path` is dotted, list items in brackets by name (else by position); or ADDED, GONE, IDENTITY."""

    resource: str
    namespace: str
    name: str
    path: str

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        words = {ADDED: "was added", GONE: "is gone", IDENTITY: "was deleted and made again"}
        return f"{self.resource} {where} {words.get(self.path, f'differs in {self.path}')}"


Snapshot = Mapping[ObjectRef, Object]


def snapshot(cluster: Cluster) -> Snapshot:
    """Return the objects that count, as they are now."""
    return dict(_counting(cluster.store))


def changes(before: Snapshot, cluster: Cluster) -> list[Change]:
    """Return what differs now, sorted."""
    now = snapshot(cluster)
    found: list[Change] = []
    for ref in sorted(before.keys() | now.keys()):
        old, new = before.get(ref), now.get(ref)
        if old is new:
            continue
        if old is None or new is None:
            if not _comes_and_goes(ref, old or new or {}):
                found.append(Change(*ref, ADDED if old is None else GONE))
        else:
            found += [Change(*ref, path) for path in object_changes(old, new, ref.resource)]
    return found


def object_changes(old: Object, new: Object, resource: str) -> list[str]:
    """Return the paths in which one object of a resource differs from its earlier self."""
    found = [IDENTITY] if old["metadata"].get("uid") != new["metadata"].get("uid") else []
    for key in sorted({*old, *new} - {"status", "metadata", "kind", "apiVersion"}):
        found += _paths(old.get(key), new.get(key), key)
    return found + _metadata_changes(old["metadata"], new["metadata"], resource)


def _metadata_changes(old: Object, new: Object, resource: str) -> list[str]:
    found: list[str] = []
    for key in sorted({*old, *new} - _SERVER_WRITES):
        before, after = old.get(key), new.get(key)
        if key == "annotations":
            before, after = declared_notes(before, resource), declared_notes(after, resource)
        found += _paths(before, after, f"metadata.{key}")
    return found


def _paths(old: Any, new: Any, path: str) -> list[str]:
    if old is new or old == new:
        return []
    if path.endswith("template.metadata.annotations"):
        old, new = declared_template_notes(old), declared_template_notes(new)
        if old == new:
            return []
    if (isinstance(old, dict) or old is None) and (isinstance(new, dict) or new is None):
        before: Object = old or {}
        after: Object = new or {}
        return [
            each
            for key in sorted({*before, *after})
            for each in _paths(before.get(key), after.get(key), f"{path}.{key}")
        ]
    if isinstance(old or [], list) and isinstance(new or [], list):
        return _list_paths(old or [], new or [], path)
    return [path]


def _list_paths(old: list[Any], new: list[Any], path: str) -> list[str]:
    before, after = _keyed(old), _keyed(new)
    if before is None or after is None:
        return [path]
    found = [
        each
        for key in sorted({*before, *after})
        for each in (
            [f"{path}[{key}]"]
            if key not in before or key not in after
            else _paths(before[key], after[key], f"{path}[{key}]")
        )
    ]
    if found or list(before) == list(after) or _is_free_of_order(path, after):
        return found
    # The same items in another order: the order of containers or rules may matter.
    return [path]


def _is_free_of_order(path: str, items: dict[str, Any]) -> bool:
    """Whether the order of a list means nothing: that of variables, as long as none is built from others."""
    return path.endswith(".env") and not any("$(" in (item.get("value") or "") for item in items.values())


def _keyed(items: list[Any]) -> dict[str, Any] | None:
    """Return the items by their natural key, None where they have none or share one."""
    for name in _LIST_KEYS:
        if all(isinstance(item, dict) and name in item for item in items):
            found = {str(item[name]): item for item in items}
            if len(found) == len(items):
                return found
    return None


def _counting(store: Store) -> Iterator[tuple[ObjectRef, Object]]:
    for ref, obj in store.everything():
        if ref.resource in _FOLLOWING or _follows(store, ref, obj):
            continue
        yield ref, declared(ref, obj)


def _follows(store: Store, ref: ObjectRef, obj: Object) -> bool:
    """Whether controllers made an object and would make it again."""
    resource = ref.resource
    labels = obj["metadata"].get("labels") or {}
    if resource == _SLICES:
        maker, service = labels.get(_SLICE_MAKER), labels.get("kubernetes.io/service-name", "")
        if maker == "endpointslice-controller.k8s.io":
            return _selects(store, ref.namespace, service)
        mirrored = store.get("endpoints", ref.namespace, service)
        return maker == "endpointslicemirroring-controller.k8s.io" and mirrored is not None
    if resource == "endpoints":
        return _selects(store, ref.namespace, ref.name)
    if resource == "configmaps" and ref.name == "kube-root-ca.crt":
        return True
    makers = _MAKERS.get(resource, {})
    return not _is_held(obj) and any(
        owner.get("controller") and owner["kind"] in makers and _is_there(store, ref, makers, owner)
        for owner in obj["metadata"].get("ownerReferences") or ()
    )


def _is_held(obj: Object) -> bool:
    """Whether somebody's finalizer keeps an object from going when controllers delete it; the cluster has its own."""
    return any(
        not name.partition("/")[0].endswith("kubernetes.io")
        for name in obj["metadata"].get("finalizers") or ()
        if "/" in name
    )


def _selects(store: Store, namespace: str, service: str) -> bool:
    found = store.get("services", namespace, service)
    return found is not None and bool(found["spec"].get("selector"))


def _is_there(store: Store, ref: ObjectRef, makers: Mapping[str, str], owner: Object) -> bool:
    found = store.get(makers[owner["kind"]], ref.namespace, owner["name"])
    return found is not None and found["metadata"]["uid"] == owner["uid"]


def declared(ref: ObjectRef, obj: Object) -> Object:
    """Return what somebody declared of an object whose spec the cluster writes, too."""
    if ref.resource == "nodes":
        # Taints of conditions come and go with the node's health.
        spec = {key: obj.get("spec", {}).get(key) for key in _NODE_SPEC if obj.get("spec", {}).get(key)}
        taints = [taint for taint in spec.pop("taints", ()) if not _is_of_a_condition(taint)]
        if taints:
            spec["taints"] = taints
        return {"metadata": _known(obj), "spec": spec}
    if ref.resource == "persistentvolumes" and _is_provisioned(obj):
        # Its class made it and controllers bind it; what is left is how it is kept.
        spec = {key: obj["spec"][key] for key in _VOLUME_SPEC if key in obj["spec"]}
        return {"metadata": _known(obj), "spec": spec}
    return obj


def _known(obj: Object) -> Object:
    """Return by what an object is known: its uid, and what somebody wrote on it."""
    metadata = obj["metadata"]
    return {"uid": metadata["uid"], **{key: metadata.get(key) or {} for key in ("labels", "annotations")}}


def _comes_and_goes(ref: ObjectRef, obj: Object) -> bool:
    """Whether an object appears and is gone with what others declare: a volume that a class made for a claim."""
    return ref.resource == "persistentvolumes" and _is_provisioned(obj)


def _is_provisioned(volume: Object) -> bool:
    return _PROVISIONED in (volume["metadata"].get("annotations") or {})


def _is_of_a_condition(taint: Object) -> bool:
    key = taint["key"]
    return key in _REACHABILITY or (key in _CONDITIONS and taint.get("effect") == "NoSchedule")
