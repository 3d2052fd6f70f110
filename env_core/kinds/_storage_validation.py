"""Validation of persistent volumes and claims.

Source: k8s.io/kubernetes pkg/apis/core/validation.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from env_core.kinds._policy_rules import (
    IMMUTABLE,
    positive_problems,
    quantity_problems,
    selector_problems,
    subdomain_name,
    unsupported,
)
from env_core.kinds._storage_diff import claim_spec_diff, volume_source_diff
from env_core.kinds._storage_text import BETA_CLASS
from env_core.objects import names, quantity
from env_core.objects.problems import INVALID, TOO_LONG, Problem, forbidden, invalid, not_supported, required
from env_core.world import Object

_ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
_VOLUME_MODES = ["Block", "Filesystem"]
_RECLAIM_POLICIES = ["Delete", "Recycle", "Retain"]
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
# In the order in which the server looks at them.
_SOURCES = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
)


def _modes_problems(modes: list[str], when_empty: str) -> list[Problem]:
    field = "spec.accessModes"
    if not modes:
        return [required(field, when_empty)]
    found = [not_supported(field, mode, _ACCESS_MODES) for mode in modes if mode not in _ACCESS_MODES]
    others = [mode for mode in modes if mode in _ACCESS_MODES and mode != "ReadWriteOncePod"]
    if "ReadWriteOncePod" in modes and others:
        found.append(forbidden(field, "may not use ReadWriteOncePod with other access modes"))
    return found


def _class_problems(spec: Object) -> list[Problem]:
    name = spec.get("storageClassName") or ""
    return (
        [invalid("spec.storageClassName", name, text) for text in subdomain_name(name, False)] if name else []
    )


def _volume_mode_problems(spec: Object) -> list[Problem]:
    mode = spec.get("volumeMode")
    return (
        []
        if mode is None or mode in _VOLUME_MODES
        else [not_supported("spec.volumeMode", mode, _VOLUME_MODES)]
    )


def claim_problems(spec: Object) -> list[Problem]:
    """Check the spec of a claim."""
    modes = spec.get("accessModes") or []
    found = [] if modes else _modes_problems(modes, "at least 1 access mode is required")
    found += selector_problems(spec.get("selector"), "spec.selector")
    if modes:
        found += _modes_problems(modes, "")
    requests = (spec.get("resources") or {}).get("requests") or {}
    field = "spec.resources[storage]"
    if "storage" not in requests:
        found.append(required(field))
    else:
        found += positive_problems(requests["storage"], field) or quantity_problems(
            "storage", requests["storage"], field
        )
    found += _class_problems(spec)
    found += _volume_mode_problems(spec)
    for name in ("dataSource", "dataSourceRef"):
        if spec.get(name) is not None:
            found += _data_source_problems(spec[name], f"spec.{name}")
    return found


def _data_source_problems(source: Object, field: str) -> list[Problem]:
    found = [required(f"{field}.{key}") for key in ("name", "kind") if not source.get(key)]
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        found.append(invalid(field, kind, text))
    if group:
        found += [invalid(f"{field}.apiGroup", group, text) for text in names.is_dns1123_subdomain(group)]
    return found


def _storage(amounts: Object | None) -> quantity.Quantity:
    return quantity.parse(str((amounts or {}).get("storage", "0")))


def claim_update_problems(new: Object, old: Object) -> list[Problem]:
    """Check a change of a claim: most of its spec is fixed, a bound claim may grow."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    compared, compared_before = dict(spec), dict(before)
    if not before.get("volumeName"):
        compared_before["volumeName"] = spec.get("volumeName")
    if before.get("storageClassName") is None and not _has_beta_class(old):
        compared["storageClassName"] = None
    is_bound = (new.get("status") or {}).get("phase") == "Bound"
    requests, requests_before = (
        (each.get("resources") or {}).get("requests") or {} for each in (spec, before)
    )
    if is_bound:
        kept = {**requests, "storage": requests_before.get("storage")}
        compared["resources"] = {**(spec.get("resources") or {}), "requests": kept}
        compared["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    found: list[Problem] = []
    if _present(compared) != _present(compared_before):
        text = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
        found.append(forbidden("spec", text + claim_spec_diff(compared_before, compared)))
    wanted = _storage(requests)
    if wanted < _storage(requests_before) and wanted <= _storage((old.get("status") or {}).get("capacity")):
        found.append(
            forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
        )
    return [*claim_problems(spec), *found, *_mode_changed(spec, before)]


def _present(spec: Object) -> Object:
    return {key: value for key, value in spec.items() if value not in (None, "")}


def _has_beta_class(obj: Object) -> bool:
    return BETA_CLASS in (obj["metadata"].get("annotations") or {})


def _mode_changed(spec: Object, before: Object) -> list[Problem]:
    mode = spec.get("volumeMode")
    return [] if mode == before.get("volumeMode") else [invalid("volumeMode", mode, IMMUTABLE)]


def claim_status_problems(new: Object, old: Object) -> list[Problem]:
    """Check a status write of a claim."""
    del old
    capacity = (new.get("status") or {}).get("capacity") or {}
    return _basic_problems(capacity, "status.capacity")


def _basic_problems(amounts: Object, field: str) -> list[Problem]:
    found: list[Problem] = []
    for name in sorted(amounts):
        value = quantity.parse(str(amounts[name])).value()
        if value < 0:
            found.append(
                Problem(INVALID, f"{field}[{name}]", str(value), "must be a valid resource quantity")
            )
    return found


def volume_problems(spec: Object) -> list[Problem]:
    """Check the spec of a volume."""
    found = _modes_problems(spec.get("accessModes") or [], "")
    found += _capacity_problems(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy") or ""
    if policy and policy not in _RECLAIM_POLICIES:
        found.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES))
    affinity = spec.get("nodeAffinity")
    found += _affinity_problems(affinity)
    found += _sources_problems(spec, has_affinity=bool(affinity and affinity.get("required") is not None))
    host_path = spec.get("hostPath")
    if (
        host_path is not None
        and policy == "Recycle"
        and posixpath.normpath(host_path.get("path", "")) in ("/", "//")
    ):
        text = "may not be 'recycle' for a hostPath mount of '/'"
        found.append(forbidden("spec.persistentVolumeReclaimPolicy", text))
    found += _class_problems(spec)
    found += _volume_mode_problems(spec)
    return found


