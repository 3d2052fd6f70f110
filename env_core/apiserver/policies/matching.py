"""Whether a policy or a webhook looks at a write: rules, selectors, scope.

Source: k8s.io/apiserver v0.37 pkg/admission/plugin/{policy/matching,webhook/predicates}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from env_core.apiserver.metadata import is_name_generated
from env_core.apiserver.plugin import Attributes
from env_core.objects import selectors
from env_core.world import Object

GROUP: Final = "admissionregistration.k8s.io"
SUBRESOURCES: Final = ("", "status", "scale", "ephemeralcontainers", "resize", "finalize")
"""The subresources that policies and webhooks may look at here; bindings, evictions and connections are not shown."""
_NAMESPACES: Final = "namespaces"


def is_exempt(attributes: Attributes) -> bool:
    """Whether the write is about policies or webhooks themselves, which none of them looks at."""
    return attributes.kind.group == GROUP


def request_name(attributes: Attributes) -> str:
    """Return the name in the request, "" where the server generates it."""
    if attributes.operation != "CREATE" or attributes.object is None:
        return attributes.name
    metadata = attributes.object["metadata"]
    return "" if is_name_generated(metadata) else str(metadata.get("name") or "")


def request_namespace(attributes: Attributes) -> str:
    """Return the namespace of the request, which for a namespace is its own name."""
    return request_name(attributes) if attributes.kind.resource == _NAMESPACES else attributes.namespace


def matches(criteria: Mapping[str, Any], attributes: Attributes) -> bool:
    """Whether `matchConstraints` or `matchResources` take in a write."""
    if not matches_selectors(criteria, attributes):
        return False
    if matches_rules(criteria.get("excludeResourceRules") or (), attributes):
        return False
    rules = criteria.get("resourceRules")
    return not rules or matches_rules(rules, attributes)


def matches_selectors(criteria: Mapping[str, Any], attributes: Attributes) -> bool:
    """Whether `namespaceSelector` and `objectSelector` take in a write."""
    selector = criteria.get("namespaceSelector")
    if selector and not _takes_namespace(selector, attributes):
        return False
    selector = criteria.get("objectSelector")
    if not selector:
        return True
    parsed = selectors.from_object(selector)
    both = (attributes.object, attributes.old)
    return any(each is not None and parsed.matches(_labels(each)) for each in both)


def matches_rules(rules: Sequence[Mapping[str, Any]], attributes: Attributes) -> bool:
    """Whether one of the rules takes in a write."""
    for rule in rules:
        if _takes(rule, attributes):
            names = rule.get("resourceNames")
            if not names or request_name(attributes) in names:
                return True
    return False


def _labels(obj: Object) -> Mapping[str, str]:
    labels: Mapping[str, str] = (obj.get("metadata") or {}).get("labels") or {}
    return labels


def _takes_namespace(selector: Object, attributes: Attributes) -> bool:
    namespace = request_namespace(attributes)
    is_namespace = attributes.kind.resource == _NAMESPACES
    if not namespace and not is_namespace:
        return True
    if is_namespace and not attributes.subresource and attributes.object is not None:
        labels = _labels(attributes.object)
    else:
        found = attributes.store.get(_NAMESPACES, "", namespace)
        labels = {} if found is None else _labels(found)
    return selectors.from_object(selector).matches(labels)


def _takes(rule: Mapping[str, Any], attributes: Attributes) -> bool:
    kind = attributes.kind
    return (
        _in_scope(rule.get("scope"), attributes)
        and _has(rule.get("operations"), attributes.operation)
        and _has(rule.get("apiGroups"), kind.group)
        and _has(rule.get("apiVersions"), kind.version)
        and any(_is_resource(each, attributes) for each in rule.get("resources") or ())
    )


def _has(items: Sequence[str] | None, wanted: str) -> bool:
    return items is not None and ("*" in items or wanted in items)


def _in_scope(scope: str | None, attributes: Attributes) -> bool:
    if scope in (None, "*"):
        return True
    is_namespaced = attributes.kind.resource != _NAMESPACES and attributes.namespace != ""
    return is_namespaced == (scope == "Namespaced")


def _is_resource(text: str, attributes: Attributes) -> bool:
    resource, _, subresource = text.partition("/")
    return resource in ("*", attributes.kind.plural) and subresource in ("*", attributes.subresource)
