"""The diff that the server adds when the immutable part of a claim or volume changes.

The server prints its own structs: Go field names, unset fields as null, one blank of indent, three lines of context.
Source: k8s.io/apimachinery pkg/util/diff; tests/golden/l0/validation.jsonl.gz.
"""

from __future__ import annotations

import difflib
import json
from typing import Any

from env_core.objects import quantity
from env_core.world import Object

_Fields = tuple[tuple[str, str, Any], ...]
_REFERENCE: _Fields = (("Name", "name", ""), ("Namespace", "namespace", ""))
# (Go name, JSON name, value when unset), in the order of the server's structs.
_SOURCES: dict[str, _Fields] = {
    "hostPath": (("Path", "path", ""), ("Type", "type", None)),
    "nfs": (("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", False)),
    "local": (("Path", "path", ""), ("FSType", "fsType", None)),
    "csi": (
        ("Driver", "driver", ""),
        ("VolumeHandle", "volumeHandle", ""),
        ("ReadOnly", "readOnly", False),
        ("FSType", "fsType", ""),
        ("VolumeAttributes", "volumeAttributes", None),
        ("ControllerPublishSecretRef", "controllerPublishSecretRef", _REFERENCE),
        ("NodeStageSecretRef", "nodeStageSecretRef", _REFERENCE),
        ("NodePublishSecretRef", "nodePublishSecretRef", _REFERENCE),
        ("ControllerExpandSecretRef", "controllerExpandSecretRef", _REFERENCE),
        ("NodeExpandSecretRef", "nodeExpandSecretRef", _REFERENCE),
    ),
}
_SOURCE_NAMES = (
    ("GCEPersistentDisk", "gcePersistentDisk"),
    ("AWSElasticBlockStore", "awsElasticBlockStore"),
    ("HostPath", "hostPath"),
    ("Glusterfs", "glusterfs"),
    ("NFS", "nfs"),
    ("RBD", "rbd"),
    ("Quobyte", "quobyte"),
    ("ISCSI", "iscsi"),
    ("FlexVolume", "flexVolume"),
    ("Cinder", "cinder"),
    ("CephFS", "cephfs"),
    ("FC", "fc"),
    ("Flocker", "flocker"),
    ("AzureFile", "azureFile"),
    ("VsphereVolume", "vsphereVolume"),
    ("AzureDisk", "azureDisk"),
    ("PhotonPersistentDisk", "photonPersistentDisk"),
    ("PortworxVolume", "portworxVolume"),
    ("ScaleIO", "scaleIO"),
    ("Local", "local"),
    ("StorageOS", "storageos"),
    ("CSI", "csi"),
)
SOURCE_FIELDS = tuple(field for _, field in _SOURCE_NAMES)


def claim_spec_diff(old: Object, new: Object) -> str:
    """Return the diff of two claim specs."""
    return _diff(_claim_spec(old), _claim_spec(new))


def volume_source_diff(old: Object, new: Object) -> str:
    """Return the diff of the sources of two volume specs."""
    return _diff(_volume_source(old), _volume_source(new))


def _diff(old: Any, new: Any) -> str:
    before, after = (json.dumps(each, indent=1, ensure_ascii=False).split("\n") for each in (old, new))
    lines = list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]
    return "\n".join(lines) + "\n"


def _claim_spec(spec: Object) -> Object:
    resources = spec.get("resources") or {}
    return {
        "AccessModes": spec.get("accessModes") or None,
        "Selector": spec.get("selector"),
        "Resources": {
            "Limits": _amounts(resources.get("limits")),
            "Requests": _amounts(resources.get("requests")),
        },
        "VolumeName": spec.get("volumeName") or "",
        "StorageClassName": spec.get("storageClassName"),
        "VolumeMode": spec.get("volumeMode"),
        "DataSource": _reference(spec.get("dataSource"), ()),
        "DataSourceRef": _reference(spec.get("dataSourceRef"), (("Namespace", "namespace"),)),
        "VolumeAttributesClassName": spec.get("volumeAttributesClassName"),
    }


def _amounts(amounts: Object | None) -> Object | None:
    if not amounts:
        return None
    return {name: quantity.canonical(str(amounts[name])) for name in sorted(amounts)}


def _reference(reference: Object | None, more: tuple[tuple[str, str], ...]) -> Object | None:
    if reference is None:
        return None
    shown = {
        "APIGroup": reference.get("apiGroup"),
        "Kind": reference.get("kind", ""),
        "Name": reference.get("name", ""),
    }
    return {**shown, **{title: reference.get(field) for title, field in more}}


def _volume_source(spec: Object) -> Object:
    return {title: _source(spec.get(field), _SOURCES.get(field)) for title, field in _SOURCE_NAMES}


def _source(source: Object | None, fields: _Fields | None) -> Object | None:
    if source is None:
        return None
    if fields is None:
        return {_go_name(field): source[field] for field in source}
    shown: Object = {}
    for title, field, unset in fields:
        if isinstance(unset, tuple):
            shown[title] = _source(source.get(field), unset)
        else:
            value = source.get(field)
            shown[title] = unset if value is None else value
    return shown


def _go_name(field: str) -> str:
    return field[:1].upper() + field[1:]
