"""Resource claims: what a pod asks of devices, and what it was given."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._device_rules import claim_problems, default_claim_spec
from env_core.kinds._policy_rules import IMMUTABLE, kept_spec, kept_status, subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.objects.problems import Problem, invalid
from env_core.world import Object


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    filled = default_claim_spec(spec)
    return obj if filled is spec else {**obj, "spec": filled}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    return claim_problems(obj.get("spec") or {}, "spec")


def _validate_update(new: Object, old: Object) -> list[Problem]:
    spec = new.get("spec")
    return [] if spec == old.get("spec") else [invalid("spec", spec, IMMUTABLE)]


def _cell_state(obj: Object, _now_ms: int) -> str:
    """Return "pending", or "allocated" with ",reserved"; "deleted" in front of that while it goes.

    Source: k8s.io/kubernetes pkg/printers/internalversion resourceClaimState.
    """
    states = ["deleted"] if obj["metadata"].get("deletionTimestamp") else []
    status = obj.get("status") or {}
    if status.get("allocation") is None:
        states += [] if states else ["pending"]
    else:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    return ",".join(states)


KIND = Kind(
    group="resource.k8s.io",
    version="v1",
    kind="ResourceClaim",
    plural="resourceclaims",
    singular="resourceclaim",
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    validate_update=_validate_update,
    columns=(NAME, Column("State", _cell_state), AGE),
    describe=describe_unstructured,
    returns_deleted=True,
    source="k8s.io/api resource/v1 ResourceClaim, 1.37; pkg/apis/resource/validation; tests/golden/l2",
    unrecorded="validation texts; nothing is allocated; CEL expressions are not compiled",
)
