"""Validation rules that kinds of several groups share: label selectors, quantities, taints' words, hooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from env_core.objects import names, quantity
from env_core.objects.problems import (
    INVALID,
    Problem,
    forbidden,
    invalid,
    not_supported,
    required,
)
from env_core.world import Object

IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
INTEGER = "must be an integer"

INTEGER_RESOURCES = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)


def unsupported(field: str, value: object, supported: Iterable[str]) -> Problem:
    """The value is none of the allowed ones, which are listed in the order given."""
    return not_supported(field, value, supported, is_sorted=False)


def immutable_null(field: str, detail: str = IMMUTABLE) -> Problem:
    """A declared field may not change; declarative validation shows no value."""
    return Problem(INVALID, field, "null", detail)


def masked(name: str, is_prefix: bool) -> str:
    """Return a name to check; of a generateName the trailing dash does not count."""
    return name[:-2] + "a" if is_prefix and len(name) > 1 and name.endswith("-") else name


def subdomain_name(name: str, is_prefix: bool) -> list[str]:
    """Check an object name as a DNS subdomain."""
    return names.is_dns1123_subdomain(masked(name, is_prefix))


def label_name(name: str, is_prefix: bool) -> list[str]:
    """Check an object name as a DNS label."""
    return names.is_dns1123_label(masked(name, is_prefix))


def path_segment_name(name: str, is_prefix: bool) -> list[str]:
    """Check an object name that only has to fit in a URL path."""
    if is_prefix:
        return [f"may not contain '{char}'" for char in "/%" if char in name]
    return names.is_path_segment_name(name)


def label_key_problems(field: str, key: str) -> list[Problem]:
    """Check a label key."""
    return [invalid(field, key, complaint) for complaint in names.is_qualified_name(key)]


def selector_problems(selector: Object | None, field: str) -> list[Problem]:
    """Check a LabelSelector.

    Source: k8s.io/apimachinery pkg/apis/meta/v1/validation.
    """
    if not selector:
        return []
    found: list[Problem] = []
    labels: Mapping[str, str] = selector.get("matchLabels") or {}
    for key in sorted(labels):
        found += label_key_problems(f"{field}.matchLabels", key)
        found += [
            invalid(f"{field}.matchLabels", labels[key], text)
            for text in names.is_valid_label_value(labels[key])
        ]
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        found += _expression_problems(expression, f"{field}.matchExpressions[{index}]")
    return found


def _expression_problems(expression: Object, field: str) -> list[Problem]:
    operator, values = expression.get("operator", ""), expression.get("values") or []
    found: list[Problem] = []
    if operator in ("In", "NotIn"):
        if not values:
            found.append(required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", text))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    found += label_key_problems(f"{field}.key", expression.get("key", ""))
    for index, value in enumerate(values):
        found += [
            invalid(f"{field}.values[{index}]", value, text) for text in names.is_valid_label_value(value)
        ]
    return found


def is_extended_resource(name: str) -> bool:
    """Whether a resource name is one that no part of Kubernetes itself defines."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not names.is_qualified_name("requests." + name)


def quantity_problems(resource: str, value: str, field: str) -> list[Problem]:
    """Check that an amount is not negative, and whole where the resource is counted."""
    amount = quantity.parse(str(value))
    found: list[Problem] = []
    if amount.sign() < 0:
        found.append(invalid(field, str(amount), NOT_NEGATIVE))
    if (resource in INTEGER_RESOURCES or is_extended_resource(resource)) and amount.milli_value() % 1000:
        found.append(invalid(field, str(amount), INTEGER))
    return found


def positive_problems(value: str, field: str) -> list[Problem]:
    """Check that an amount is more than nothing."""
    amount = quantity.parse(str(value))
    return [] if amount.sign() > 0 else [invalid(field, str(amount), POSITIVE)]


def kept_status(new: Object, old: Object) -> Object:
    """Return `new` with the status of `old`: what a write of the whole object may do to it."""
    if new.get("status") == old.get("status"):
        return new
    if "status" in old:
        return {**new, "status": old["status"]}
    return {key: value for key, value in new.items() if key != "status"}


def kept_spec(new: Object, old: Object) -> Object:
    """Return `new` with the spec of `old`: what a write of the status may do to it."""
    return {**new, "spec": old["spec"]} if "spec" in old and new.get("spec") != old["spec"] else new
