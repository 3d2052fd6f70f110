"""What an admission policy applies to, and what follows when it says no."""

from __future__ import annotations

from env_core.apiserver.kind import Kind
from env_core.kinds._columns_workload import AGE, NAME
from env_core.kinds._policy_rules import selector_problems, subdomain_name, unsupported
from env_core.kinds._policy_unstructured import describe_unstructured
from env_core.kinds._policy_webhooks import BINDING_COLUMNS, default_binding, match_problems
from env_core.objects import names
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, required
from env_core.world import Object

_ACTIONS = ("Audit", "Deny", "Warn")


def _validate(obj: Object) -> list[Problem]:
    spec = obj.get("spec") or {}
    policy = spec.get("policyName")
    if policy:
        found = [invalid("spec.policyName", policy, text) for text in names.is_dns1123_subdomain(policy)]
    else:
        found = [required("spec.policyName")]
    if spec.get("paramRef") is not None:
        found += _reference_problems(spec["paramRef"], "spec.paramRef")
    # Upstream misspells the field.
    found += match_problems(spec.get("matchResources") or {}, "spec.matchResouces")
    return found + _action_problems(spec.get("validationActions") or [], "spec.validationActions")


def _reference_problems(reference: Object, field: str) -> list[Problem]:
    name, selector = reference.get("name") or "", reference.get("selector")
    exclusive = "name and selector are mutually exclusive"
    found = (
        [invalid(f"{field}.name", name, text) for text in names.is_path_segment_name(name)] if name else []
    )
    if name and selector is not None:
        found.append(forbidden(f"{field}.name", exclusive))
    found += selector_problems(selector, f"{field}.selector")
    if name and selector is not None:
        found.append(forbidden(f"{field}.selector", exclusive))
    if not name and selector is None:
        found.append(required(field, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        found.append(required(f"{field}.parameterNotFoundAction"))
    elif action not in ("Deny", "Allow"):
        found.append(unsupported(f"{field}.parameterNotFoundAction", action, ("Deny", "Allow")))
    return found


def _action_problems(actions: list[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            found.append(unsupported(f"{field}[{index}]", action, _ACTIONS))
        if action in actions[:index]:
            found.append(duplicate(f"{field}[{index}]", action))
    if "Deny" in actions and "Warn" in actions:
        text = (
            "must not contain both Deny and Warn (repeating the same validation failure information "
            "in the API response and headers serves no purpose)"
        )
        found.append(invalid(field, actions, text))
    if not actions:
        found.append(required(field, "at least one validation action is required"))
    return found


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
    default=default_binding,
    validate_name=subdomain_name,
    validate=_validate,
    columns=(NAME, *BINDING_COLUMNS, AGE),
    describe=describe_unstructured,
    source="k8s.io/api admissionregistration/v1 ValidatingAdmissionPolicyBinding, 1.37; tests/golden/l2",
)
