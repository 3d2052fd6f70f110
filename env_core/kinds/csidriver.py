"""CSI drivers."""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._storage_text import UNSET
from env_core.kinds._storage_validation import driver_name_problems
from env_core.objects.problems import Problem
from env_core.world import Object

_DEFAULTS: Object = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "volumeLifecycleModes": ["Persistent"],
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
    "preventPodSchedulingIfMissing": False,
}


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    missing = {field: value for field, value in _DEFAULTS.items() if spec.get(field) is None}
    return {**obj, "spec": {**spec, **missing}} if missing else obj


def _validate(obj: Object) -> list[Problem]:
    return driver_name_problems(obj["metadata"].get("name", ""), "metadata.name")


def _flag(field: str) -> Callable[[Object, int], bool]:
    def cell(obj: Object, _now_ms: int) -> bool:
        value = (obj.get("spec") or {}).get(field)
        return bool(_DEFAULTS[field] if value is None else value)

    return cell


def _cell_tokens(obj: Object, _now_ms: int) -> str:
    requests = (obj.get("spec") or {}).get("tokenRequests")
    return UNSET if requests is None else ",".join(each.get("audience", "") for each in requests)


def _cell_modes(obj: Object, _now_ms: int) -> str:
    return ",".join((obj.get("spec") or {}).get("volumeLifecycleModes") or ()) or "<none>"


KIND = Kind(
    group="storage.k8s.io",
    version="v1",
    kind="CSIDriver",
    plural="csidrivers",
    singular="csidriver",
    is_namespaced=False,
    subresources=(),
    has_status=False,
    default=_default,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(
        NAME,
        Column("AttachRequired", _flag("attachRequired"), type="boolean"),
        Column("PodInfoOnMount", _flag("podInfoOnMount"), type="boolean"),
        Column("StorageCapacity", _flag("storageCapacity"), type="boolean"),
        Column("TokenRequests", _cell_tokens),
        Column("RequiresRepublish", _flag("requiresRepublish"), type="boolean"),
        Column("Modes", _cell_modes),
        AGE,
    ),
    describe=describe_unstructured,
    returns_deleted=True,
    source="k8s.io/api storage/v1 CSIDriver, 1.37; tests/golden/l2",
)
