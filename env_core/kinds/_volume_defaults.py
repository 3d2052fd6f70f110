"""Defaults of pod volumes and of claim templates.

Source: k8s.io/kubernetes pkg/apis/core/v1 defaults; recorded in tests/golden/l0/defaulting.jsonl.gz.
"""

from __future__ import annotations

from env_core.kinds._image_reference import default_pull_policy
from env_core.world import Object

_FILE_MODE = 420
_MODED = ("secret", "configMap", "downwardAPI", "projected")
_FIXED: tuple[tuple[str, Object], ...] = (
    ("iscsi", {"iscsiInterface": "default"}),
    ("rbd", {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
    ("azureDisk", {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False}),
    ("scaleIO", {"storageMode": "ThinProvisioned", "fsType": "xfs"}),
)
_TOKEN_SECONDS = 3600


def default_volume(volume: Object) -> Object:
    """Fill in a volume's defaults; one without any source becomes an emptyDir."""
    if not any(value is not None for key, value in volume.items() if key != "name"):
        return {**volume, "emptyDir": {}}
    changes: Object = {}
    for key in _MODED:
        source = volume.get(key)
        if source is not None:
            new = source if source.get("defaultMode") is not None else {**source, "defaultMode": _FILE_MODE}
            if key == "downwardAPI":
                new = _default_items(new)
            elif key == "projected":
                new = _default_projected(new)
            if new is not source:
                changes[key] = new
    source = volume.get("hostPath")
    if source is not None and source.get("type") is None:
        changes["hostPath"] = {**source, "type": ""}
    source = volume.get("image")
    if source is not None and not source.get("pullPolicy"):
        changes["image"] = {**source, "pullPolicy": default_pull_policy(source.get("reference") or "")}
    source = volume.get("ephemeral")
    if source is not None and source.get("volumeClaimTemplate") is not None:
        template = source["volumeClaimTemplate"]
        spec = template.get("spec") or {}
        if spec.get("volumeMode") is None:
            new_template = {**template, "spec": {**spec, "volumeMode": "Filesystem"}}
            changes["ephemeral"] = {**source, "volumeClaimTemplate": new_template}
    for key, defaults in _FIXED:
        source = volume.get(key)
        if source is not None:
            missing = {name: value for name, value in defaults.items() if source.get(name) in (None, "")}
            if missing:
                changes[key] = {**source, **missing}
    return {**volume, **changes} if changes else volume


def _default_items(source: Object) -> Object:
    items = source.get("items") or []
    if all(not _lacks_version(item) for item in items):
        return source
    return {**source, "items": [_default_item(item) for item in items]}


def _lacks_version(item: Object) -> bool:
    reference = item.get("fieldRef")
    return reference is not None and not reference.get("apiVersion")


def _default_item(item: Object) -> Object:
    return {**item, "fieldRef": {**item["fieldRef"], "apiVersion": "v1"}} if _lacks_version(item) else item


def _default_projected(source: Object) -> Object:
    sources = source.get("sources") or []
    new = [_default_projection(projection) for projection in sources]
    return source if all(a is b for a, b in zip(new, sources)) else {**source, "sources": new}


def _default_projection(projection: Object) -> Object:
    token = projection.get("serviceAccountToken")
    if token is not None and token.get("expirationSeconds") is None:
        projection = {**projection, "serviceAccountToken": {**token, "expirationSeconds": _TOKEN_SECONDS}}
    downward = projection.get("downwardAPI")
    if downward is not None:
        new = _default_items(downward)
        if new is not downward:
            projection = {**projection, "downwardAPI": new}
    return projection


def default_claim(claim: Object) -> Object:
    """Fill in the defaults of a persistent volume claim."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    changes: Object = {}
    if spec.get("volumeMode") is None:
        changes["spec"] = {**spec, "volumeMode": "Filesystem"}
    if not status.get("phase"):
        changes["status"] = {**status, "phase": "Pending"}
    return {**claim, **changes} if changes else claim
