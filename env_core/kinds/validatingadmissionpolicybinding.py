"""What an admission policy applies to, and what follows when it says no."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import subdomain_name, unsupported
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import default_match, parameter_reference_text
from env_core.objects.problems import Problem, required
from env_core.world import Object

_ACTIONS = ("Audit", "Deny", "Warn")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    match = spec.get("matchResources")
    if match is None:
        return obj
    filled = default_match(match)
    return obj if filled == match else {**obj, "spec": {**spec, "matchResources": filled}}


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    actions = spec.get("validationActions") or []
    found = [] if spec.get("policyName") else [required("spec.policyName")]
    if not actions:
        found.append(required("spec.validationActions", "at least one validation action is required"))
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            found.append(unsupported(f"spec.validationActions[{index}]", action, _ACTIONS))
    return found


def _cell_policy(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("policyName") or "")


def _cell_parameter(obj: Object, _now_ms: int) -> str:
    return parameter_reference_text((obj.get("spec") or {}).get("paramRef"))


KIND = Kind(
    group="admissionregistration.k8s.io",
    version="v1",
    kind="ValidatingAdmissionPolicyBinding",
    plural="validatingadmissionpolicybindings",
    singular="validatingadmissionpolicybinding",
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
    source="k8s.io/api admissionregistration/v1 ValidatingAdmissionPolicyBinding, 1.37; tests/golden/l2",
)
