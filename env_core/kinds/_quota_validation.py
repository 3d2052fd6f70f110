"""Validation of resource quotas and limit ranges.

Source: k8s.io/kubernetes pkg/apis/core/validation; maps are gone through in the order of their keys.
"""

from __future__ import annotations

from env_core.kinds._policy_rules import IMMUTABLE, is_extended_resource, quantity_problems
from env_core.objects import names, quantity
from env_core.objects.problems import Problem, duplicate, forbidden, invalid, required
from env_core.world import Object

_COMPUTE = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_STANDARD_QUOTA = _COMPUTE | {
    "ephemeral-storage",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
}
_STANDARD = _STANDARD_QUOTA | {"storage"}
_CONTAINER = frozenset({"cpu", "memory", "ephemeral-storage"})
_POD_COUNTS = frozenset({"pods", "count/pods"})
_CLAIM_COUNTS = frozenset({"persistentvolumeclaims", "count/persistentvolumeclaims", "requests.storage"})
_POD_SCOPES = ("Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
_SCOPES = frozenset({*_POD_SCOPES, "BestEffort", "VolumeAttributesClass"})
_EXISTS_ONLY = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_CONFLICTS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_LIMIT_TYPES = frozenset({"Pod", "Container", "PersistentVolumeClaim"})
_NO_OVERCOMMIT_PREFIX = "hugepages-"


def _is_huge_page(name: str, *, in_quota: bool) -> bool:
    return name.startswith(("hugepages-", "requests.hugepages-") if in_quota else "hugepages-")


def _is_standard_quota(name: str) -> bool:
    return name in _STANDARD_QUOTA or _is_huge_page(name, in_quota=True)


def _resource_problems(name: str, field: str) -> list[Problem]:
    found = [invalid(field, name, text) for text in names.is_qualified_name(name)]
    if not found and "/" not in name and name not in _STANDARD and not _is_huge_page(name, in_quota=True):
        return [invalid(field, name, "must be a standard resource type or fully qualified")]
    return found


def _container_resource_problems(name: str, field: str) -> list[Problem]:
    found = _resource_problems(name, field)
    if "/" not in name:
        if name not in _CONTAINER and not _is_huge_page(name, in_quota=False):
            found.append(invalid(field, name, "must be a standard resource for containers"))
    elif "kubernetes.io/" not in name and not is_extended_resource(name):
        found.append(invalid(field, name, "doesn't follow extended resource name standard"))
    return found


def _quota_resource_problems(name: str, field: str) -> list[Problem]:
    found = _resource_problems(name, field)
    if "/" not in name and not _is_standard_quota(name):
        found.append(invalid(field, name, "must be a standard resource for quota"))
    return found


def quota_amounts_problems(amounts: Object, field: str) -> list[Problem]:
    """Check the names and amounts of `hard` or `used`."""
    found: list[Problem] = []
    for name in sorted(amounts):
        found += _quota_resource_problems(name, f"{field}[{name}]")
        found += quantity_problems(name, amounts[name], f"{field}[{name}]")
    return found


def quota_problems(spec: Object) -> list[Problem]:
    """Check the spec of a resource quota."""
    hard = spec.get("hard") or {}
    found = quota_amounts_problems(hard, "spec.hard")
    found += _scopes_problems(spec, sorted(hard))
    found += _scope_selector_problems(spec, sorted(hard))
    # The server's error list names a problem once.
    return list(dict.fromkeys(found))


def quota_update_problems(new: Object, old: Object) -> list[Problem]:
    """Check that the scopes of a quota stay."""
    scopes = new.get("scopes") or []
    if set(scopes) == set(old.get("scopes") or ()):
        return []
    return [invalid("spec.scopes", scopes, IMMUTABLE)]


def _scopes_problems(spec: Object, hard: list[str]) -> list[Problem]:
    scopes, field = spec.get("scopes") or [], "spec.scopes"
    found: list[Problem] = []
    for scope in scopes:
        if scope not in _SCOPES:
            found.append(invalid(field, scopes, "unsupported scope"))
        if any(_is_standard_quota(name) and not _fits_scope(scope, name) for name in hard):
            found.append(invalid(field, scopes, "unsupported scope applied to resource"))
    if any(first in scopes and second in scopes for first, second in _CONFLICTS):
        found.append(invalid(field, scopes, "conflicting scopes"))
    return found


def _fits_scope(scope: str, resource: str) -> bool:
    if scope == "BestEffort":
        return resource in _POD_COUNTS
    if scope in _POD_SCOPES:
        return resource in _POD_COUNTS or resource in _COMPUTE
    return scope != "VolumeAttributesClass" or resource in _CLAIM_COUNTS


def _scope_selector_problems(spec: Object, hard: list[str]) -> list[Problem]:
    selector = spec.get("scopeSelector")
    if not selector:
        return []
    field = "spec.scopeSelector.matchExpressions"
    scopes = [each.get("scopeName", "") for each in selector.get("matchExpressions") or ()]
    found: list[Problem] = []
    for expression in selector.get("matchExpressions") or ():
        scope = expression.get("scopeName", "")
        if scope not in _SCOPES:
            found.append(invalid(f"{field}.scopeName", scope, "unsupported scope"))
        if any(_is_standard_quota(name) and not _fits_scope(scope, name) for name in hard):
            found.append(invalid(field, selector, "unsupported scope applied to resource"))
        found += _scope_operator_problems(expression, field)
    if any(first in scopes and second in scopes for first, second in _CONFLICTS):
        found.append(invalid(field, selector, "conflicting scopes"))
    return found


def _scope_operator_problems(expression: Object, field: str) -> list[Problem]:
    scope, operator = expression.get("scopeName", ""), expression.get("operator", "")
    values = expression.get("values") or []
    found: list[Problem] = []
    if scope in _EXISTS_ONLY and operator != "Exists":
        text = (
            "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
            "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
        )
        found.append(invalid(f"{field}.operator", operator, text))
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            found.append(required(f"{field}.values", text))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            found.append(invalid(f"{field}.values", values, text))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    return found


def limits_problems(limits: list[Object]) -> list[Problem]:
    """Check the limits of a limit range."""
    found: list[Problem] = []
    seen: list[str] = []
    for index, limit in enumerate(limits):
        field, kind = f"spec.limits[{index}]", limit.get("type", "")
        found += _limit_type_problems(kind, f"{field}.type")
        if kind in seen:
            found.append(duplicate(f"{field}.type", kind))
        seen.append(kind)
        found += _limit_names_problems(limit, kind, field)
        amounts = {
            key: {name: quantity.parse(str(value)) for name, value in (limit.get(key) or {}).items()}
            for key in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
        }
        if kind == "Pod":
            amounts["default"] = amounts["defaultRequest"] = {}
        for name in sorted({name for each in amounts.values() for name in each}):
            found += _limit_amounts_problems(
                name, {key: each.get(name) for key, each in amounts.items()}, field
            )
    return found


def _limit_type_problems(kind: str, field: str) -> list[Problem]:
    found = [invalid(field, kind, text) for text in names.is_qualified_name(kind)]
    if not found and "/" not in kind and kind not in _LIMIT_TYPES:
        return [invalid(field, kind, "must be a standard limit type or fully qualified")]
    return found


def _limit_names_problems(limit: Object, kind: str, field: str) -> list[Problem]:
    check = _container_resource_problems if kind in ("Pod", "Container") else _resource_problems
    found: list[Problem] = []
    for key in ("max", "min"):
        found += [
            each for name in sorted(limit.get(key) or ()) for each in check(name, f"{field}.{key}[{name}]")
        ]
    for key in ("default", "defaultRequest"):
        if kind == "Pod":
            if limit.get(key):
                found.append(forbidden(f"{field}.{key}", "may not be specified when `type` is 'Pod'"))
        else:
            found += [
                each
                for name in sorted(limit.get(key) or ())
                for each in check(name, f"{field}.{key}[{name}]")
            ]
    if kind == "PersistentVolumeClaim" and not any(
        "storage" in (limit.get(key) or {}) for key in ("min", "max")
    ):
        text = "either minimum or maximum storage value is required, but neither was provided"
        found.append(required(f"{field}.limits", text))
    key = "maxLimitRequestRatio"
    found += [each for name in sorted(limit.get(key) or ()) for each in check(name, f"{field}.{key}[{name}]")]
    return found


_Amounts = dict[str, quantity.Quantity | None]


def _limit_amounts_problems(name: str, amounts: _Amounts, field: str) -> list[Problem]:
    low, high, default, request = (amounts[key] for key in ("min", "max", "default", "defaultRequest"))
    found: list[Problem] = []

    def check(is_wrong: bool, key: str, shown: quantity.Quantity | None, text: str) -> None:
        if is_wrong:
            found.append(invalid(f"{field}.{key}[{name}]", str(shown), text))

    if low and high:
        check(low > high, "min", low, f"min value {low} is greater than max value {high}")
    if request and low:
        text = f"min value {low} is greater than default request value {request}"
        check(low > request, "defaultRequest", request, text)
    if request and high:
        text = f"default request value {request} is greater than max value {high}"
        check(request > high, "defaultRequest", request, text)
    if request and default:
        text = f"default request value {request} is greater than default limit value {default}"
        check(request > default, "defaultRequest", request, text)
    if default and low:
        check(low > default, "default", low, f"min value {low} is greater than default value {default}")
    if default and high:
        check(default > high, "default", high, f"default value {default} is greater than max value {high}")
    found += _ratio_problems(
        amounts["maxLimitRequestRatio"], low, high, f"{field}.maxLimitRequestRatio[{name}]"
    )
    if default and request and not _may_overcommit(name):
        text = f"default value {default} must equal to defaultRequest value {request} in {name}"
        check(not default.equals(request), "defaultRequest", request, text)
    return found


def _may_overcommit(name: str) -> bool:
    return ("/" not in name or "kubernetes.io/" in name) and not name.startswith(_NO_OVERCOMMIT_PREFIX)


def _ratio_problems(
    ratio: quantity.Quantity | None, low: quantity.Quantity | None, high: quantity.Quantity | None, field: str
) -> list[Problem]:
    if ratio is None:
        return []
    found: list[Problem] = []
    if ratio < quantity.from_units(1):
        found.append(invalid(field, str(ratio), f"ratio {ratio} is less than 1"))
    if low and high and low.milli_value():
        limit = high.milli_value() / low.milli_value()
        if ratio.milli_value() / 1000 > limit:
            found.append(invalid(field, str(ratio), f"ratio {ratio} is greater than max/min = {limit:f}"))
    return found
