"""Namespaces."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind, Reader, SubresourceWrite
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._describe_text import LineWriter, annotations_lines, labels_lines, rfc1123z
from env_core.kinds._policy_rules import kept_spec, kept_status, label_name
from env_core.kinds._quota_describe import write_limit_ranges, write_quotas
from env_core.objects import names
from env_core.objects.problems import Problem, invalid
from env_core.world import Object

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"
_STANDARD_FINALIZERS = frozenset({FINALIZER, "orphan", "foregroundDeletion"})


def _default(obj: Object) -> Object:
    metadata = obj.get("metadata") or {}
    name, labels = metadata.get("name"), metadata.get("labels") or {}
    if name and labels.get(NAME_LABEL) != name:
        obj = {**obj, "metadata": {**metadata, "labels": {**labels, NAME_LABEL: name}}}
    status = obj.get("status") or {}
    return obj if status.get("phase") else {**obj, "status": {**status, "phase": "Active"}}


def _prepare_create(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    finalizers = spec.get("finalizers") or []
    if FINALIZER not in finalizers:
        spec = {**spec, "finalizers": [*finalizers, FINALIZER]}
    return {**obj, "spec": spec, "status": {"phase": "Active"}}


def _prepare_update(new: Object, old: Object) -> Object:
    finalizers = (old.get("spec") or {}).get("finalizers")
    spec = {key: value for key, value in (new.get("spec") or {}).items() if key != "finalizers"}
    return kept_status({**new, "spec": {**spec, "finalizers": finalizers} if finalizers else spec}, old)


def prepare_finalize(new: Object, old: Object) -> Object:
    """Return what a write of the `finalize` subresource stores: the new spec, everything else as it was."""
    return {**old, "spec": new.get("spec") or {}}


def _validate(obj: Object) -> list[Problem]:
    return finalizer_problems((obj.get("spec") or {}).get("finalizers") or [])


def finalizer_problems(finalizers: list[str]) -> list[Problem]:
    """Check the finalizers of a namespace's spec."""
    found: list[Problem] = []
    for index, name in enumerate(finalizers):
        field = f"spec.finalizers[{index}]"
        found += [invalid(field, name, text) for text in names.is_qualified_name(name)]
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            found.append(
                invalid(field, name, "name is neither a standard finalizer name nor is it fully qualified")
            )
    return found


def _validate_update(_new: Object, _old: Object) -> list[Problem]:
    return []


def _validate_status(new: Object, _old: Object) -> list[Problem]:
    phase = (new.get("status") or {}).get("phase", "")
    is_deleted = bool(new["metadata"].get("deletionTimestamp"))
    if not is_deleted and phase != "Active":
        return [invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")]
    if is_deleted and phase != "Terminating":
        return [
            invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
        ]
    return []


def _cell_status(obj: Object, _now_ms: int) -> str:
    return str((obj.get("status") or {}).get("phase") or "")


def _describe(obj: Object, reader: Reader, _show_events: bool) -> str:
    metadata, status = obj["metadata"], obj.get("status") or {}
    name = metadata["name"]
    writer = LineWriter()
    writer.line(0, f"Name:\t{name}")
    writer.lines(labels_lines("Labels", metadata.get("labels")))
    writer.lines(annotations_lines("Annotations", metadata.get("annotations")))
    writer.line(0, f"Status:\t{status.get('phase', '')}")
    if status.get("conditions"):
        writer.line(0, "Conditions:")
        writer.line(1, "Type\tStatus\tLastTransitionTime\tReason\tMessage")
        writer.line(1, "----\t------\t------------------\t------\t-------")
        for condition in status["conditions"]:
            when = rfc1123z(condition.get("lastTransitionTime"))
            cells = (condition.get("type", ""), condition.get("status", ""), when)
            writer.line(1, "\t".join((*cells, condition.get("reason", ""), condition.get("message", ""))))
    quotas = reader.list("resourcequotas", name)
    ranges = reader.list("limitranges", name)
    writer.line(0, "")
    write_quotas(writer, quotas)
    writer.line(0, "")
    write_limit_ranges(writer, ranges)
    return writer.text()


KIND = Kind(
    group="",
    version="v1",
    kind="Namespace",
    plural="namespaces",
    singular="namespace",
    short_names=("ns",),
    is_namespaced=False,
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    subresources=("finalize", "status"),
    writes={"finalize": SubresourceWrite(prepare_finalize, _validate_update)},
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=_prepare_update,
    prepare_status=kept_spec,
    validate_name=label_name,
    validate=_validate,
    validate_update=_validate_update,
    validate_status=_validate_status,
    field_labels=("metadata.name", "status.phase", "name"),
    field_values={"name": lambda obj: str(obj["metadata"]["name"])},
    columns=(NAME, Column("Status", _cell_status), AGE),
    describe=_describe,
    source="k8s.io/api core/v1 Namespace, 1.37; tests/golden/l0",
)