def _capacity_problems(capacity: Object) -> list[Problem]:
    field = "spec.capacity"
    found = [] if capacity else [required(field)]
    if "storage" not in capacity or len(capacity) > 1:
        shown = {name: quantity.canonical(str(capacity[name])) for name in sorted(capacity)}
        found.append(not_supported(field, shown or None, ["storage"]))
    for name in sorted(capacity):
        found += _basic_problems({name: capacity[name]}, field)
        found += positive_problems(capacity[name], f"{field}[{name}]")
    return found


def _affinity_problems(affinity: Object | None) -> list[Problem]:
    if affinity is None:
        return []
    field = "spec.nodeAffinity.required"
    wanted = affinity.get("required")
    if wanted is None:
        return [required(field, "must specify required node constraints")]
    terms = wanted.get("nodeSelectorTerms") or []
    if not terms:
        return [required(f"{field}.nodeSelectorTerms", "must have at least one node selector term")]
    found: list[Problem] = []
    for index, term in enumerate(terms):
        for position, expression in enumerate(term.get("matchExpressions") or ()):
            where = f"{field}.nodeSelectorTerms[{index}].matchExpressions[{position}]"
            found += _requirement_problems(expression, where)
    return found


def _requirement_problems(expression: Object, field: str) -> list[Problem]:
    operator, values = expression.get("operator", ""), expression.get("values") or []
    found: list[Problem] = []
    if operator in ("In", "NotIn"):
        if not values:
            found.append(required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", text))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            found.append(required(f"{field}.values", text))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    key = expression.get("key", "")
    return [*found, *(invalid(f"{field}.key", key, text) for text in names.is_qualified_name(key))]


def _sources_problems(spec: Object, *, has_affinity: bool) -> list[Problem]:
    found: list[Problem] = []
    given = [name for name in _SOURCES if spec.get(name) is not None]
    for index, name in enumerate(given):
        if index:
            found.append(forbidden(f"spec.{name}", "may not specify more than 1 volume type"))
            continue
        check = _SOURCE_CHECKS.get(name)
        if check is not None:
            found += check(spec[name], f"spec.{name}")
        if name == "local" and not has_affinity:
            found.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
    return found if given else [required("spec", "must specify a volume type")]


def _no_backsteps(path: str, field: str) -> list[Problem]:
    return [invalid(field, path, "must not contain '..'")] if ".." in path.split("/") else []


def _host_path_problems(source: Object, field: str) -> list[Problem]:
    path, kind = source.get("path", ""), source.get("type") or ""
    if not path:
        return [required(f"{field}.path")]
    found = _no_backsteps(path, f"{field}.path")
    if kind not in _HOST_PATH_TYPES:
        found.append(unsupported(f"{field}.type", kind, _HOST_PATH_TYPES))
    return found


def _nfs_problems(source: Object, field: str) -> list[Problem]:
    path = source.get("path", "")
    found = [required(f"{field}.{key}") for key in ("server", "path") if not source.get(key)]
    if not path.startswith("/"):
        found.append(invalid(f"{field}.path", path, "must be an absolute path"))
    return found


def _local_problems(source: Object, field: str) -> list[Problem]:
    path = source.get("path", "")
    return _no_backsteps(path, f"{field}.path") if path else [required(f"{field}.path")]


def driver_name_problems(driver: str, field: str) -> list[Problem]:
    """Check the name of a CSI driver."""
    found: list[Problem] = [] if driver else [required(field)]
    if len(driver.encode()) > names.LABEL_LENGTH_MAX:
        found.append(Problem(TOO_LONG, field, "", f"may not be more than {names.LABEL_LENGTH_MAX} bytes"))
    if driver:
        found += [invalid(field, driver, text) for text in names.is_dns1123_subdomain(driver.lower())]
    return found


def _csi_problems(source: Object, field: str) -> list[Problem]:
    found = driver_name_problems(source.get("driver", ""), f"{field}.driver")
    return found if source.get("volumeHandle") else [*found, required(f"{field}.volumeHandle")]


_SOURCE_CHECKS: dict[str, Callable[[Object, str], list[Problem]]] = {
    "hostPath": _host_path_problems,
    "nfs": _nfs_problems,
    "local": _local_problems,
    "csi": _csi_problems,
}


def volume_update_problems(new: Object, old: Object) -> list[Problem]:
    """Check a change of a volume: where it is and how it is used are fixed."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    found = volume_problems(spec)
    if any(spec.get(name) != before.get(name) for name in _SOURCES):
        text = "spec.persistentvolumesource is immutable after creation\n"
        found.append(forbidden("spec.persistentvolumesource", text + volume_source_diff(before, spec)))
    found += _mode_changed(spec, before)
    affinity, affinity_before = spec.get("nodeAffinity"), before.get("nodeAffinity")
    if affinity_before is not None and affinity != affinity_before:
        found.append(invalid("nodeAffinity", affinity, IMMUTABLE))
    return found
