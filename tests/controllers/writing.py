"""What a user wrote of a recorded object, as far as it can be told."""

import re

from tests.controllers.world import registry

SERVER_SET = (
    "uid",
    "creationTimestamp",
    "resourceVersion",
    "generation",
    "managedFields",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
OWN_ANNOTATIONS = (
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "pv.kubernetes.io/bind-completed",
)


def creation_order(plural):
    first = (
        "priorityclasses",
        "storageclasses",
        "persistentvolumes",
        "serviceaccounts",
        "configmaps",
        "secrets",
        "resourcequotas",
        "limitranges",
    )
    return (first.index(plural) if plural in first else len(first), plural)


def is_owned(obj):
    return any(owner.get("controller") for owner in obj["metadata"].get("ownerReferences") or ())


def is_made_by_controllers(obj, recorded):
    """Say whether controllers make an object though none owns it: the claims of a StatefulSet's pods."""
    return obj["kind"] == "PersistentVolumeClaim" and any(
        re.fullmatch(
            rf"{template['metadata']['name']}-{each['metadata']['name']}-\d+", obj["metadata"]["name"]
        )
        for each in recorded.get("statefulsets", ())
        for template in each["spec"].get("volumeClaimTemplates") or ()
    )


def written(obj, store):
    """What a user wrote of an object, as far as it can be told."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in SERVER_SET}
    annotations = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if key not in OWN_ANNOTATIONS
    }
    if annotations:
        metadata["annotations"] = annotations
    if metadata.get("ownerReferences"):
        metadata["ownerReferences"] = [
            with_real_uid(owner, metadata["namespace"], store) for owner in metadata["ownerReferences"]
        ]
    body = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    if obj["kind"] == "Pod":
        spec = {
            key: value
            for key, value in obj["spec"].items()
            if key not in ("nodeName", "priority", "preemptionPolicy")
        }
        spec["volumes"] = [
            row for row in spec.get("volumes") or () if not row["name"].startswith("kube-api-access")
        ]
        for field in ("containers", "initContainers"):
            if field in spec:
                spec[field] = [
                    {
                        **each,
                        "volumeMounts": [
                            m
                            for m in each.get("volumeMounts") or ()
                            if not m["name"].startswith("kube-api-access")
                        ],
                    }
                    for each in spec[field]
                ]
        body["spec"] = spec
    return {**body, "metadata": metadata}


def with_real_uid(owner, namespace, store):
    kind = registry().by_gvk(owner["apiVersion"], owner["kind"])
    found = store.get(kind.resource, namespace if kind.is_namespaced else "", owner["name"])
    return {**owner, "uid": found["metadata"]["uid"]} if found is not None else owner
