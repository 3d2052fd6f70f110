"""Bindings of mutating admission policies to parameters and resources."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import default_match, parameter_reference_text
from env_core.objects.problems import Problem, required
from env_core.world import Object


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    match = spec.get("matchResources")
    if match is None:
        return obj
    filled = default_match(match)
    return obj if filled == match else {**obj, "spec": {**spec, "matchResources": filled}}


def _validate(obj: Object) -> list[Problem]:
    return [] if (obj.get("spec") or {}).get("policyName") else [required("spec.policyName")]


def _cell_policy(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("policyName") or "")


def _cell_parameter(obj: Object, _now_ms: int) -> str:
    return parameter_reference_text((obj.get("spec") or {}).get("paramRef"))


KIND = Kind(
    group="admissionregistration.k8s.io",
    version="v1",
    kind="MutatingAdmissionPolicyBinding",
    plural="mutatingadmissionpolicybindings",
    singular="mutatingadmissionpolicybinding",
    categories=("api-extensions",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(NAME, Column("PolicyName", _cell_policy), Column("ParamRef", _cell_parameter), AGE),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 MutatingAdmissionPolicyBinding, 1.37; tests/golden/l2/facts",
    unrecorded="objects of this kind and their texts",
)
