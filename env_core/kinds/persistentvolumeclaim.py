"""Persistent volume claims."""

from __future__ import annotations

from typing import Any

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import (
    NONE,
    LineWriter,
    annotations_lines,
    labels_lines,
    rfc1123z,
    translate_age,
    write_events,
)
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name
from env_core.kinds._storage_text import UNSET, access_modes_text, class_name
from env_core.kinds._storage_validation import claim_problems, claim_status_problems, claim_update_problems
from env_core.kinds._storage_warnings import claim_warnings
from env_core.kinds._volume_defaults import default_claim
from env_core.objects import goformat, quantity
from env_core.objects.problems import Problem
from env_core.world import Object

_KNOWN_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def _with_data_sources(spec: Object, old: Object | None) -> Object:
    """Return the spec with `dataSource` and `dataSourceRef` saying the same.

    Kinds that nobody populates from are dropped from `dataSource`, for clients that knew no better.
    """
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    had_source = old is not None and old.get("dataSource") is not None
    if source is not None and not had_source and not _is_known(source):
        spec = {key: value for key, value in spec.items() if key != "dataSource"}
        source = None
    if source is not None and reference is None:
        return {**spec, "dataSourceRef": _typed(source)}
    if reference is not None and source is None and not reference.get("namespace"):
        return {**spec, "dataSource": _typed(reference)}
    return spec


def _is_known(source: Object) -> bool:
    return (source.get("apiGroup") or "", source.get("kind", "")) in _KNOWN_SOURCES


def _typed(source: Object) -> Object:
    return {
        "apiGroup": source.get("apiGroup"),
        "kind": source.get("kind", ""),
        "name": source.get("name", ""),
    }


def _prepare_create(obj: Object) -> Object:
    return {**obj, "spec": _with_data_sources(obj.get("spec") or {}, None), "status": {}}


def _prepare_update(new: Object, old: Object) -> Object:
    spec = new.get("spec") or {}
    prepared = _with_data_sources(spec, old.get("spec"))
    return kept_status(new if prepared is spec else {**new, "spec": prepared}, old)


def _validate(obj: Object) -> list[Problem]:
    return claim_problems(obj.get("spec") or {})


def _cell_status(obj: Object, _now_ms: int) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str((obj.get("status") or {}).get("phase") or "")


def _spec_text(obj: Object, field: str, unset: str) -> str:
    value: Any = (obj.get("spec") or {}).get(field)
    return unset if value is None else str(value)


def _cell_volume(obj: Object, _now_ms: int) -> str:
    return _spec_text(obj, "volumeName", "")


def _cell_capacity(obj: Object, _now_ms: int) -> str:
    if not (obj.get("spec") or {}).get("volumeName"):
        return ""
    capacity = (obj.get("status") or {}).get("capacity") or {}
    return quantity.canonical(str(capacity["storage"])) if "storage" in capacity else "0"


def _cell_modes(obj: Object, _now_ms: int) -> str:
    if not (obj.get("spec") or {}).get("volumeName"):
        return ""
    return access_modes_text((obj.get("status") or {}).get("accessModes"))


def _cell_class(obj: Object, _now_ms: int) -> str:
    return class_name(obj)


def _cell_attributes_class(obj: Object, _now_ms: int) -> str:
    return _spec_text(obj, "volumeAttributesClassName", UNSET)


def _cell_mode(obj: Object, _now_ms: int) -> str:
    return _spec_text(obj, "volumeMode", UNSET)


def _users(obj: Object, reader: Reader) -> list[str]:
    """Return the names of pods that mount the claim or own it, sorted."""
    metadata = obj["metadata"]
    pods = reader.list("pods", metadata.get("namespace", ""))
    owners = [each.get("uid") for each in metadata.get("ownerReferences") or () if each.get("kind") == "Pod"]
    users: list[str] = []
    for pod in pods:
        volumes = (pod.get("spec") or {}).get("volumes") or ()
        claims = [(each.get("persistentVolumeClaim") or {}).get("claimName") for each in volumes]
        mounts = claims.count(metadata["name"])
        if not mounts and owners and pod["metadata"].get("uid") in owners:
            mounts = 1
        users += [pod["metadata"]["name"]] * mounts
    return sorted(users)


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    users = _users(obj, reader)
    events = reader.events(obj) if show_events else None
    metadata, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.line(0, f"Namespace:\t{metadata.get('namespace', '')}")
    writer.line(0, f"StorageClass:\t{class_name(obj)}")
    writer.line(0, f"Status:\t{status_text(obj, reader.now_ms)}")
    writer.line(0, f"Volume:\t{spec.get('volumeName') or ''}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    writer.line(0, f"Finalizers:\t{goformat.value_text(metadata.get('finalizers') or [])}")
    writer.line(0, f"Capacity:\t{_cell_capacity(obj, 0)}")
    writer.line(0, f"Access Modes:\t{_cell_modes(obj, 0)}")
    if spec.get("volumeMode") is not None:
        writer.line(0, f"VolumeMode:\t{spec['volumeMode']}")
    _write_data_source(writer, spec.get("dataSource"))
    for index, user in enumerate(users or [NONE]):
        writer.line(0, f"{'' if index else 'Used By:'}\t{user}")
    _write_conditions(writer, status.get("conditions") or [])
    write_events(writer, events, reader.now_ms)
    return writer.text()


def status_text(obj: Object, now_ms: int) -> str:
    """Return the phase, or since when the object is being deleted."""
    deleted = obj["metadata"].get("deletionTimestamp")
    if deleted:
        return f"Terminating (lasts {translate_age(deleted, now_ms)})"
    return str((obj.get("status") or {}).get("phase") or "")


def _write_data_source(writer: LineWriter, source: Object | None) -> None:
    if source is None:
        return
    writer.line(0, "DataSource:")
    if source.get("apiGroup") is not None:
        writer.line(1, f"APIGroup:\t{source['apiGroup']}")
    writer.line(1, f"Kind:\t{source.get('kind', '')}")
    writer.line(1, f"Name:\t{source.get('name', '')}")


def _write_conditions(writer: LineWriter, conditions: list[Object]) -> None:
    if not conditions:
        return
    writer.line(0, "Conditions:")
    writer.line(1, "Type\tStatus\tLastProbeTime\tLastTransitionTime\tReason\tMessage")
    writer.line(1, "----\t------\t-----------------\t------------------\t------\t-------")
    for each in conditions:
        times = [rfc1123z(each.get("lastProbeTime")), rfc1123z(each.get("lastTransitionTime"))]
        cells = [each.get("type", ""), each.get("status", ""), *times, each.get("reason", "")]
        writer.line(1, " \t".join([*cells, each.get("message", "")]))


KIND = Kind(
    group="",
    version="v1",
    kind="PersistentVolumeClaim",
    plural="persistentvolumeclaims",
    singular="persistentvolumeclaim",
    short_names=("pvc",),
    default=default_claim,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=claim_update_problems,
    validate_status=claim_status_problems,
    warnings=claim_warnings,
    columns=(
        NAME,
        Column("Status", _cell_status),
        Column("Volume", _cell_volume),
        Column("Capacity", _cell_capacity),
        Column("Access Modes", _cell_modes),
        Column("StorageClass", _cell_class),
        Column("VolumeAttributesClass", _cell_attributes_class),
        AGE,
        Column("VolumeMode", _cell_mode, priority=1),
    ),
    describe=_describe,
    returns_deleted=True,
    source="k8s.io/api core/v1 PersistentVolumeClaim, 1.37; tests/golden/l0",
)
