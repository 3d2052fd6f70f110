"""CSI storage capacities: how much a driver says it can still make in a part of the cluster."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._columns_workload import NAME
from env_core.kinds._policy_rules import (
    IMMUTABLE,
    NOT_NEGATIVE,
    selector_problems,
    subdomain_name,
)
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._rbac_text import CREATED
from env_core.kinds._storage_warnings import capacity_warnings
from env_core.objects import names, quantity
from env_core.objects.problems import Problem, invalid
from env_core.world import Object

_IMMUTABLE_FIELDS = ("nodeTopology", "storageClassName")


def _validate(obj: Object) -> list[Problem]:
    """Check a capacity.

    Source: k8s.io/kubernetes pkg/apis/storage/validation ValidateCSIStorageCapacity.
    """
    found = selector_problems(obj.get("nodeTopology"), "nodeTopology")
    name = obj.get("storageClassName") or ""
    found += [invalid("storageClassName", name, text) for text in names.is_dns1123_subdomain(name)]
    capacity = obj.get("capacity")
    if capacity is not None and quantity.from_value(capacity).sign() < 0:
        found.append(invalid("capacity", quantity.canonical(capacity), NOT_NEGATIVE))
    return found


def _validate_update(new: Object, old: Object) -> list[Problem]:
    return [
        invalid(field, new.get(field), IMMUTABLE)
        for field in _IMMUTABLE_FIELDS
        if new.get(field) != old.get(field)
    ]


KIND = Kind(
    group="storage.k8s.io",
    version="v1",
    kind="CSIStorageCapacity",
    plural="csistoragecapacities",
    singular="csistoragecapacity",
    subresources=(),
    has_status=False,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    warnings=capacity_warnings,
    columns=(NAME, CREATED),
    describe=describe_unstructured,
    source="k8s.io/api storage/v1 CSIStorageCapacity, 1.37; tests/golden/l2/facts",
    unrecorded="validation texts",
)
