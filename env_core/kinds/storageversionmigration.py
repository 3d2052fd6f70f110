"""Storage version migrations: requests to write a resource's objects anew."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._policy_rules import IMMUTABLE, kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem, invalid, required
from env_core.world import Object


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _resource(obj: Object) -> Object:
    found: Object = (obj.get("spec") or {}).get("resource") or {}
    return found


def _validate(obj: Object) -> list[Problem]:
    """Check a migration.

    Source: k8s.io/kubernetes pkg/apis/storagemigration/validation.
    """
    if _resource(obj).get("resource"):
        return []
    return [required("spec.resource.resource", "resource is required")]


def _validate_update(new: Object, old: Object) -> list[Problem]:
    before, after = _resource(old), _resource(new)
    return _validate(new) + [
        invalid(field, after.get(field) or "", IMMUTABLE)
        for field in ("group", "resource")
        if (after.get(field) or "") != (before.get(field) or "")
    ]


def _cell_name(obj: Object, _now_ms: int) -> str:
    return str(obj["metadata"]["name"])


def _cell_resource(obj: Object, _now_ms: int) -> str:
    resource = _resource(obj)
    group = resource.get("group") or ""
    return f"{resource.get('resource', '')}.{group}" if group else str(resource.get("resource") or "")


def _cell_status(obj: Object, _now_ms: int) -> str:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((str(each.get("type")) for each in conditions if each.get("status") == "True"), "")


KIND = Kind(
    group="storagemigration.k8s.io",
    version="v1",
    kind="StorageVersionMigration",
    plural="storageversionmigrations",
    singular="storageversionmigration",
    is_namespaced=False,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=(
        Column("Name", _cell_name),
        Column("Resource", _cell_resource),
        Column("Status", _cell_status),
    ),
    describe=describe_unstructured,
    source="k8s.io/api storagemigration/v1 StorageVersionMigration, 1.37; tests/golden/l2/facts",
    unrecorded="objects of this kind, their cells and texts; nothing is migrated",
)
