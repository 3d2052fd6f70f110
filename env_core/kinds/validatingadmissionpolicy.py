"""Admission policies written as CEL expressions (which are not checked here)."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name, unsupported
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import count_of, default_match, parameter_text, rule_problems
from env_core.objects.problems import Problem, required
from env_core.world import Object


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    filled = spec if spec.get("failurePolicy") else {**spec, "failurePolicy": "Fail"}
    if spec.get("matchConstraints") is not None:
        filled = {**filled, "matchConstraints": default_match(spec["matchConstraints"])}
    return obj if filled == spec else {**obj, "spec": filled}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    found: list[Problem] = []
    policy = spec.get("failurePolicy")
    if policy is not None and policy not in ("Fail", "Ignore"):
        found.append(unsupported("spec.failurePolicy", policy, ("Fail", "Ignore")))
    match = spec.get("matchConstraints")
    if match is None:
        found.append(required("spec.matchConstraints"))
    else:
        rules = match.get("resourceRules") or []
        if not rules:
            found.append(required("spec.matchConstraints.resourceRules"))
        for index, rule in enumerate(rules):
            found += rule_problems(rule, f"spec.matchConstraints.resourceRules[{index}]")
    validations = spec.get("validations") or []
    if not validations and not spec.get("auditAnnotations"):
        text = "validations or auditAnnotations must contain at least one item"
        found += [required(f"spec.{field}", text) for field in ("validations", "auditAnnotations")]
    for index, each in enumerate(validations):
        if not (each.get("expression") or "").strip():
            found.append(required(f"spec.validations[{index}].expression", "expression is not specified"))
    return found


def _cell_parameter(obj: Object, _now_ms: int) -> str:
    return parameter_text((obj.get("spec") or {}).get("paramKind"), "apiVersion", "kind")


KIND = Kind(
    group="admissionregistration.k8s.io",
    version="v1",
    kind="ValidatingAdmissionPolicy",
    plural="validatingadmissionpolicies",
    singular="validatingadmissionpolicy",
    categories=("api-extensions",),
    is_namespaced=False,
    has_generation=True,
    default=_default,
    prepare_create=_prepare_create,
    prepare_update=kept_status,
    prepare_status=kept_spec,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(
        NAME,
        Column("Validations", count_of("spec.validations"), type="integer"),
        Column("ParamKind", _cell_parameter),
        AGE,
    ),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 ValidatingAdmissionPolicy, 1.37; tests/golden/l2",
    unrecorded="CEL is neither compiled nor type-checked",
)
