"""Volume attachments."""

from __future__ import annotations

import orjson

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import IMMUTABLE, kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._storage_validation import driver_name_problems
from env_core.objects.problems import INVALID, Problem, required
from env_core.world import Object


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {"attached": False}}


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    source = spec.get("source") or {}
    found = driver_name_problems(spec.get("attacher", ""), "spec.attacher")
    if source.get("inlineVolumeSpec") is None and not source.get("persistentVolumeName"):
        found.append(
            required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
        )
    if not spec.get("nodeName"):
        found.append(required("spec.nodeName"))
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    found = _validate(new)
    if new.get("spec") != old.get("spec"):
        found.append(Problem(INVALID, "spec", orjson.dumps(new.get("spec")).decode(), IMMUTABLE))
    return found


def _cell_attacher(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("attacher") or "")


def _cell_volume(obj: Object, _now_ms: int) -> str:
    return str(((obj.get("spec") or {}).get("source") or {}).get("persistentVolumeName") or "")


def _cell_node(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("nodeName") or "")


def _cell_attached(obj: Object, _now_ms: int) -> bool:
    return bool((obj.get("status") or {}).get("attached"))


KIND = Kind(
    group="storage.k8s.io",
    version="v1",
    kind="VolumeAttachment",
    plural="volumeattachments",
    singular="volumeattachment",
    is_namespaced=False,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=(
        NAME,
        Column("Attacher", _cell_attacher, format="name"),
        Column("PV", _cell_volume),
        Column("Node", _cell_node),
        Column("Attached", _cell_attached, type="boolean"),
        AGE,
    ),
    describe=describe_unstructured,
    returns_deleted=True,
    source="k8s.io/api storage/v1 VolumeAttachment, 1.37; tests/golden/l2/facts",
    unrecorded="validation texts",
)
