"""Defaults and validation that webhook configurations and admission policies share.

Source: k8s.io/kubernetes pkg/apis/admissionregistration; tests/golden/l2/defaults.jsonl.gz.
"""

from __future__ import annotations

from collections.abc import Callable

from env_core.apiserver.kind import Column
from env_core.kinds._policy_expressions import Expressions, condition_problems
from env_core.kinds._policy_rules import selector_problems, unsupported
from env_core.objects import names
from env_core.objects.problems import Problem, duplicate, invalid, required
from env_core.world import Object

TIMEOUT_SECONDS_MAX = 30
_DEFAULTS: Object = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_MATCH_DEFAULTS: Object = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT", "*")
_VERSIONS = ("v1", "v1beta1")


def default_webhooks(obj: Object, more: Object) -> Object:
    """Fill in the defaults of every webhook; `more` are those of the one kind only."""
    webhooks = obj.get("webhooks")
    if not webhooks:
        return obj
    filled = [_default_webhook(each, {**_DEFAULTS, **more}) for each in webhooks]
    return obj if filled == webhooks else {**obj, "webhooks": filled}


def _default_webhook(webhook: Object, defaults: Object) -> Object:
    filled = _filled(webhook, defaults)
    service = (webhook.get("clientConfig") or {}).get("service")
    if service is not None and service.get("port") is None:
        filled["clientConfig"] = {**webhook["clientConfig"], "service": {**service, "port": 443}}
    if webhook.get("rules"):
        filled["rules"] = [_filled(rule, {"scope": "*"}) for rule in webhook["rules"]]
    return filled


def _filled(obj: Object, defaults: Object) -> Object:
    return {**obj, **{field: value for field, value in defaults.items() if obj.get(field) is None}}


def default_match(match: Object) -> Object:
    """Fill in the defaults of an admission policy's `matchConstraints` or `matchResources`."""
    filled = _filled(match, _MATCH_DEFAULTS)
    for field in ("resourceRules", "excludeResourceRules"):
        if match.get(field):
            filled[field] = [_filled(rule, {"scope": "*"}) for rule in match[field]]
    return filled


def webhooks_problems(obj: Object) -> list[Problem]:
    """Check the webhooks of a new configuration."""
    return _webhooks_problems(obj, frozenset(), has_conditions=True)


def webhooks_update_problems(new: Object, old: Object) -> list[Problem]:
    """Check the webhooks of a changed configuration; match conditions only if they have changed."""
    before, after = (
        [webhook.get("matchConditions") for webhook in obj.get("webhooks") or ()] for obj in (old, new)
    )
    stored = frozenset(each["expression"] for conditions in before for each in conditions or ())
    return _webhooks_problems(new, stored, has_conditions=before != after)


def _webhooks_problems(obj: Object, stored: frozenset[str], *, has_conditions: bool) -> list[Problem]:
    found: list[Problem] = []
    for index, webhook in enumerate(obj.get("webhooks") or ()):
        found += _webhook_problems(webhook, f"webhooks[{index}]")
        conditions = webhook.get("matchConditions")
        if conditions and has_conditions:
            rules = Expressions(has_params=False, stored=stored)
            found += condition_problems(conditions, rules, f"webhooks[{index}].matchConditions")
    return found


def _webhook_problems(webhook: Object, field: str) -> list[Problem]:
    found = _name_problems(webhook.get("name", ""), f"{field}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        found += rule_problems(rule, f"{field}.rules[{index}]")
    for key, options in (("failurePolicy", ("Ignore", "Fail")), ("matchPolicy", ("Exact", "Equivalent"))):
        value = webhook.get(key)
        if value is not None and value not in options:
            found.append(unsupported(f"{field}.{key}", value, sorted(options)))
    effects = webhook.get("sideEffects")
    if effects is None:
        found.append(required(f"{field}.sideEffects", "must specify one of None, NoneOnDryRun"))
    elif effects not in ("None", "NoneOnDryRun"):
        found.append(unsupported(f"{field}.sideEffects", effects, ("None", "NoneOnDryRun")))
    timeout = webhook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= TIMEOUT_SECONDS_MAX:
        text = f"the timeout value must be between 1 and {TIMEOUT_SECONDS_MAX} seconds"
        found.append(invalid(f"{field}.timeoutSeconds", timeout, text))
    for key in ("namespaceSelector", "objectSelector"):
        found += selector_problems(webhook.get(key), f"{field}.{key}")
    client = webhook.get("clientConfig") or {}
    if (client.get("url") is None) == (client.get("service") is None):
        found.append(required(f"{field}.clientConfig", "exactly one of url or service is required"))
    if not webhook.get("admissionReviewVersions"):
        found.append(
            required(f"{field}.admissionReviewVersions", f"must specify one of {', '.join(_VERSIONS)}")
        )
    return found


def _name_problems(name: str, field: str) -> list[Problem]:
    if not name:
        return [required(field)]
    complaints = names.is_dns1123_subdomain(name)
    if complaints:
        return [invalid(field, name, ",".join(complaints))]
    if name.count(".") < 2:
        return [invalid(field, name, "should be a domain with at least three segments separated by dots")]
    return []


def match_problems(match: Object, field: str) -> list[Problem]:
    """Check an admission policy's `matchConstraints` or `matchResources`."""
    found: list[Problem] = []
    for key in ("namespaceSelector", "objectSelector"):
        found += selector_problems(match.get(key), f"{field}.{key}")
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(key) or ()):
            found += _names_problems(rule.get("resourceNames") or [], f"{field}.{key}[{index}].resourceNames")
            found += rule_problems(rule, f"{field}.{key}[{index}]")
    return found


