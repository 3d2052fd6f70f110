"""Storage classes."""

from __future__ import annotations

from collections.abc import Sequence

from env_core.apiserver.kind import Column, Kind, Reader
from env_core.kinds._columns_workload import AGE
from env_core.kinds._describe_text import NONE, LineWriter, write_events
from env_core.kinds._policy_rules import immutable_null, subdomain_name
from env_core.kinds._storage_sources import write_topologies
from env_core.kinds._storage_text import UNSET, pairs_text
from env_core.kinds._storage_warnings import class_warnings
from env_core.objects import meta, names
from env_core.objects.problems import Problem, duplicate, invalid, not_supported, required
from env_core.world import Object

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_DEFAULT_CLASSES = (DEFAULT_CLASS, "storageclass.beta.kubernetes.io/is-default-class")
_RECLAIM_POLICIES = ["Delete", "Retain"]
_BINDING_MODES = ["Immediate", "WaitForFirstConsumer"]
_DEFAULTS = (("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate"))
_IMMUTABLE = ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")


def _default(obj: Object) -> Object:
    missing = {field: value for field, value in _DEFAULTS if obj.get(field) is None}
    return {**obj, **missing} if missing else obj


def _validate(obj: Object) -> list[Problem]:
    provisioner, policy, mode = (
        obj.get("provisioner") or "",
        obj.get("reclaimPolicy"),
        obj.get("volumeBindingMode"),
    )
    found: list[Problem] = []
    if provisioner:
        complaints = names.is_qualified_name(provisioner.lower())
        found += [invalid("provisioner", provisioner, text) for text in complaints]
    else:
        found.append(required("provisioner"))
    if policy is not None and policy not in _RECLAIM_POLICIES:
        found.append(not_supported("reclaimPolicy", policy, _RECLAIM_POLICIES))
    if mode is None:
        found.append(required("volumeBindingMode"))
    elif mode not in _BINDING_MODES:
        found.append(not_supported("volumeBindingMode", mode, _BINDING_MODES))
    for index, term in enumerate(obj.get("allowedTopologies") or ()):
        found += _topology_problems(term, f"allowedTopologies[{index}]")
    return found


def _topology_problems(term: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    keys: list[str] = []
    for index, expression in enumerate(term.get("matchLabelExpressions") or ()):
        where = f"{field}.matchLabelExpressions[{index}]"
        key, values = expression.get("key", ""), expression.get("values") or []
        if not values:
            found.append(required(f"{where}.values"))
        for position, value in enumerate(values):
            if value in values[:position]:
                found.append(duplicate(f"{where}.values[{position}]", value))
        found += [invalid(f"{where}.key", key, text) for text in names.is_qualified_name(key)]
        if key in keys:
            found.append(duplicate(f"{where}.key", key))
        keys.append(key)
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    changed = [field for field in _IMMUTABLE if (new.get(field) or None) != (old.get(field) or None)]
    return [*_validate(new), *(immutable_null(field) for field in changed)]


def is_default(obj: Object) -> bool:
    """Whether claims without a class get this one."""
    annotations = obj["metadata"].get("annotations") or {}
    return any(annotations.get(name) == "true" for name in _DEFAULT_CLASSES)


def _columns_of_list(classes: Sequence[Object]) -> tuple[Column, ...]:
    """Return the columns of a list: the class that is in effect the default is marked, a class by itself never is."""
    marked = [obj for obj in classes if is_default(obj)]
    if not marked:
        return _COLUMNS
    chosen = min(marked, key=lambda obj: (-meta.creation_ms(obj), meta.name(obj)))

    def cell(obj: Object, _now_ms: int) -> str:
        return f"{meta.name(obj)} (default)" if meta.name(obj) == meta.name(chosen) else meta.name(obj)

    return (Column("Name", cell, format="name"), *_COLUMNS[1:])


def _cell_name(obj: Object, _now_ms: int) -> str:
    return meta.name(obj)


def _cell_provisioner(obj: Object, _now_ms: int) -> str:
    return str(obj.get("provisioner") or "")


def _cell_policy(obj: Object, _now_ms: int) -> str:
    return str(obj.get("reclaimPolicy") or "Delete")


def _cell_mode(obj: Object, _now_ms: int) -> str:
    return str(obj.get("volumeBindingMode") or UNSET)


def _cell_expansion(obj: Object, _now_ms: int) -> bool:
    return bool(obj.get("allowVolumeExpansion"))


def _describe(obj: Object, reader: Reader, show_events: bool) -> str:
    metadata, expansion = obj["metadata"], obj.get("allowVolumeExpansion")
    writer = LineWriter()
    writer.line(0, f"Name:\t{metadata['name']}")
    writer.line(0, f"IsDefaultClass:\t{'Yes' if is_default(obj) else 'No'}")
    writer.line(0, f"Annotations:\t{pairs_text(metadata.get('annotations'))}")
    writer.line(0, f"Provisioner:\t{obj.get('provisioner') or ''}")
    writer.line(0, f"Parameters:\t{pairs_text(obj.get('parameters'))}")
    writer.line(0, f"AllowVolumeExpansion:\t{UNSET if expansion is None else str(bool(expansion))}")
    options = obj.get("mountOptions")
    writer.line(0, "MountOptions:" if options else f"MountOptions:\t{NONE}")
    for option in options or ():
        writer.line(1, option)
    if obj.get("reclaimPolicy") is not None:
        writer.line(0, f"ReclaimPolicy:\t{obj['reclaimPolicy']}")
    if obj.get("volumeBindingMode") is not None:
        writer.line(0, f"VolumeBindingMode:\t{obj['volumeBindingMode']}")
    if obj.get("allowedTopologies") is not None:
        write_topologies(writer, obj["allowedTopologies"])
    write_events(writer, reader.events(obj) if show_events else None, reader.now_ms)
    return writer.text()


_COLUMNS = (
    Column("Name", _cell_name, format="name"),
    Column("Provisioner", _cell_provisioner),
    Column("ReclaimPolicy", _cell_policy),
    Column("VolumeBindingMode", _cell_mode),
    Column("AllowVolumeExpansion", _cell_expansion),
    AGE,
)


KIND = Kind(
    group="storage.k8s.io",
    version="v1",
    kind="StorageClass",
    plural="storageclasses",
    singular="storageclass",
    short_names=("sc",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    default=_default,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    warnings=class_warnings,
    columns=_COLUMNS,
    columns_of_list=_columns_of_list,
    describe=_describe,
    returns_deleted=True,
    source="k8s.io/api storage/v1 StorageClass, 1.37; tests/golden/l0, l2/flows (pvc-expand)",
)
