"""Leases."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import NOT_NEGATIVE
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem, invalid
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    found: list[Problem] = []
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        found.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        found.append(invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE))
    return found


def _cell_holder(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("holderIdentity") or "")


KIND = Kind(
    group="coordination.k8s.io",
    version="v1",
    kind="Lease",
    plural="leases",
    singular="lease",
    subresources=(),
    has_status=False,
    validate=_validate,
    columns=(NAME, Column("Holder", _cell_holder), AGE),
    describe=describe_unstructured,
    creates_on_update=True,
    source="k8s.io/api coordination/v1 Lease, 1.37; tests/golden/l0",
)
