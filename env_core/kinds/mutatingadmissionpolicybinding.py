"""Bindings of mutating admission policies to parameters and resources."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import subdomain_name
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import BINDING_COLUMNS, default_binding
from env_core.objects.problems import Problem, required
from env_core.world import Object


def _validate(obj: Object) -> list[Problem]:
    return [] if (obj.get("spec") or {}).get("policyName") else [required("spec.policyName")]


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
    default=default_binding,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(NAME, *BINDING_COLUMNS, AGE),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 MutatingAdmissionPolicyBinding, 1.37; tests/golden/l2/facts",
    unrecorded="objects of this kind and their texts",
)