def param_kind_problems(param_kind: Object, field: str) -> list[Problem]:
    """Check what kind of object holds a policy's parameters."""
    found: list[Problem] = []
    api_version, kind = param_kind.get("apiVersion") or "", param_kind.get("kind") or ""
    if not api_version:
        found.append(required(f"{field}.apiVersion"))
    elif api_version.count("/") > 1:
        found.append(
            invalid(f"{field}.apiVersion", api_version, f"unexpected GroupVersion string: {api_version}")
        )
    else:
        found += _version_problems(api_version, f"{field}.apiVersion")
    if not kind:
        found.append(required(f"{field}.kind"))
    else:
        complaints = names.is_dns1035_label(kind.lower())
        if complaints:
            text = "may have mixed case, but should otherwise match: " + ",".join(complaints)
            found.append(invalid(f"{field}.kind", kind, text))
    return found


def _version_problems(api_version: str, field: str) -> list[Problem]:
    group, _, version = ("", "", "") if api_version == "/" else api_version.rpartition("/")
    found: list[Problem] = []
    if group:
        complaints = names.is_dns1123_subdomain(group)
        found += [invalid(field, group, ",".join(complaints))] if complaints else []
    if not version:
        return [*found, invalid(field, api_version, "version must be specified")]
    complaints = names.is_dns1035_label(version)
    return [*found, invalid(field, version, ",".join(complaints))] if complaints else found


def _names_problems(resource_names: list[str], field: str) -> list[Problem]:
    found: list[Problem] = []
    for index, name in enumerate(resource_names):
        found += [invalid(f"{field}[{index}]", name, text) for text in names.is_path_segment_name(name)]
        if name in resource_names[:index]:
            found.append(duplicate(f"{field}[{index}]", name))
    return found


def rule_problems(rule: Object, field: str) -> list[Problem]:
    """Check one rule of what to intercept."""
    found = [
        required(f"{field}.{key}") for key in ("apiGroups", "apiVersions", "resources") if not rule.get(key)
    ]
    operations = rule.get("operations") or []
    if not operations:
        found.append(required(f"{field}.operations"))
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            found.append(unsupported(f"{field}.operations[{index}]", operation, sorted(_OPERATIONS)))
    return found


def count_of(field: str) -> Callable[[Object, int], int]:
    """Return a cell that counts the entries of a list ("spec.validations")."""
    path = field.split(".")

    def cell(obj: Object, _now_ms: int) -> int:
        value = obj
        for part in path:
            value = value.get(part) or {}
        return len(value)

    return cell


def parameter_text(reference: Object | None, *fields: str) -> str:
    """Return "group/kind" of a parameter, `<unset>` without one."""
    if reference is None:
        return "<unset>"
    return "/".join(str(reference.get(field) or "") for field in fields)


def parameter_reference_text(reference: Object | None) -> str:
    """Return "namespace/name" of the parameter that a binding refers to, `*` for any namespace, or its selector.

    Source: k8s.io/kubernetes pkg/printers/internalversion printValidatingAdmissionPolicyBinding.
    """
    if reference is None:
        return "<unset>"
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return "<unset>" if selector is None else _selector_struct_text(selector)


def _selector_struct_text(selector: Object) -> str:
    """Return a LabelSelector as its Go String method prints it."""
    labels = selector.get("matchLabels") or {}
    pairs = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{pairs}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def default_binding(obj: Object) -> Object:
    """Fill in what a binding of an admission policy leaves open."""
    spec = obj.get("spec") or {}
    match = spec.get("matchResources")
    if match is None:
        return obj
    filled = default_match(match)
    return obj if filled == match else {**obj, "spec": {**spec, "matchResources": filled}}


def _cell_policy(obj: Object, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("policyName") or "")


def _cell_parameter(obj: Object, _now_ms: int) -> str:
    return parameter_reference_text((obj.get("spec") or {}).get("paramRef"))


BINDING_COLUMNS = (Column("PolicyName", _cell_policy), Column("ParamRef", _cell_parameter))
"""What a table shows of a binding of an admission policy, between name and age."""
