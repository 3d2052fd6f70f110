"""Admission policies written as CEL expressions."""

from __future__ import annotations

from env_core.apiserver.kind import Column, Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_expressions import (
    Expressions,
    annotation_problems,
    condition_problems,
    validation_problems,
    variable_problems,
)
from env_core.kinds._policy_rules import kept_spec, kept_status, subdomain_name, unsupported
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import (
    count_of,
    default_match,
    match_problems,
    param_kind_problems,
    parameter_text,
)
from env_core.objects.problems import Problem, required
from env_core.world import Object

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")


def _default(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    filled = spec if spec.get("failurePolicy") else {**spec, "failurePolicy": "Fail"}
    if spec.get("matchConstraints") is not None:
        filled = {**filled, "matchConstraints": default_match(spec["matchConstraints"])}
    return obj if filled == spec else {**obj, "spec": filled}


def _prepare_create(obj: Object) -> Object:
    return {**obj, "status": {}}


def _validate(obj: Object) -> list[Problem]:
    return _problems(obj, frozenset(), has_conditions=True)


def _validate_update(new: Object, old: Object) -> list[Problem]:
    """Check what has changed: expressions that are stored already are under the rules of then."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    stored = [each.get("expression") for each in before.get("matchConditions") or ()]
    for each in before.get("validations") or ():
        stored += [each.get("expression"), each.get("messageExpression")]
    stored += [each.get("valueExpression") for each in before.get("auditAnnotations") or ()]
    changed = any(before.get(field) != after.get(field) for field in ("paramKind", "matchConditions"))
    return _problems(new, frozenset(text for text in stored if text), has_conditions=changed)


def _problems(obj: Object, stored: frozenset[str], *, has_conditions: bool) -> list[Problem]:
    spec = obj.get("spec") or {}
    found: list[Problem] = []
    policy = spec.get("failurePolicy")
    if policy is not None and policy not in ("Fail", "Ignore"):
        found.append(unsupported("spec.failurePolicy", policy, ("Fail", "Ignore")))
    param_kind = spec.get("paramKind")
    if param_kind is not None:
        found += param_kind_problems(param_kind, "spec.paramKind")
    match = spec.get("matchConstraints")
    if match is None:
        found.append(required("spec.matchConstraints"))
    else:
        if not match.get("resourceRules"):
            found.append(required("spec.matchConstraints.resourceRules"))
        found += match_problems(match, "spec.matchConstraints")
    variables = spec.get("variables") or []
    expressions = Expressions(param_kind is not None, stored, has_variables=bool(variables))
    if has_conditions:
        found += condition_problems(spec.get("matchConditions") or (), expressions, "spec.matchConditions")
    found += variable_problems(variables, expressions, "spec.variables")
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        text = "validations or auditAnnotations must contain at least one item"
        found += [required(f"spec.{field}", text) for field in ("validations", "auditAnnotations")]
    for index, each in enumerate(validations):
        found += validation_problems(each, expressions, f"spec.validations[{index}]")
        reason = each.get("reason")
        if reason is not None and reason not in _REASONS:
            found.append(unsupported(f"spec.validations[{index}].reason", reason, _REASONS))
    name = obj["metadata"].get("name") or ""
    return found + annotation_problems(annotations, expressions, name, "spec.auditAnnotations")


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
    validate_update=_validate_update,
    columns=(
        NAME,
        Column("Validations", count_of("spec.validations"), type="integer"),
        Column("ParamKind", _cell_parameter),
        AGE,
    ),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 ValidatingAdmissionPolicy, 1.37; tests/golden/l2",
)
