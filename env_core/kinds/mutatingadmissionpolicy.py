"""Admission policies that change objects by CEL expressions."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.apiserver.policies.expressions import APPLY_CONFIGURATION, JSON_PATCH
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_expressions import (
    Expressions,
    condition_problems,
    mutation_problems,
    variable_problems,
)
from env_core.kinds._policy_rules import subdomain_name, unsupported
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import count_of, default_match, parameter_text, rule_problems
from env_core.objects.problems import Problem, required
from env_core.world import Object

_PATCH_TYPES = ("ApplyConfiguration", "JSONPatch")
_REINVOCATIONS = ("IfNeeded", "Never")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    filled = spec if spec.get("failurePolicy") else {**spec, "failurePolicy": "Fail"}
    if spec.get("matchConstraints") is not None:
        filled = {**filled, "matchConstraints": default_match(spec["matchConstraints"])}
    return obj if filled == spec else {**obj, "spec": filled}


def _validate(obj: Object) -> list[Problem]:
    """Check a policy and its expressions.

    Source: k8s.io/api admissionregistration/v1 MutatingAdmissionPolicy; the rules it shares are those of
    ValidatingAdmissionPolicy, pkg/apis/admissionregistration/validation.
    """
    spec = obj.get("spec") or {}
    found: list[Problem] = []
    policy = spec.get("failurePolicy")
    if policy not in ("Fail", "Ignore"):
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
    variables = spec.get("variables") or ()
    expressions = Expressions(spec.get("paramKind") is not None, has_variables=bool(variables))
    found += variable_problems(variables, expressions, "spec.variables")
    found += condition_problems(spec.get("matchConditions") or (), expressions, "spec.matchConditions")
    mutations = spec.get("mutations") or []
    if not mutations:
        found.append(required("spec.mutations", "mutations must contain at least one item"))
    for index, mutation in enumerate(mutations):
        found += _mutation_problems(mutation, expressions, f"spec.mutations[{index}]")
    reinvocation = spec.get("reinvocationPolicy") or ""
    if not reinvocation:
        found.append(required("spec.reinvocationPolicy"))
    elif reinvocation not in _REINVOCATIONS:
        found.append(unsupported("spec.reinvocationPolicy", reinvocation, _REINVOCATIONS))
    return found


def _mutation_problems(mutation: Object, expressions: Expressions, field: str) -> list[Problem]:
    kind = mutation.get("patchType") or ""
    if not kind:
        return [required(f"{field}.patchType")]
    if kind not in _PATCH_TYPES:
        return [unsupported(f"{field}.patchType", kind, _PATCH_TYPES)]
    own = "applyConfiguration" if kind == "ApplyConfiguration" else "jsonPatch"
    if mutation.get(own) is None:
        return [required(f"{field}.{own}", f"must be specified when patchType is {kind}")]
    if not (mutation[own].get("expression") or "").strip():
        return [required(f"{field}.{own}.expression", "expression is not specified")]
    wanted = APPLY_CONFIGURATION if kind == "ApplyConfiguration" else JSON_PATCH
    return mutation_problems(mutation[own]["expression"], expressions, f"{field}.{own}.expression", wanted)


def _cell_parameter(obj: Object, _now_ms: int) -> str:
    return parameter_text((obj.get("spec") or {}).get("paramKind"), "apiVersion", "kind")


KIND = Kind(
    group="admissionregistration.k8s.io",
    version="v1",
    kind="MutatingAdmissionPolicy",
    plural="mutatingadmissionpolicies",
    singular="mutatingadmissionpolicy",
    categories=("api-extensions",),
    is_namespaced=False,
    subresources=(),
    has_status=False,
    has_generation=True,
    default=_default,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(
        NAME,
        Column("Mutations", count_of("spec.mutations"), type="integer"),
        Column("ParamKind", _cell_parameter),
        AGE,
    ),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 MutatingAdmissionPolicy, 1.37; pkg/printers; tests/golden/l2/facts",
    unrecorded="objects of this kind, their texts, and the texts of what their mutations fail of",
)
