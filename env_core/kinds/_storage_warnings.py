"""What the API server warns of in volumes, claims, classes and whatever else names nodes by their labels.

Source: kubernetes pkg/api/{persistentvolume,persistentvolumeclaim,storage,node}/util.go; tests/golden/l2/facts/errors.jsonl.gz
(warn-pvc-anno).
"""

from __future__ import annotations

from env_core.kinds._node_labels import label_warning, term_warnings
from env_core.kinds._pod_warnings import claim_spec_warnings
from env_core.world import Object

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_CLASS_TEXT = 'deprecated since v1.8; use "storageClassName" attribute instead'
_RECYCLE_TEXT = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."
_GONE_VOLUMES = (
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)


def _class_warnings(obj: Object) -> list[str]:
    annotations = obj["metadata"].get("annotations") or {}
    if _CLASS_ANNOTATION not in annotations:
        return []
    return [f"metadata.annotations[{_CLASS_ANNOTATION}]: {_CLASS_TEXT}"]


def volume_warnings(obj: Object) -> list[str]:
    """Return the warnings about a persistent volume."""
    spec = obj.get("spec") or {}
    found = _class_warnings(obj)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        found.append(f"spec.persistentVolumeReclaimPolicy: {_RECYCLE_TEXT}")
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        found += term_warnings(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")
    return found + [
        f"spec.{shown}: {text}" for key, shown, text in _GONE_VOLUMES if spec.get(key) is not None
    ]


def claim_warnings(obj: Object) -> list[str]:
    """Return the warnings about a claim."""
    return _class_warnings(obj) + claim_spec_warnings(obj.get("spec") or {}, "spec")


def class_warnings(obj: Object) -> list[str]:
    """Return the warnings about a storage class."""
    found: list[str] = []
    for index, topology in enumerate(obj.get("allowedTopologies") or ()):
        for place, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            text = label_warning(expression.get("key") or "")
            if text:
                found.append(f"allowedTopologies[{index}].matchLabelExpressions[{place}].key: {text}")
    return found


def capacity_warnings(obj: Object) -> list[str]:
    """Return the warnings about a CSI driver's capacity."""
    topology = obj.get("nodeTopology") or {}
    found = term_warnings(topology, "nodeTopology")
    for key in sorted(topology.get("matchLabels") or ()):
        if label_warning(key):
            found.append(f"nodeTopology.matchLabels.{key}: {label_warning(key)}")
    return found


def runtime_warnings(obj: Object) -> list[str]:
    """Return the warnings about a runtime class."""
    selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
    return [
        f"scheduling.nodeSelector: {label_warning(key)}" for key in sorted(selector) if label_warning(key)
    ]
