"""Validation of roles, bindings and their parts.

Source: k8s.io/kubernetes pkg/apis/rbac/validation; declarative rules report after the handwritten ones.
"""

from __future__ import annotations

import orjson

from env_core.kinds._policy_rules import (
    IMMUTABLE,
    path_segment_name,
    selector_problems,
    subdomain_name,
    unsupported,
)
from env_core.objects.problems import INVALID, Problem, invalid, required
from env_core.world import Object

GROUP = "rbac.authorization.k8s.io"


def rules_problems(rules: list[Object], is_namespaced: bool) -> list[Problem]:
    """Check the rules of a role or cluster role."""
    found: list[Problem] = []
    declared: list[Problem] = []
    for index, rule in enumerate(rules):
        field = f"rules[{index}]"
        if not rule.get("verbs"):
            declared.append(required(f"{field}.verbs"))
        urls = rule.get("nonResourceURLs")
        if urls:
            found += _url_problems(rule, f"{field}.nonResourceURLs", is_namespaced)
            continue
        if not rule.get("apiGroups"):
            found.append(required(f"{field}.apiGroups", "resource rules must supply at least one api group"))
        if not rule.get("resources"):
            found.append(required(f"{field}.resources", "resource rules must supply at least one resource"))
    return found + declared


def _url_problems(rule: Object, field: str, is_namespaced: bool) -> list[Problem]:
    urls = rule["nonResourceURLs"]
    found: list[Problem] = []
    if is_namespaced:
        found.append(invalid(field, urls, "namespaced rules cannot apply to non-resource URLs"))
    if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
        found.append(
            invalid(field, urls, "rules cannot apply to both regular resources and non-resource URLs")
        )
    return found


def aggregation_problems(aggregation: Object | None) -> list[Problem]:
    """Check the aggregation rule of a cluster role."""
    if aggregation is None:
        return []
    field = "aggregationRule.clusterRoleSelectors"
    chosen = aggregation.get("clusterRoleSelectors") or []
    if not chosen:
        return [required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")]
    return [
        problem
        for index, each in enumerate(chosen)
        for problem in selector_problems(each, f"{field}[{index}]")
    ]


def default_binding(obj: Object) -> Object:
    """Fill in the API groups of the role reference and the subjects."""
    changes: Object = {}
    reference = obj.get("roleRef") or {}
    if not reference.get("apiGroup"):
        changes["roleRef"] = {**reference, "apiGroup": GROUP}
    subjects = obj.get("subjects")
    if subjects and any(_lacks_group(subject) for subject in subjects):
        changes["subjects"] = [
            {**subject, "apiGroup": GROUP} if _lacks_group(subject) else subject for subject in subjects
        ]
    return {**obj, **changes} if changes else obj


def _lacks_group(subject: Object) -> bool:
    return subject.get("kind") in ("User", "Group") and not subject.get("apiGroup")


def binding_problems(obj: Object, is_namespaced: bool) -> list[Problem]:
    """Check a role binding or cluster role binding."""
    reference = obj.get("roleRef") or {}
    kinds = ("Role", "ClusterRole") if is_namespaced else ("ClusterRole",)
    found: list[Problem] = []
    declared: list[Problem] = []
    if reference.get("apiGroup", "") != GROUP:
        found.append(unsupported("roleRef.apiGroup", reference.get("apiGroup", ""), [GROUP]))
    if reference.get("kind", "") not in kinds:
        found.append(unsupported("roleRef.kind", reference.get("kind", ""), kinds))
    name = reference.get("name", "")
    if name:
        found += [invalid("roleRef.name", name, text) for text in path_segment_name(name, False)]
    else:
        declared.append(required("roleRef.name"))
    for index, subject in enumerate(obj.get("subjects") or ()):
        field = f"subjects[{index}]"
        if not subject.get("name"):
            declared.append(required(f"{field}.name"))
        found += _subject_problems(subject, field, is_namespaced)
    return found + declared


def _subject_problems(subject: Object, field: str, is_namespaced: bool) -> list[Problem]:
    kind, name, group = subject.get("kind", ""), subject.get("name", ""), subject.get("apiGroup", "")
    if kind == "ServiceAccount":
        found = [invalid(f"{field}.name", name, text) for text in subdomain_name(name, False)] if name else []
        if group:
            found.append(unsupported(f"{field}.apiGroup", group, [""]))
        if not is_namespaced and not subject.get("namespace"):
            found.append(required(f"{field}.namespace"))
        return found
    if kind in ("User", "Group"):
        return [] if group == GROUP else [unsupported(f"{field}.apiGroup", group, [GROUP])]
    return [unsupported(f"{field}.kind", kind, ("ServiceAccount", "User", "Group"))]


def role_reference_problems(new: Object, old: Object) -> list[Problem]:
    """Check that a binding still names the same role."""
    reference, before = new.get("roleRef") or {}, old.get("roleRef") or {}
    fields = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
    now = {title: reference.get(field, "") for title, field in fields.items()}
    if now == {title: before.get(field, "") for title, field in fields.items()}:
        return []
    return [Problem(INVALID, "roleRef", orjson.dumps(now).decode(), IMMUTABLE)]
