"""Persistent volumes."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines, write_events
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._storage_sources import write_node_affinity, write_source
from env_core.kinds._storage_text import UNSET, access_modes_text, class_name
from env_core.kinds._storage_validation import volume_problems, volume_update_problems
from env_core.kinds._storage_warnings import volume_warnings
from env_core.kinds.persistentvolumeclaim import status_text
from env_core.objects import goformat, quantity
from env_core.objects.problems import Problem
from env_core.sim.timefmt import rfc3339
from env_core.world import Object

_SPEC_DEFAULTS = (("persistentVolumeReclaimPolicy", "Retain"), ("volumeMode", "Filesystem"))
_SOURCE_DEFAULTS: dict[str, Object] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def _default(obj: Object) -> Object:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    changes: Object = {field: value for field, value in _SPEC_DEFAULTS if not spec.get(field)}
    for name, defaults in _SOURCE_DEFAULTS.items():
        source = spec.get(name)
        if source is not None and any(source.get(field) is None for field in defaults):
            missing = {field: value for field, value in defaults.items() if source.get(field) is None}
            changes[name] = {**source, **missing}
    if changes:
        obj = {**obj, "spec": {**spec, **changes}}
    return obj if status.get("phase") else {**obj, "status": {**status, "phase": "Pending"}}


def _prepare_create(obj: Object) -> Object:
    status: Object = {"phase": "Pending"}
    created = obj["metadata"].get("creationTimestamp")
    if created:
        status["lastPhaseTransitionTime"] = created
    return {**obj, "status": status}


def _stamp_status(new: Object, old: Object, now_ms: int) -> Object:
    """Note when the phase changed, unless the client says it.

    Source: kubernetes pkg/registry/core/persistentvolume strategy.go; tests/golden/l2/flows pvc-delete-policy.
    """
    status, before = new.get("status") or {}, old.get("status") or {}
    since = status.get("lastPhaseTransitionTime")
    if status.get("phase") == before.get("phase"):
        return new
    if since and since != before.get("lastPhaseTransitionTime"):
        return new
    return {**new, "status": {**status, "lastPhaseTransitionTime": rfc3339(now_ms)}}


def _validate(obj: Object) -> list[Problem]:
    return volume_problems(obj.get("spec") or {})


def _spec_text(obj: Object, field: str, unset: str) -> str:
    value: Any = (obj.get("spec") or {}).get(field)
    return unset if value is None else str(value)


def _cell_capacity(obj: Object, _now_ms: int) -> str:
    capacity = (obj.get("spec") or {}).get("capacity") or {}
    return quantity.canonical(str(capacity["storage"])) if "storage" in capacity else "0"


def _cell_modes(obj: Object, _now_ms: int) -> str:
    return access_modes_text((obj.get("spec") or {}).get("accessModes"))


def _cell_policy(obj: Object, _now_ms: int) -> str:
    return _spec_text(obj, "persistentVolumeReclaimPolicy", "")


def _cell_status(obj: Object, _now_ms: int) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str((obj.get("status") or {}).get("phase") or "")


def _cell_claim(obj: Object, _now_ms: int) -> str:
    claim = (obj.get("spec") or {}).get("claimRef")
    return "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}"


def _cell_class(obj: Object, _now_ms: int) -> str:
    return class_name(obj)


def _cell_attributes_class(obj: Object, _now_ms: int) -> str:
    return _spec_text(obj, "volumeAttributesClassName", UNSET)


def _cell_reason(obj: Object, _now_ms: int) -> str:
    return str((obj.get("status") or {}).get("reason") or "")


def _cell_mode(obj: Object, _now_ms: int) -> str:
    return _spec_text(obj, "volumeMode", UNSET)


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    writer.line(0, f"Finalizers:\t{goformat.value_text(metadata.get('finalizers') or [])}")
    writer.line(0, f"StorageClass:\t{class_name(obj)}")
    writer.line(0, f"Status:\t{status_text(obj, reader.now_ms)}")
    writer.line(0, f"Claim:\t{_cell_claim(obj, 0)}")
    writer.line(0, f"Reclaim Policy:\t{_cell_policy(obj, 0)}")
    writer.line(0, f"Access Modes:\t{_cell_modes(obj, 0)}")
    if spec.get("volumeMode") is not None:
        writer.line(0, f"VolumeMode:\t{spec['volumeMode']}")
    writer.line(0, f"Capacity:\t{_cell_capacity(obj, 0)}")
    write_node_affinity(writer, spec.get("nodeAffinity"))
    writer.line(0, f"Message:\t{(obj.get('status') or {}).get('message') or ''}")
    write_source(writer, spec)
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="PersistentVolume",
    plural="persistentvolumes",
    singular="persistentvolume",
    short_names=("pv",),
    is_namespaced=False,
    default=_default,
    prepare_create=_prepare_create,
    stamp_status=_stamp_status,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=volume_update_problems,
    warnings=volume_warnings,
    columns=(
        NAME,
        Column("Capacity", _cell_capacity),
        Column("Access Modes", _cell_modes),
        Column("Reclaim Policy", _cell_policy),
        Column("Status", _cell_status),
        Column("Claim", _cell_claim),
        Column("StorageClass", _cell_class),
        Column("VolumeAttributesClass", _cell_attributes_class),
        Column("Reason", _cell_reason),
        AGE,
        Column("VolumeMode", _cell_mode, priority=1),
    ),
    describe=_describe,
    returns_deleted=True,
    source="k8s.io/api core/v1 PersistentVolume, 1.37; tests/golden/l0",
)
